// The optimum of `seed` and `seed_honest` by brute force over plans, with prices and restrictions: every next
// group, tile and retain list, remembered by (position, what is resident). Written from the rules on sets as
// bits; it knows no dominance, no delayed phantoms and no kernels that are left out. "Every" retain list is
// every set, and each id alone so often that it makes any group invalid.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "brute_front.h"
#include "fuselage/graph/graph.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

class BrutePlans {
 public:
  BrutePlans(const Workload& workload, Rules rules, const Space& space)
      : graph_(workload.graph), hardware_(workload.hardware), rules_(rules), space_(space) {}

  const Front& front() { return value(0, 0); }

 private:
  using Set = std::uint32_t;  // of tensors, one bit each

  struct Group {
    int first = 0;
    int end = 0;
    Set members = 0;
    Set inputs = 0;
    Set outputs = 0;
  };

  static bool has(Set set, NodeId x) { return set >> x & 1U; }
  NodeId node_at(int position) const { return graph_.order()[static_cast<std::size_t>(position)]; }

  const Front& value(int position, Set resident) {
    const auto key = std::pair(position, resident);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    Front best;
    if (position == graph_.size())
      best = Front({0, 0});
    else
      try_groups(position, resident, best);
    return known_[key] = best;
  }

  void try_groups(int position, Set resident, Front& best) {
    Set now = resident;  // what is resident when a node joins: last uses of earlier ones are gone
    for (int end = position + 1; end <= graph_.size(); ++end) {
      if (end - position > 1 && (!space_.may_fuse || end - position > hardware_.max_fusion_depth)) break;
      const Group group = make(position, end);
      if (end - position > 1 && !connected(group)) break;
      try_lists(group, now, best);
      // To go on growing, this prefix must have been fusable.
      if (end - position > 1 && working_set(group, now, 0, 0, smallest_tile()) > hardware_.fast_mem_capacity)
        break;
      now &= ~dying_at(end - 1);
    }
  }

  void try_lists(const Group& group, Set now, Front& best) {
    const Set allowed =
        rules_ == Rules::seed ? (Set{1} << graph_.size()) - 1 : group.members | group.inputs | now;
    for (int tile : tiles) {
      if (!space_.allows(tile)) continue;
      for (Set list = 0; list < Set{1} << graph_.size(); ++list)
        if ((list & ~allowed) == 0 && (list == 0 || space_.may_retain))
          close(group, now, list, 1, tile, best);
      for (NodeId x = 0; x < graph_.size() && space_.may_retain; ++x)
        if (has(allowed, x)) close(group, now, Set{1} << x, 4096, tile, best);
    }
  }

  void close(const Group& group, Set now, Set list, int copies, int tile, Front& best) {
    const std::int64_t capacity = hardware_.fast_mem_capacity;
    if (group.end - group.first > 1 && working_set(group, now, list, copies, tile) > capacity) return;
    const Set resident = now & ~dying_at(group.end - 1);
    if (working_set(group, resident, list, copies, tile) > capacity) {
      run_alone(group, resident, best);
      return;
    }
    Set after = list;
    for (NodeId x = 0; x < graph_.size(); ++x)
      if (has(resident, x) && last_use(x) >= group.end) after |= Set{1} << x;
    FrontPoint step = priced(group, resident, list, tile);
    step.cost += charged(step.bytes, after, 1);
    best.join(value(group.end, after), step, space_.fronts);
  }

  void run_alone(const Group& group, Set resident, Front& best) {
    FrontPoint sum;
    for (int at = group.first; at < group.end; ++at) {
      const Group alone = make(at, at + 1);
      FrontPoint step = priced(alone, resident, 0, default_tile);
      if (working_set(alone, resident, 0, 0, default_tile) > hardware_.fast_mem_capacity)
        step.cost = oom_penalty;
      sum.cost += step.cost + charged(step.bytes, resident, 1);
      sum.bytes += step.bytes;
    }
    best.join(value(group.end, resident), sum, space_.fronts);
  }

  double charged(std::int64_t moved, Set after, int launches) const {
    return space_.price.traffic * static_cast<double>(moved) + space_.price.launch * launches +
           space_.price.residency * static_cast<double>(bytes(after)) * launches;
  }

  FrontPoint priced(const Group& group, Set resident, Set list, int tile) const {
    double cycles = 0;
    for (int at = group.first; at < group.end; ++at) cycles += node_cycles(graph_.node(node_at(at)), tile);
    const std::int64_t load = bytes(group.inputs & ~resident);
    const std::int64_t store = bytes(group.outputs & ~list);
    const double memory = hardware_.transfer_cycles(load) + hardware_.transfer_cycles(store);
    return {std::max(cycles, memory) + hardware_.kernel_launch_cost, load + store};
  }

  std::int64_t working_set(const Group& group, Set resident, Set list, int copies, int tile) const {
    std::int64_t sum = bytes(resident & ~group.members) + copies * bytes(list & ~resident);
    for (NodeId x = 0; x < graph_.size(); ++x) {
      if (has(group.inputs, x)) sum += slice_bytes(graph_.bytes(x), tile);
      if (has(group.outputs, x)) sum += slice_bytes(graph_.bytes(x), tile);
    }
    return sum;
  }
  int smallest_tile() const { return space_.only_tile.value_or(tiles[0]); }

  Group make(int first, int end) const {
    Group group{.first = first, .end = end};
    for (int at = first; at < end; ++at) group.members |= Set{1} << node_at(at);
    for (int at = first; at < end; ++at) {
      const NodeId v = node_at(at);
      for (NodeId x : graph_.inputs(v))
        if (!has(group.members, x)) group.inputs |= Set{1} << x;
      const int last = last_use(v);
      if (last < 0 || last >= end) group.outputs |= Set{1} << v;
    }
    return group;
  }
  bool connected(const Group& group) const {
    const auto inputs = graph_.inputs(node_at(group.end - 1));
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](NodeId x) { return graph_.position(x) >= group.first; });
  }
  int last_use(NodeId x) const {
    int last = -1;
    for (NodeId c : graph_.consumers(x)) last = std::max(last, graph_.position(c));
    return last;
  }
  Set dying_at(int position) const {
    Set dying = 0;
    for (NodeId x : graph_.inputs(node_at(position)))
      if (last_use(x) == position) dying |= Set{1} << x;
    return dying;
  }
  std::int64_t bytes(Set set) const {
    std::int64_t sum = 0;
    for (NodeId x = 0; x < graph_.size(); ++x)
      if (has(set, x)) sum += graph_.bytes(x);
    return sum;
  }

  const Graph& graph_;
  const Hardware& hardware_;
  Rules rules_;
  Space space_;
  std::map<std::pair<int, Set>, Front> known_;
};

}  // namespace fuselage::walk
