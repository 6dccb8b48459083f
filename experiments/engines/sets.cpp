#include "sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fuselage/core/hash.h"
#include "fuselage/core/python_random.h"
#include "fuselage/graph/graph_json.h"

namespace fuselage::experiments {
namespace {

using walk::Difficulty;
using walk::Topology;

constexpr std::uint64_t generated_seed = 1'000'000;
constexpr std::uint64_t memory_bound_seed = 1'100'000;
constexpr std::int64_t side = 256;  // of every tensor

// 8 to 50, each once in 43 graphs.
int nodes_of(int i) {
  return 8 + i * 17 % 43;
}

Difficulty difficulty_of(int i) {
  return static_cast<Difficulty>(i % 4);
}

std::string seed_range(std::uint64_t first, int count) {
  return fmt::format("{}..{}", first, first + static_cast<std::uint64_t>(count) - 1);
}

Sample sample(int nodes, Difficulty difficulty, Topology topology, std::uint64_t seed) {
  const walk::GenerateOptions options = {.num_ops = nodes, .difficulty = difficulty, .topology = topology};
  return {walk::generate_seeded(options, std::to_string(seed)), walk::name(topology), walk::name(difficulty)};
}

// A chain in which every other node adds one of the eight tensors before: all of them want to be resident.
Sample dense_skips(int nodes, Difficulty difficulty, std::uint64_t seed) {
  constexpr std::array ops = {Op::matmul, Op::relu, Op::gelu, Op::layernorm};
  PythonRandom random(seed);
  std::vector<Node> list = {derived_node(Op::matmul, side, side, {})};
  while (static_cast<int>(list.size()) < nodes) {
    const auto last = static_cast<NodeId>(list.size() - 1);
    if (last >= 2 && last % 2 == 0) {
      const auto back = static_cast<NodeId>(random.randint(1, std::min<NodeId>(8, last)));
      list.push_back(derived_node(Op::add, side, side, {last - back, last}));
    } else {
      list.push_back(derived_node(random.choice(ops), side, side, {last}));
    }
  }
  std::string name = fmt::format("dense_n{}_{}_s{}", nodes, walk::name(difficulty), seed);
  return {{std::move(name), Graph(std::move(list)), walk::hardware_for(difficulty, side * side * 4)},
          "dense",
          walk::name(difficulty)};
}

// A list of nodes that grows at its end.
struct Growing {
  std::vector<Node> nodes = {};

  NodeId put(Op op, std::vector<NodeId> inputs) {
    nodes.push_back(derived_node(op, side, side, std::move(inputs)));
    return static_cast<NodeId>(nodes.size() - 1);
  }
  // Heads on x, summed, normalised.
  NodeId put_heads(NodeId x, int count, bool one_add) {
    std::vector<NodeId> outputs;
    for (int head = 0; head < count; ++head) {
      const NodeId q = put(Op::matmul, {x});
      const NodeId k = put(Op::matmul, {x});
      const NodeId v = put(Op::matmul, {x});
      outputs.push_back(put(Op::matmul, {put(Op::softmax, {put(Op::matmul, {q, k})}), v}));
    }
    NodeId sum = outputs[0];
    if (one_add && count > 1) sum = put(Op::add, outputs);
    for (std::size_t i = 1; !one_add && i < outputs.size(); ++i) sum = put(Op::add, {sum, outputs[i]});
    return put(Op::layernorm, {sum});
  }
};

Sample finish(std::string name, Growing list, Difficulty difficulty) {
  return {{std::move(name), Graph(std::move(list.nodes)), walk::hardware_for(difficulty, side * side * 4)},
          "heads",
          walk::name(difficulty)};
}

Sample heads(int count, bool one_add, Difficulty difficulty) {
  Growing list;
  list.put_heads(list.put(Op::matmul, {}), count, one_add);
  return finish(
      fmt::format("heads{}_{}_{}", count, one_add ? "one_add" : "add_chain", walk::name(difficulty)),
      std::move(list), difficulty);
}

}  // namespace

GraphSet generated(int count) {
  constexpr std::array named = {Topology::linear, Topology::attention, Topology::residual,
                                Topology::long_skip, Topology::adversarial};
  GraphSet set = {.name = "generated", .seeds = seed_range(generated_seed, count), .samples = {}};
  for (int i = 0; i < count; ++i) {
    const Topology topology = i % 2 == 0 ? Topology::mixed : named[static_cast<std::size_t>(i / 2 % 5)];
    set.samples.push_back(
        sample(nodes_of(i), difficulty_of(i / 2), topology, generated_seed + static_cast<std::uint64_t>(i)));
  }
  return set;
}

GraphSet memory_bound(int count) {
  constexpr std::array topologies = {Topology::long_skip, Topology::adversarial, Topology::mixed};
  constexpr std::array bandwidths = {0.5, 1.0, 1.5, 2.0};
  GraphSet set = {.name = "memory-bound", .seeds = seed_range(memory_bound_seed, count), .samples = {}};
  for (int i = 0; i < count; ++i) {
    const auto kind = static_cast<std::size_t>(i % 4);
    const double bandwidth = bandwidths[static_cast<std::size_t>(i / 4 % 4)];
    const Difficulty difficulty = difficulty_of(i / 16 + i / 4);
    const std::uint64_t seed = memory_bound_seed + static_cast<std::uint64_t>(i);
    Sample drawn = kind < topologies.size() ? sample(nodes_of(i), difficulty, topologies[kind], seed)
                                            : dense_skips(nodes_of(i), difficulty, seed);
    drawn.workload.hardware.slow_mem_bandwidth = bandwidth;
    drawn.workload.name += fmt::format("_bw{}", bandwidth);
    set.samples.push_back(std::move(drawn));
  }
  return set;
}

GraphSet parallel_heads() {
  GraphSet set = {.name = "heads", .seeds = {}, .samples = {}};
  for (const Difficulty difficulty : {Difficulty::hard, Difficulty::expert})
    for (const bool one_add : {false, true})
      for (int count = 1; count <= 5; ++count)
        if (count > 1 || !one_add) set.samples.push_back(heads(count, one_add, difficulty));
  return set;
}

Sample head_blocks(int nodes) {
  constexpr int count = 5;
  constexpr int block = 7 * count;  // six nodes a head, an add for all but one of them, the layernorm
  Growing list;
  NodeId x = list.put(Op::matmul, {});
  while (static_cast<int>(list.nodes.size()) + block <= nodes) x = list.put_heads(x, count, false);
  std::string name = fmt::format("head_blocks_n{}_expert", list.nodes.size());
  return finish(std::move(name), std::move(list), Difficulty::expert);
}

Sample large_graph(int nodes) {
  return sample(nodes, Difficulty::expert, Topology::mixed, large_seed);
}

nlohmann::ordered_json describe(const GraphSet& set) {
  Sha256 hash;
  for (const Sample& one : set.samples) hash.update(workload_to_json_line(one.workload));
  nlohmann::ordered_json about = {{"set", set.name}, {"graphs", set.samples.size()}};
  if (!set.seeds.empty()) about["seeds"] = set.seeds;
  about["sha256"] = hash.hex_digest();
  return about;
}

}  // namespace fuselage::experiments
