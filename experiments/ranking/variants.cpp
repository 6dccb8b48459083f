#include "variants.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fuselage/core/error.h"
#include "fuselage/search/split_mix.h"
#include "fuselage/walk/features.h"

namespace fuselage::experiments {
namespace {

using walk::Plan;

// A changed workload, and its plan for one of the original's.
struct Changed {
  Workload workload;
  std::function<Plan(const Plan&)> plan = [](const Plan& same) { return same; };
};
using Change = std::function<Changed(const Workload&)>;

learn::TrajectoryGroup rows_of(const Changed& changed, const Drawn& original) {
  const walk::EpisodeContext context(changed.workload);
  learn::TrajectoryGroup group = original.schedules.group;
  const walk::Features features(context.graph(), context.hardware(), context.runs());
  features.workload(group.workload);
  group.mean_cycles = features.mean_cycles();
  for (std::size_t i = 0; i < group.schedules.size(); ++i) {
    auto one = oracle::trajectory_of(context, changed.plan(original.schedules.plans[i]));
    if (!one) fail("{}: a schedule falls back on the changed workload; expected none to", group.name);
    group.schedules[i] = std::move(*one);
  }
  return group;
}

Variant variant(const std::string& name, const std::vector<Drawn>& originals, const Change& change) {
  Variant variant{
      .name = name, .before = set_of(name + ", before", originals), .after = empty_set(name + ", after")};
  for (const Drawn& one : originals) add(rows_of(change(one.workload), one), variant.after);
  return variant;
}

// All tensors side x side.
Graph resized(const Graph& graph, std::int64_t side) {
  std::vector<Node> nodes;
  for (const Node& node : graph.nodes()) nodes.push_back(derived_node(node.op, side, side, node.inputs));
  return Graph(std::move(nodes));
}

std::vector<Drawn> with_sides(const std::vector<Drawn>& originals, std::int64_t side, int threads) {
  std::vector<Workload> workloads;
  for (const Drawn& one : originals) {
    Workload workload = one.workload;
    const double grown = static_cast<double>(side * side) /
                         static_cast<double>(workload.graph.node(workload.graph.order()[0]).elements());
    workload.graph = resized(workload.graph, side);
    workload.hardware.fast_mem_capacity = static_cast<std::int64_t>(
        std::llround(grown * static_cast<double>(workload.hardware.fast_mem_capacity)));
    workloads.push_back(std::move(workload));
  }
  return schedules_of(std::move(workloads), 48, threads);
}

Changed renumbered_workload(const Workload& original) {
  std::vector<NodeId> renamed;
  Workload workload = original;
  workload.graph = renumbered(original.graph, 1, renamed);
  return {std::move(workload), [renamed](Plan plan) {
            const auto rename = [&](NodeId id) { return renamed[static_cast<std::size_t>(id)]; };
            for (walk::PlanKernel& kernel : plan) {
              std::transform(kernel.nodes.begin(), kernel.nodes.end(), kernel.nodes.begin(), rename);
              std::transform(kernel.retain.begin(), kernel.retain.end(), kernel.retain.begin(), rename);
            }
            return plan;
          }};
}

Changed twice_the_cycles(const Workload& original) {
  std::vector<Node> nodes(original.graph.nodes().begin(), original.graph.nodes().end());
  for (Node& node : nodes) node.flops *= 2;
  Workload workload = original;
  workload.graph = Graph(std::move(nodes));
  workload.hardware.slow_mem_bandwidth /= 2;
  workload.hardware.kernel_launch_cost *= 2;
  return {.workload = std::move(workload)};
}

Changed twice_the_bytes(const Workload& original) {
  std::vector<Node> nodes(original.graph.nodes().begin(), original.graph.nodes().end());
  for (Node& node : nodes) node.output_bytes *= 2;
  Workload workload = original;
  workload.graph = Graph(std::move(nodes));
  workload.hardware.slow_mem_bandwidth *= 2;
  workload.hardware.fast_mem_capacity *= 2;
  return {.workload = std::move(workload)};
}

}  // namespace

Graph renumbered(const Graph& graph, std::uint64_t seed, std::vector<NodeId>& renamed) {
  const auto n = static_cast<std::size_t>(graph.size());
  const auto with = [&](const std::vector<NodeId>& names) {
    std::vector<Node> nodes(n);
    for (std::size_t i = 0; i < n; ++i) {
      Node node = graph.node(static_cast<NodeId>(i));
      for (NodeId& x : node.inputs) x = names[static_cast<std::size_t>(x)];
      nodes[static_cast<std::size_t>(names[i])] = std::move(node);
    }
    return Graph(std::move(nodes));
  };
  const auto same_order = [&](const Graph& other, const std::vector<NodeId>& names) {
    for (int at = 0; at < graph.size(); ++at)
      if (names[static_cast<std::size_t>(graph.order()[static_cast<std::size_t>(at)])] !=
          other.order()[static_cast<std::size_t>(at)])
        return false;
    return true;
  };
  search::SplitMix random(seed);
  renamed.resize(n);
  std::iota(renamed.begin(), renamed.end(), 0);
  Graph best = graph;
  // Exchanges of two numbers, kept where the order allows them.
  for (std::size_t turn = 0; turn < 8 * n; ++turn) {
    std::vector<NodeId> names = renamed;
    std::swap(names[random.below(n)], names[random.below(n)]);
    Graph other = with(names);
    if (!same_order(other, names)) continue;
    best = std::move(other);
    renamed = std::move(names);
  }
  return best;
}

std::vector<Variant> variants(const std::vector<Drawn>& originals, int threads) {
  const std::vector<Drawn> larger = with_sides(originals, 1024, threads);
  const auto smaller = [](const Workload& workload) {
    Changed changed{.workload = workload};
    changed.workload.graph = resized(workload.graph, 1023);
    return changed;
  };
  std::vector<Variant> all;
  all.push_back(variant("sizes", larger, smaller));
  all.push_back(variant("numbers", originals, renumbered_workload));
  all.push_back(variant("times", originals, twice_the_cycles));
  all.push_back(variant("bytes", originals, twice_the_bytes));
  return all;
}

}  // namespace fuselage::experiments
