// Plans become kernels again, so that a search can start from one. The plan is checked on the way: a kernel
// that the rules would refuse has no price.

#include <algorithm>

#include "fit.h"
#include "fuselage/core/error.h"
#include "id_list.h"
#include "towers.h"

namespace fuselage::walk {

class PlanReader {
 public:
  explicit PlanReader(const WalkProblem& problem)
      : p_(problem), state_(problem.initial()), labels_(problem.graph_) {}

  std::vector<Kernel> read(const Plan& plan) {
    for (const PlanKernel& k : plan) {
      check_ids(k);
      kernels_.push_back(p_.options_.rules == Rules::physical ? physical(sorted(k)) : seed(k));
      if (p_.towers_) labels_.move(p_.towers_->sorting(p_.move(state_, kernels_.back())));
      state_ = p_.apply(state_, kernels_.back());
    }
    if (state_.open || p_.progress(state_) != p_.end_)
      fail("plan: its {} kernels run {} of {} nodes; expected all", kernels_.size(), p_.progress(state_),
           p_.end_);
    return std::move(kernels_);
  }

 private:
  // In the names of the sorted state (towers.h).
  PlanKernel sorted(PlanKernel k) const {
    if (!p_.towers_) return k;
    for (std::vector<NodeId>* ids : {&k.nodes, &k.retain})
      for (NodeId& x : *ids) x = labels_.sorted_id(x);
    return k;
  }

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("plan: kernel {}: {}", kernels_.size(), fmt::format(format, std::forward<Args>(args)...));
  }

  void check_ids(const PlanKernel& k) const {
    const auto unknown = [&](NodeId x) { return x < 0 || x >= p_.graph_.size(); };
    if (k.nodes.empty()) refuse("nodes: none; expected at least one");
    for (const auto* ids : {&k.nodes, &k.retain})
      if (const auto bad = std::find_if(ids->begin(), ids->end(), unknown); bad != ids->end())
        refuse("{}: {} is not in the graph, whose ids are 0 to {}", ids == &k.nodes ? "nodes" : "retain",
               *bad, p_.graph_.size() - 1);
    if (tile_index(k.tile) < 0) refuse("tile: {}; expected 32, 64, 128 or 256", k.tile);
    if (state_.open && static_cast<int>(k.nodes.size()) == p_.open_.count) return;  // it stands as it is
    if (p_.options_.only_tile && k.tile != *p_.options_.only_tile)
      refuse("tile: {}; the problem allows {} only", k.tile, *p_.options_.only_tile);
    if (!p_.options_.may_retain && !k.retain.empty())
      refuse("retain: {} entries; the problem allows none", k.retain.size());
  }

  // The nodes in the order in which they are given, as a kernel of the fixed order.
  Kernel run_of(const PlanKernel& k) const {
    Kernel out{.first = state_.open ? p_.open_.first : state_.position,
               .count = static_cast<int>(k.nodes.size()),
               .tile = tile_index(k.tile)};
    for (int i = 0; i < out.count; ++i) {
      const NodeId next = out.first + i < p_.end_ ? p_.node_at(out.first + i) : -1;
      const NodeId node = k.nodes[static_cast<std::size_t>(i)];
      if (node != next && next < 0) refuse("nodes: {} comes after the last node of the schedule", node);
      if (node != next) refuse("nodes: {} where the order has {}", node, next);
    }
    const bool is_open_group = state_.open && out.count == p_.open_.count;
    const int most = is_open_group ? out.count : std::min(p_.most_nodes(), p_.runs_.longest(out.first));
    if (out.count > most)
      refuse("nodes: {} nodes from node {}; connected and within max_fusion_depth {} are at most {}",
             out.count, k.nodes.front(), p_.most_nodes(), most);
    return out;
  }

  Kernel seed(const PlanKernel& plan) const {
    Kernel k = run_of(plan);
    k.retain.assign(plan.retain.begin(), plan.retain.end());
    const Run* run = SeedFit::run_of(p_, state_, k);
    if (!run) refuse("nodes: {} nodes leave out members of the open group", k.count);
    const SeedFit fit(p_, state_, *run);
    const std::int64_t slices = run->slices[static_cast<std::size_t>(k.tile)];
    if (fit.closes_as_is()) {
      if (plan.tile != p_.open_.tile || plan.retain != p_.open_.retain)
        refuse("tile {} and retain list are not those of the open group", plan.tile);
    } else {
      for (NodeId x : k.retain)
        if (!fit.may_name(x)) refuse("retain: {} is neither a member, an input nor resident", x);
      if (k.count > 1 && (!fit.grows() || slices > fit.room_to_join(k.retain)))
        refuse("does not fit in fast_mem_capacity {} B while it is fused", p_.hardware_.fast_mem_capacity);
    }
    k.fallback = slices > fit.room_to_close(k.retain);
    if (k.fallback) return k;  // every entry counts towards that
    IdList once;
    for (NodeId x : k.retain)
      if (!holds(once, x)) once.push_back(x);
    k.retain = once;
    return k;
  }

  Kernel physical(const PlanKernel& plan) const {
    Kernel k;
    if (p_.options_.order == Order::free) {
      check_sequence(plan);
      k.tile = tile_index(plan.tile);
      for (NodeId v : plan.nodes) k.nodes.push_back(p_.graph_.position(v));
      std::sort(k.nodes.begin(), k.nodes.end());
      k.first = k.nodes.front();
      k.count = static_cast<int>(k.nodes.size());
    } else {
      k = run_of(plan);
    }
    const PhysicalFit fit(p_, state_, k);
    if (!fit.can_run())
      refuse("nodes: {} nodes that are done already, not connected, or more than max_fusion_depth {}",
             k.count, p_.most_nodes());
    for (NodeId x : plan.retain) {
      if (!fit.has(x) && !holds(fit.inputs(), x) && !holds(state_.resident, x))
        refuse("retain: {} is neither a member, an input nor resident", x);
      if (!holds(k.retain, x)) k.retain.push_back(x);
    }
    if (const std::int64_t needed = p_.working_set(state_, k); needed > p_.hardware_.fast_mem_capacity)
      refuse("working set {} B exceeds fast_mem_capacity {} B", needed, p_.hardware_.fast_mem_capacity);
    IdList alive;  // what is dead after the kernel leaves, named or not
    for (NodeId x : k.retain)
      if (fit.may_retain(x)) alive.push_back(x);
    std::sort(alive.begin(), alive.end());
    k.retain = alive;
    return k;
  }

  // Free order: each node after its inputs, each but the first with an input inside.
  void check_sequence(const PlanKernel& plan) const {
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
      const std::span before(plan.nodes.data(), i);
      bool connected = i == 0;
      for (NodeId x : p_.graph_.inputs(plan.nodes[i])) {
        const bool here = holds(before, x);
        connected = connected || here;
        if (!here && !p_.is_done(state_, p_.graph_.position(x)))
          refuse("nodes: {} runs before its input {}", plan.nodes[i], x);
      }
      if (!connected) refuse("nodes: {} reads nothing inside the kernel", plan.nodes[i]);
    }
  }

  const WalkProblem& p_;
  State state_;
  Labels labels_;
  std::vector<Kernel> kernels_;
};

std::vector<Kernel> WalkProblem::kernels_of(const Plan& plan) const {
  return PlanReader(*this).read(plan);
}

}  // namespace fuselage::walk
