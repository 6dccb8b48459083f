// Rule set physical: what a machine could do. A tensor is in slow memory, in fast memory, or in both, and is
// written exactly when it must be: when it leaves fast memory alive without a copy, or at the very end.
#include <algorithm>
#include <cassert>

#include "fuselage/core/error.h"
#include "simulate_detail.h"

namespace fuselage::oracle::detail {
namespace {

class PhysicalCheck {
 public:
  PhysicalCheck(const Graph& graph, const Hardware& hardware, walk::Order order)
      : graph_(graph), hardware_(hardware), progress_(graph, hardware, order) {
    for (NodeId id = 0; id < graph.size(); ++id)
      if (graph.uses(id) == 0) unwritten_outputs_.insert(id);
  }

  Simulation run(const walk::Plan& plan) {
    for (const walk::PlanKernel& kernel : plan)
      if ((result_.fault = play(kernel))) return std::move(result_);
    result_.fault = progress_.check_coverage();
    return std::move(result_);
  }

 private:
  int current() const { return static_cast<int>(result_.kernels.size()); }

  std::optional<Fault> play(const walk::PlanKernel& kernel) {
    if (auto fault = progress_.check(current(), kernel)) return fault;
    Group group(graph_);
    for (NodeId node : kernel.nodes) group.add(node);
    for (NodeId id : kernel.retain)
      if (!group.has(id) && !group.inputs().contains(id) && !resident_.contains(id))
        return not_retainable(current(), id);

    const Tensors retain(kernel.retain.begin(), kernel.retain.end());
    const std::int64_t needed = working_set(group, kernel.tile, retain);
    if (needed > hardware_.fast_mem_capacity)
      return out_of_memory(current(), needed, hardware_,
                           fmt::format("(tile {}, {} B resident, {} B retained)", kernel.tile,
                                       full_bytes(graph_, resident_), full_bytes(graph_, retain)));
    close(group, kernel.tile, retain, needed);
    return std::nullopt;
  }

  // Slices of what crosses the edge, residents and retained tensors in full, each tensor once.
  std::int64_t working_set(const Group& group, int tile, const Tensors& retain) const {
    Tensors whole = resident_;
    whole.insert(retain.begin(), retain.end());
    std::int64_t sum = full_bytes(graph_, whole);
    sum = add_bytes(sum, slice_bytes(graph_, difference(group.inputs(), whole), tile));
    return add_bytes(sum, slice_bytes(graph_, difference(group.outputs(), retain), tile));
  }

  void close(const Group& group, int tile, const Tensors& retain, std::int64_t needed) {
    const Tensors loads = difference(group.inputs(), resident_);
    assert(std::ranges::all_of(loads, [&](NodeId id) { return slow_.contains(id); }));
    for (NodeId node : group.sequence()) progress_.run(current(), node);
    const Tensors writes = written(group, retain);

    KernelReport report;
    report.loads.assign(loads.begin(), loads.end());
    report.writes.assign(writes.begin(), writes.end());
    report.bytes_moved = add_bytes(full_bytes(graph_, loads), full_bytes(graph_, writes));
    report.working_set = needed;
    report.compute_cycles = compute_cycles(graph_, in_fixed_order(group), tile);
    report.memory_cycles = hardware_.transfer_cycles(full_bytes(graph_, loads)) +
                           hardware_.transfer_cycles(full_bytes(graph_, writes));
    report.launch_cycles = hardware_.kernel_launch_cost;
    report.latency = std::max(report.compute_cycles, report.memory_cycles) + report.launch_cycles;
    result_.latency += report.latency;
    report.total = result_.latency;

    slow_.insert(writes.begin(), writes.end());
    for (NodeId id : writes) unwritten_outputs_.erase(id);
    resident_.clear();
    for (NodeId id : retain)
      if (!dead(id)) resident_.insert(id);
    report.resident_after.assign(resident_.begin(), resident_.end());
    result_.kernels.push_back(std::move(report));
  }

  // The members are among the nodes that ran.
  Tensors written(const Group& group, const Tensors& retain) const {
    Tensors writes = difference(group.outputs(), retain);
    for (NodeId id : difference(resident_, retain))
      if (!dead(id) && !slow_.contains(id)) writes.insert(id);
    if (progress_.complete()) writes.insert(unwritten_outputs_.begin(), unwritten_outputs_.end());
    return writes;
  }

  bool dead(NodeId id) const { return progress_.uses_left(id) == 0 && !unwritten_outputs_.contains(id); }

  std::vector<NodeId> in_fixed_order(const Group& group) const {
    std::vector<NodeId> nodes = group.sequence();
    std::ranges::sort(nodes, {}, [&](NodeId id) { return graph_.position(id); });
    return nodes;
  }

  const Graph& graph_;
  const Hardware& hardware_;
  Progress progress_;
  Tensors resident_;
  Tensors slow_;               // tensors with a copy in slow memory
  Tensors unwritten_outputs_;  // graph outputs without one
  Simulation result_;
};

}  // namespace

Simulation simulate_physical(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                             walk::Order order) {
  return PhysicalCheck(graph, hardware, order).run(plan);
}

}  // namespace fuselage::oracle::detail
