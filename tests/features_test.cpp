// What a learned model is told about the walk family: every feature by name on a graph whose figures are
// worked out by hand, and what must change nothing.
#include "fuselage/walk/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/core/python_random.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/memory_bound.h"

namespace fuselage::walk {
namespace {

using Named = std::map<std::string, double>;

// Alone at tile 128 the five ops take 4080, 2048, 3072, 1280 and 2304 cycles, each with a launch of 1443.2:
// 4000 on average. Transfers: 1024 cycles for 16384 bytes, 9728 in all; compute at tile 128: 6480 in all.
Workload by_hand() {
  std::vector<Node> nodes = {{Op::matmul, 64, 64, {}, 4000, 16384},
                             {Op::relu, 64, 64, {0}, 400, 16384},
                             {Op::add, 64, 64, {0, 1}, 400, 16384},
                             {Op::layernorm, 32, 32, {2}, 1000, 4096},
                             {Op::add, 64, 64, {1, 3, 3}, 400, 16384}};
  return {"by_hand", Graph(std::move(nodes)), {65536, 16, 1443.2, 4}};
}

const double log_3 = std::log2(3.0);
const double log_5 = std::log2(5.0);
const double share = 9728.0 / 16208.0;
const double room = std::log2(1 + 65536 / 13926.4);

// Everything that isn't named is zero, but the workload's own features.
void expect_row(const Schema& schema, std::span<const float> row, Named expected, const std::string& what) {
  ASSERT_EQ(row.size(), schema.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string& name = schema.features()[i].name;
    EXPECT_FLOAT_EQ(row[i], static_cast<float>(expected[name])) << what << ": " << name;
    expected.erase(name);
  }
  for (const auto& [name, value] : expected) ADD_FAILURE() << what << ": no feature " << name;
}

Named with_workload(Named named) {
  named.insert({{"memory_share", share}, {"launch_time", 0.3608}, {"depth", log_5}, {"room", room}});
  return named;
}

struct Rows {
  std::vector<float> numbers;
  std::size_t width = 0;
  std::span<const float> operator[](std::size_t i) const {
    return std::span(numbers).subspan(i * width, width);
  }
};

Rows token_rows(const Features& features, const KernelView& kernel, std::span<const NodeId> resident) {
  Rows rows = {{}, token_schema().size()};
  rows.numbers.resize(rows.width * static_cast<std::size_t>(kernel.count));
  features.tokens(kernel, resident, rows.numbers);
  return rows;
}

TEST(Features, every_feature_of_a_token_by_name) {
  const Workload w = by_hand();
  const RunTable runs(w.graph, w.hardware);
  const Features features(w.graph, w.hardware, runs);
  EXPECT_DOUBLE_EQ(features.mean_cycles(), 4000);

  const std::vector<NodeId> keeps = {0, 2};
  const Rows a = token_rows(features, {.first = 1, .count = 2, .tile = 1, .retain = keeps}, {});
  expect_row(token_schema(), a[0],
             with_workload({{"op_relu", 1},
                            {"tile_64", 1},
                            {"members", 0.25},
                            {"fan_in", 1},
                            {"fan_out", log_3},
                            {"input_uses_left", 1},
                            {"next_use", 1},
                            {"last_use", 1.0 / 3},
                            {"reads_previous", 1},
                            {"output_size", .25},
                            {"loaded_size", .25},
                            {"kept_size", .25},
                            {"slice_size", .5},
                            {"flops_time", .1},
                            {"tiled_time", .1},
                            {"load_time", .256},
                            {"output_time", .256}}),
             "relu, loads what is retained");
  expect_row(token_schema(), a[1],
             with_workload({{"op_add", 1},
                            {"tile_64", 1},
                            {"members", 0.5},
                            {"fused", 1},
                            {"retained", 1},
                            {"fan_in", log_3},
                            {"fan_out", 1},
                            {"next_use", 1},
                            {"last_use", 1},
                            {"input_uses_left", 1},
                            {"reads_previous", 1},
                            {"output_size", .25},
                            {"inside_size", .25},
                            {"slice_size", .75},
                            {"flops_time", .1},
                            {"tiled_time", .1},
                            {"output_time", .256}}),
             "add, in one kernel with it");

  const std::vector<NodeId> resident = {1, 2};
  const Rows b = token_rows(features, {.first = 3, .count = 2, .tile = 0, .retain = {}}, resident);
  expect_row(token_schema(), b[0],
             with_workload({{"op_layernorm", 1},
                            {"tile_32", 1},
                            {"members", 0.25},
                            {"fan_in", 1},
                            {"fan_out", log_3},
                            {"next_use", 1},
                            {"last_use", 1},
                            {"reads_previous", 1},
                            {"output_size", .0625},
                            {"resident_size", .25},
                            {"slice_size", .125},
                            {"held_size", .5},
                            {"flops_time", .25},
                            {"tiled_time", .3},
                            {"last_read_time", .256},
                            {"output_time", .064}}),
             "layernorm, reads a resident for the last time");
  expect_row(token_schema(), b[1],
             with_workload({{"op_add", 1},
                            {"tile_32", 1},
                            {"members", 0.5},
                            {"fused", 1},
                            {"fan_in", 2},
                            {"reads_previous", 1},
                            {"output_size", .25},
                            {"resident_size", .25},
                            {"inside_size", .0625},
                            {"slice_size", .1875},
                            {"held_size", .5},
                            {"flops_time", .1},
                            {"tiled_time", .1},
                            {"tile_count", 2},
                            {"last_read_time", .256},
                            {"absorbed_time", .064},
                            {"output_time", .256}}),
             "add, reads a double edge from inside");
}

// Ops and tiles that the hand-made kernels don't have.
TEST(Features, every_op_and_tile_has_a_feature_of_its_own) {
  for (std::size_t op = 0; op < op_names.size(); ++op) {
    const Graph graph({derived_node(static_cast<Op>(op), 64, 64, {})});
    const Hardware hardware{65536, 8, 1000, 4};
    const RunTable runs(graph, hardware);
    const Features features(graph, hardware, runs);
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
      const Rows rows = token_rows(features, {.first = 0, .count = 1, .tile = static_cast<int>(tile)}, {});
      for (std::size_t i = 0; i < token_schema().size(); ++i) {
        const std::string& name = token_schema().features()[i].name;
        const bool of_op = name.starts_with("op_");
        if (!of_op && (!name.starts_with("tile_") || name == "tile_count")) continue;
        const std::string own =
            of_op ? fmt::format("op_{}", op_names[op]) : fmt::format("tile_{}", tiles[tile]);
        EXPECT_EQ(rows[0][i], name == own) << name;
      }
    }
    std::vector<float> row(state_schema().size());
    features.state({}, row);
    for (std::string_view other : op_names)
      EXPECT_EQ(row[state_schema().index(fmt::format("next_{}", other))], other == op_names[op]) << other;
  }
}

TEST(Features, every_feature_of_a_state_by_name) {
  const Workload w = by_hand();
  const RunTable runs(w.graph, w.hardware);
  const Features features(w.graph, w.hardware, runs);
  const auto state = [&](const Place& place) {
    std::vector<float> row(state_schema().size());
    features.state(place, row);
    return row;
  };
  const std::vector<NodeId> resident = {1, 2};
  expect_row(state_schema(), state({.position = 3, .open = 0, .resident = resident}),
             {{"done", .6},
              {"left", log_3},
              {"residents", log_3},
              {"resident_size", .5},
              {"resident_time", .512},
              {"resident_uses", log_3},
              {"live_size", .5},
              {"flops_left", 1400.0 / 6200},
              {"next_layernorm", 1},
              {"next_flops_time", .25},
              {"next_output_size", .0625},
              {"next_input_size", .25},
              {"next_resident_size", .25}},
             "before a kernel");
  expect_row(state_schema(), state({.position = 4, .open = 1, .resident = resident}),
             {{"done", .8},
              {"left", 1},
              {"open", .25},
              {"residents", log_3},
              {"resident_size", .5},
              {"resident_time", .512},
              {"resident_uses", 1},
              {"live_size", .3125},
              {"flops_left", 400.0 / 6200},
              {"next_add", 1},
              {"next_flops_time", .1},
              {"next_output_size", .25},
              {"next_input_size", .3125},
              {"next_resident_size", .25}},
             "within a kernel");
  expect_row(state_schema(), state({.position = 5}), {{"done", 1}}, "at the end");
}

TEST(Features, every_feature_of_a_workload_by_name) {
  const Workload w = by_hand();
  const RunTable runs(w.graph, w.hardware);
  std::vector<float> row(workload_schema().size());
  Features(w.graph, w.hardware, runs).workload(row);
  expect_row(workload_schema(), row,
             with_workload({{"largest_size", .25}, {"peak_size", .5}, {"nodes", std::log2(6.0)}}),
             "workload");
}

// All rows of a schedule of fixed kernels, some of which retain.
std::vector<float> all_rows(const Workload& w) {
  const RunTable runs(w.graph, w.hardware);
  const Features features(w.graph, w.hardware, runs);
  std::vector<float> rows(workload_schema().size());
  features.workload(rows);
  std::vector<NodeId> resident;
  for (int at = 0; at < w.graph.size();) {
    const int count = std::min(runs.longest(at), 1 + at % 3);
    std::vector<NodeId> retain;
    for (NodeId x : w.graph.order().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count)))
      if (runs.last_use(x) >= at + count && w.graph.position(x) % 2 == 0) retain.push_back(x);
    std::vector<float> state(state_schema().size());
    features.state({.position = at, .resident = resident}, state);
    rows.insert(rows.end(), state.begin(), state.end());
    const Rows tokens =
        token_rows(features, {.first = at, .count = count, .tile = at % 4, .retain = retain}, resident);
    rows.insert(rows.end(), tokens.numbers.begin(), tokens.numbers.end());
    resident = retain;
    at += count;
  }
  return rows;
}

Workload chain_with_skips(int i, std::int64_t side) {
  PythonRandom random(i);
  return generate_memory_bound({.num_ops = 12 + i % 9, .side = side}, random);
}

// In a chain the order has no choice, so that any numbering of the nodes is visited alike.
TEST(Features, numbering_the_nodes_anew_changes_nothing) {
  for (int i = 0; i < 20; ++i) {
    const Workload w = chain_with_skips(i, 128);
    const int n = w.graph.size();
    const auto renamed = [n](NodeId x) { return static_cast<NodeId>((x * 5 + 3) % n); };
    if (n % 5 == 0) continue;  // no permutation
    std::vector<Node> nodes(static_cast<std::size_t>(n));
    for (NodeId x = 0; x < n; ++x) {
      Node node = w.graph.node(x);
      for (NodeId& input : node.inputs) input = renamed(input);
      nodes[static_cast<std::size_t>(renamed(x))] = node;
    }
    const Workload other = {w.name, Graph(std::move(nodes)), w.hardware};
    ASSERT_NE(other.graph.order()[1], w.graph.order()[1]);
    EXPECT_EQ(all_rows(w), all_rows(other)) << i;
  }
}

TEST(Features, scaling_the_machine_changes_nothing) {
  for (int i = 0; i < 20; ++i) {
    const Workload w = chain_with_skips(i, 32);  // 4096 bytes, a slice of the smallest tile
    Workload slower = {w.name, w.graph, w.hardware};
    std::vector<Node> nodes(w.graph.nodes().begin(), w.graph.nodes().end());
    for (Node& node : nodes) node.flops *= 4;
    slower.graph = Graph(nodes);
    slower.hardware.slow_mem_bandwidth /= 4;
    slower.hardware.kernel_launch_cost *= 4;
    EXPECT_EQ(all_rows(w), all_rows(slower)) << i;

    Workload smaller = {w.name, w.graph, w.hardware};
    smaller.hardware.fast_mem_capacity &= ~std::int64_t{7};  // so that the quarter is exact
    Workload half = smaller;
    nodes.assign(w.graph.nodes().begin(), w.graph.nodes().end());
    for (Node& node : nodes) node.output_bytes /= 4;
    half.graph = Graph(nodes);
    half.hardware.fast_mem_capacity /= 4;
    half.hardware.slow_mem_bandwidth /= 4;
    EXPECT_EQ(all_rows(smaller), all_rows(half)) << i;
  }
}

TEST(Features, a_kernels_beginning_has_the_beginning_of_its_tokens) {
  for (int i = 0; i < 20; ++i) {
    const Workload w = chain_with_skips(i, 128);
    const RunTable runs(w.graph, w.hardware);
    const Features features(w.graph, w.hardware, runs);
    const std::vector<NodeId> resident = {0, 1}, retain = {2, 4};
    const int count = runs.longest(3);
    ASSERT_GT(count, 1);
    const Rows whole =
        token_rows(features, {.first = 3, .count = count, .tile = 1, .retain = retain}, resident);
    for (int part = 1; part < count; ++part) {
      const Rows rows =
          token_rows(features, {.first = 3, .count = part, .tile = 1, .retain = retain}, resident);
      EXPECT_TRUE(std::equal(rows.numbers.begin(), rows.numbers.end(), whole.numbers.begin()));
    }
  }
}

TEST(Features, a_machine_on_which_nothing_costs_anything_has_finite_features) {
  Workload w = by_hand();
  std::vector<Node> nodes(w.graph.nodes().begin(), w.graph.nodes().end());
  for (Node& node : nodes) node.flops = 0;
  const Workload free = {"free", Graph(std::move(nodes)), {65536, 0, 0, 4}};
  for (float x : all_rows(free)) EXPECT_TRUE(std::isfinite(x));
}

TEST(Features, every_feature_is_documented) {
  for (const Schema* schema : {&token_schema(), &state_schema(), &workload_schema()}) {
    for (const Feature& feature : schema->features()) {
      EXPECT_FALSE(feature.unit.empty()) << feature.name;
      EXPECT_GT(feature.meaning.size(), 5U) << feature.name;
      for (const char* word : {"latency so far", "cost so far", "price"})
        EXPECT_EQ(feature.meaning.find(word), std::string::npos) << feature.name;
    }
  }
}

// The files that make features see the graph and its table of runs: nothing that prices.
TEST(Features, are_made_without_what_prices) {
  for (const char* file : {"include/fuselage/walk/features.h", "src/walk/features.cpp",
                           "src/walk/feature_columns.h", "src/walk/feature_columns.cpp"}) {
    std::ifstream in(std::filesystem::path(FUSELAGE_SOURCE_DIR) / file);
    ASSERT_TRUE(in) << file;
    for (std::string line; std::getline(in, line);)
      for (const char* header : {"price.h", "problem.h", "episode.h", "baseline.h", "oracle/", "search/"})
        EXPECT_FALSE(line.starts_with("#include") && line.find(header) != std::string::npos)
            << file << ": " << line;
  }
}

TEST(Schema, the_fingerprint_is_of_name_version_and_features_in_order) {
  const std::vector<Feature> features = {{"a", "bytes", "x"}, {"b", "bytes", "y"}};
  const Schema schema("walk", 1, features);
  const std::string same = Schema("walk", 1, {{"a", "bytes", "reworded"}, {"b", "bytes", "y"}}).fingerprint();
  EXPECT_EQ(schema.fingerprint(), same);
  EXPECT_EQ(same.size(), 64U);
  std::set<std::string> different = {same};
  different.insert(Schema("grid", 1, features).fingerprint());
  different.insert(Schema("walk", 2, features).fingerprint());
  different.insert(Schema("walk", 1, {features[1], features[0]}).fingerprint());
  different.insert(Schema("walk", 1, {features[0]}).fingerprint());
  different.insert(Schema("walk", 1, {{"a", "cycles", "x"}, features[1]}).fingerprint());
  different.insert(Schema("walk", 1, {{"ab", "ytes", "x"}, features[1]}).fingerprint());
  EXPECT_EQ(different.size(), 7U);
}

TEST(Schema, a_feature_is_found_by_its_name) {
  EXPECT_EQ(token_schema().features()[token_schema().index("fused")].name, "fused");
  EXPECT_EQ(error_of([] {
              Schema("walk", 1, {{"a", "b", "c"}, {"d", "e", "f"}}).index("x");
            }),
            "schema walk: \"x\" is no feature; expected one of a, d");
}

TEST(MemoryBound, graphs_are_as_described) {
  double skips = 0, nodes = 0;
  for (int i = 0; i < 100; ++i) {
    PythonRandom random(i);
    const Workload w = generate_memory_bound({.num_ops = 30, .side = 128}, random);
    EXPECT_EQ(w.name, "memory_bound_n30_128x128");
    ASSERT_EQ(w.graph.size(), 30);
    for (NodeId id = 1; id < 30; ++id) {
      const auto inputs = w.graph.inputs(id);
      ASSERT_GE(inputs.size(), 1U);
      EXPECT_EQ(inputs[0], id - 1);
      if (inputs.size() == 1) continue;
      ASSERT_EQ(inputs.size(), 2U);
      EXPECT_GE(id - inputs[1], 2);
      EXPECT_LE(id - inputs[1], 9);
      ++skips;
    }
    nodes += 28;
    const double tensors = static_cast<double>(w.hardware.fast_mem_capacity) / 65536;
    EXPECT_GE(tensors, 2.99);
    EXPECT_LE(tensors, 6);
    EXPECT_GE(w.hardware.slow_mem_bandwidth, .5);
    EXPECT_LE(w.hardware.slow_mem_bandwidth, 2);
    EXPECT_GE(w.hardware.kernel_launch_cost, 0);
    EXPECT_LE(w.hardware.kernel_launch_cost, 4000);
    EXPECT_GE(w.hardware.max_fusion_depth, 3);
    EXPECT_LE(w.hardware.max_fusion_depth, 8);
  }
  EXPECT_NEAR(skips / nodes, .55, .06);
  PythonRandom random(0);
  EXPECT_EQ(error_of([&] { generate_memory_bound({.num_ops = 0}, random); }),
            "num_ops: 0 is out of range; expected 1 to 1000000");
  EXPECT_EQ(error_of([&] { generate_memory_bound({.num_ops = 9, .side = 0}, random); }),
            "side: 0 is out of range; expected 1 to 32768");
}

}  // namespace
}  // namespace fuselage::walk
