// Rule sets seed and seed-honest: the plan is played as the actions that would build it, so that a kernel is
// legal exactly when an episode can reach it, and priced as the episode prices a group that it closes.
#include <algorithm>

#include "fuselage/core/error.h"
#include "simulate_detail.h"

namespace fuselage::oracle::detail {
namespace {

class SeedCheck {
 public:
  SeedCheck(const Graph& graph, const Hardware& hardware, walk::Rules rules)
      : graph_(graph), hardware_(hardware), rules_(rules), progress_(graph, hardware, walk::Order::fixed) {}

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
    for (NodeId node : kernel.nodes) {
      group.add(node);
      const bool last = group.sequence().size() == kernel.nodes.size();
      if (last && rules_ == walk::Rules::seed_honest)
        if (auto fault = check_retain(kernel, group)) return fault;
      if (group.sequence().size() > 1)  // a kernel of one is not checked when it starts
        if (auto fault = last ? check_fuse(kernel, group) : check_prefix(group)) return fault;
      progress_.run(current(), node);
      // A last use leaves before the kernel that reads it is priced.
      for (NodeId input : graph_.inputs(node))
        if (progress_.uses_left(input) == 0) resident_.erase(input);
    }
    close(kernel, group);
    return std::nullopt;
  }

  std::optional<Fault> check_retain(const walk::PlanKernel& kernel, const Group& group) const {
    for (NodeId id : kernel.retain)
      if (!group.has(id) && !group.inputs().contains(id) && !resident_.contains(id))
        return not_retainable(current(), id);
    return std::nullopt;
  }

  std::optional<Fault> check_fuse(const walk::PlanKernel& kernel, const Group& group) const {
    const std::int64_t needed = working_set(group, kernel.tile, kernel.retain);
    if (needed <= hardware_.fast_mem_capacity) return std::nullopt;
    return out_of_memory(
        current(), needed, hardware_,
        fmt::format("when node {} joins (tile {}, {} B resident, {} retained)", group.sequence().back(),
                    kernel.tile, full_bytes(graph_, resident_), kernel.retain.size()));
  }

  std::optional<Fault> check_prefix(const Group& group) const {
    std::int64_t least = working_set(group, walk::tiles.front(), {});
    for (int tile : walk::tiles) least = std::min(least, working_set(group, tile, {}));
    if (least <= hardware_.fast_mem_capacity) return std::nullopt;
    return out_of_memory(
        current(), least, hardware_,
        fmt::format(
            "when node {} joins, before the kernel is whole (any tile, {} B resident, nothing retained)",
            group.sequence().back(), full_bytes(graph_, resident_)));
  }

  // Slices of what crosses the edge, residents that are not members in full, and every entry of `retain` (a
  // duplicate counts again) that is not resident in full.
  std::int64_t working_set(const Group& group, int tile, const std::vector<NodeId>& retain) const {
    std::int64_t sum =
        add_bytes(slice_bytes(graph_, group.inputs(), tile), slice_bytes(graph_, group.outputs(), tile));
    for (NodeId id : resident_)
      if (!group.has(id)) sum = add_bytes(sum, graph_.bytes(id));
    for (NodeId id : retain)
      if (!resident_.contains(id)) sum = add_bytes(sum, graph_.bytes(id));
    return sum;
  }

  KernelReport priced(const Group& group, int tile, const std::vector<NodeId>& retain) const {
    const Tensors loads = difference(group.inputs(), resident_);
    const Tensors writes = difference(group.outputs(), Tensors(retain.begin(), retain.end()));
    KernelReport report;
    report.loads.assign(loads.begin(), loads.end());
    report.writes.assign(writes.begin(), writes.end());
    report.bytes_moved = add_bytes(full_bytes(graph_, loads), full_bytes(graph_, writes));
    report.working_set = working_set(group, tile, retain);
    report.compute_cycles = compute_cycles(graph_, group.sequence(), tile);
    report.memory_cycles = hardware_.transfer_cycles(full_bytes(graph_, loads)) +
                           hardware_.transfer_cycles(full_bytes(graph_, writes));
    report.launch_cycles = hardware_.kernel_launch_cost;
    report.latency = std::max(report.compute_cycles, report.memory_cycles) + report.launch_cycles;
    return report;
  }

  void close(const walk::PlanKernel& kernel, const Group& group) {
    KernelReport report = priced(group, kernel.tile, kernel.retain);
    if (report.working_set > hardware_.fast_mem_capacity) {
      report = run_alone(group, report.working_set);
    } else {
      result_.latency += report.latency;
      Tensors after(kernel.retain.begin(), kernel.retain.end());
      for (NodeId id : resident_)
        if (progress_.uses_left(id) > 0) after.insert(id);
      resident_ = std::move(after);
    }
    report.total = result_.latency;
    report.resident_after.assign(resident_.begin(), resident_.end());
    result_.kernels.push_back(std::move(report));
  }

  // The fallback of a group that no longer fits when it closes: every member on its own, at the default tile,
  // nothing retained, the residents as they are. The total grows member by member, as an episode's does.
  KernelReport run_alone(const Group& group, std::int64_t group_working_set) {
    KernelReport sum;
    sum.fallback = true;
    sum.launches = 0;
    sum.working_set = group_working_set;
    for (NodeId node : group.sequence()) {
      Group alone(graph_);
      alone.add(node);
      const KernelReport report = priced(alone, walk::default_tile, {});
      ++sum.launches;
      sum.bytes_moved = add_bytes(sum.bytes_moved, report.bytes_moved);
      const bool fits = report.working_set <= hardware_.fast_mem_capacity;
      const double latency = fits ? report.latency : walk::oom_penalty;
      sum.latency += latency;
      result_.latency += latency;
      if (!fits) continue;
      sum.compute_cycles += report.compute_cycles;
      sum.memory_cycles += report.memory_cycles;
      sum.launch_cycles += report.launch_cycles;
      sum.loads.insert(sum.loads.end(), report.loads.begin(), report.loads.end());
      sum.writes.insert(sum.writes.end(), report.writes.begin(), report.writes.end());
    }
    std::ranges::sort(sum.loads);
    std::ranges::sort(sum.writes);
    return sum;
  }

  const Graph& graph_;
  const Hardware& hardware_;
  walk::Rules rules_;
  Progress progress_;
  Tensors resident_;
  Simulation result_;
};

}  // namespace

Simulation simulate_seed(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                         walk::Rules rules) {
  return SeedCheck(graph, hardware, rules).run(plan);
}

}  // namespace fuselage::oracle::detail
