#include "fuselage/walk/baseline.h"

#include <algorithm>

namespace fuselage::walk {
namespace {

// Bytes and cycles of a group under a resident set, by the rules' section on the cost of a group. A baseline
// needs no run table, which holds every run of a graph.
struct GroupCost {
  double latency = 0;
  std::int64_t working_set = 0;
};

class GroupPricer {
 public:
  GroupPricer(const Graph& graph, const Hardware& hardware)
      : graph_(graph), hardware_(hardware), member_(static_cast<std::size_t>(graph.size())), seen_(member_) {}

  GroupCost price(std::span<const NodeId> nodes, std::span<const NodeId> retain,
                  std::span<const NodeId> resident) {
    ++mark_;
    for (NodeId v : nodes) member_[at(v)] = mark_;
    const auto holds = [](std::span<const NodeId> set, NodeId x) {
      return std::find(set.begin(), set.end(), x) != set.end();
    };
    GroupCost cost;
    std::int64_t load = 0;
    std::int64_t store = 0;
    double cycles = 0;
    for (NodeId v : nodes) {
      cycles += node_cycles(graph_.node(v), default_tile);
      for (NodeId x : graph_.inputs(v)) {
        if (member_[at(x)] == mark_ || seen_[at(x)] == mark_) continue;
        seen_[at(x)] = mark_;
        cost.working_set += slice_bytes(graph_.bytes(x), default_tile);
        if (!holds(resident, x)) load += graph_.bytes(x);
      }
      const auto consumers = graph_.consumers(v);
      const bool inside_only =
          !consumers.empty() &&
          std::all_of(consumers.begin(), consumers.end(), [&](NodeId c) { return member_[at(c)] == mark_; });
      if (inside_only) continue;
      cost.working_set += slice_bytes(graph_.bytes(v), default_tile);
      if (!holds(retain, v)) store += graph_.bytes(v);
    }
    for (NodeId x : resident)
      if (member_[at(x)] != mark_) cost.working_set += graph_.bytes(x);
    for (NodeId x : retain)
      if (!holds(resident, x)) cost.working_set += graph_.bytes(x);
    const double memory = hardware_.transfer_cycles(load) + hardware_.transfer_cycles(store);
    cost.latency = std::max(cycles, memory) + hardware_.kernel_launch_cost;
    return cost;
  }

 private:
  static std::size_t at(NodeId id) { return static_cast<std::size_t>(id); }

  const Graph& graph_;
  const Hardware& hardware_;
  std::vector<int> member_;  // by node: the last price() call whose group held it
  std::vector<int> seen_;    // by node: the last price() call that counted it as an input
  int mark_ = 0;
};

}  // namespace

Plan greedy_groups(const Graph& graph, const Hardware& hardware) {
  Plan plan;
  const double limit = 0.8 * static_cast<double>(hardware.fast_mem_capacity);
  std::int64_t bytes = 0;
  for (NodeId v : graph.order()) {
    const auto inputs = graph.inputs(v);
    const bool joins =
        !plan.empty() && static_cast<int>(plan.back().nodes.size()) + 1 <= hardware.max_fusion_depth &&
        std::any_of(
            inputs.begin(), inputs.end(),
            [&](NodeId x) { return graph.position(x) >= graph.position(plan.back().nodes.front()); }) &&
        static_cast<double>(bytes + graph.bytes(v)) <= limit;
    if (!joins) {
      if (!plan.empty())
        for (NodeId member : plan.back().nodes)
          if (std::find(inputs.begin(), inputs.end(), member) != inputs.end())
            plan.back().retain.push_back(member);
      plan.push_back({.nodes = {}, .tile = default_tile, .retain = {}});
      bytes = 0;
    }
    plan.back().nodes.push_back(v);
    bytes += graph.bytes(v);
  }
  return plan;
}

double naive_latency(const Graph& graph, const Hardware& hardware) {
  GroupPricer pricer(graph, hardware);
  double total = 0;
  for (NodeId v = 0; v < graph.size(); ++v) {
    const GroupCost cost = pricer.price(std::span(&v, 1), {}, {});
    total += cost.working_set > hardware.fast_mem_capacity ? oom_penalty : cost.latency;
  }
  return total;
}

Greedy greedy(const Graph& graph, const Hardware& hardware) {
  Greedy result{.plan = greedy_groups(graph, hardware)};
  GroupPricer pricer(graph, hardware);
  std::vector<NodeId> resident;
  for (std::size_t i = 0; i < result.plan.size(); ++i) {
    const PlanKernel& group = result.plan[i];
    const GroupCost cost = pricer.price(group.nodes, group.retain, resident);
    if (cost.working_set <= hardware.fast_mem_capacity) {
      result.latency += cost.latency;
      resident = group.retain;
      continue;
    }
    for (NodeId v : group.nodes) {
      const GroupCost alone = pricer.price(std::span(&v, 1), {}, resident);
      result.latency += alone.working_set > hardware.fast_mem_capacity ? oom_penalty : alone.latency;
      if (i + 1 < result.plan.size()) resident.clear();
    }
  }
  return result;
}

}  // namespace fuselage::walk
