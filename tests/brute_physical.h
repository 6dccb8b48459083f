// The optimum under `physical` by brute force, from the rules alone: every sequence of kernels with every
// retain set and tile, remembered by (done, resident, which residents have a slow copy). With prices and
// restrictions if asked for.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "brute_front.h"
#include "fuselage/graph/graph.h"
#include "fuselage/walk/rules.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

class BrutePhysical {
 public:
  BrutePhysical(const Workload& workload, Order order, const Space& space = {.fronts = false})
      : graph_(workload.graph), hardware_(workload.hardware), order_(order), space_(space) {}

  // Least cost of a schedule; infinite if there is none.
  double optimum() { return front().least(); }
  const Front& front() { return value({}, {}, {}); }

 private:
  using Ids = std::set<NodeId>;

  const Front& value(const Ids& done, const Ids& resident, const Ids& slow) {
    const auto key = std::make_tuple(done, resident, slow);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    Front best;
    if (static_cast<int>(done.size()) == graph_.size()) best = Front({0, 0});
    for (const Ids& group : groups(done)) try_all(group, done, resident, slow, best);
    return known_[key] = best;
  }

  // All groups that can run next, as sets.
  std::set<Ids> groups(const Ids& done) const {
    std::set<Ids> found;
    for (NodeId v = 0; v < graph_.size(); ++v)
      if (!done.count(v) && ready(v, done, {}) && in_turn(v, done, {})) extend({v}, done, found);
    return found;
  }
  void extend(const Ids& group, const Ids& done, std::set<Ids>& found) const {
    const int most = space_.may_fuse ? hardware_.max_fusion_depth : 1;
    if (!found.insert(group).second || static_cast<int>(group.size()) >= most) return;
    for (NodeId v = 0; v < graph_.size(); ++v) {
      if (done.count(v) || group.count(v) || !ready(v, done, group) || !in_turn(v, done, group)) continue;
      const auto inputs = graph_.inputs(v);
      if (std::none_of(inputs.begin(), inputs.end(), [&](NodeId x) { return group.count(x) > 0; })) continue;
      Ids larger = group;
      larger.insert(v);
      extend(larger, done, found);
    }
  }
  bool ready(NodeId v, const Ids& done, const Ids& group) const {
    const auto inputs = graph_.inputs(v);
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](NodeId x) { return done.count(x) || group.count(x); });
  }
  bool in_turn(NodeId v, const Ids& done, const Ids& group) const {
    return order_ == Order::free || graph_.position(v) == static_cast<int>(done.size() + group.size());
  }

  void try_all(const Ids& group, const Ids& done, const Ids& resident, const Ids& slow, Front& best) {
    Ids inputs;
    for (NodeId v : group)
      for (NodeId x : graph_.inputs(v))
        if (!group.count(x)) inputs.insert(x);
    Ids may_retain;
    if (space_.may_retain) {
      may_retain = group;
      may_retain.insert(inputs.begin(), inputs.end());
      may_retain.insert(resident.begin(), resident.end());
    }
    const std::vector<NodeId> ids(may_retain.begin(), may_retain.end());
    for (std::size_t set = 0; set < (std::size_t{1} << ids.size()); ++set) {
      Ids retain;
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (set >> i & 1) retain.insert(ids[i]);
      for (int tile : tiles)
        if (space_.allows(tile)) with(group, inputs, retain, tile, done, resident, slow, best);
    }
  }

  void with(const Ids& group, const Ids& inputs, const Ids& retain, int tile, const Ids& done,
            const Ids& resident, const Ids& slow, Front& best) {
    Ids after = done;
    after.insert(group.begin(), group.end());
    const bool last = static_cast<int>(after.size()) == graph_.size();
    const auto used_up = [&](NodeId x) {
      const auto consumers = graph_.consumers(x);
      return std::all_of(consumers.begin(), consumers.end(), [&](NodeId c) { return after.count(c) > 0; });
    };
    std::int64_t working_set = 0;
    std::int64_t loads = 0;
    std::int64_t writes = 0;
    Ids copies = slow;
    for (NodeId x : inputs) {
      if (resident.count(x)) continue;
      loads += graph_.bytes(x);
      copies.insert(x);
      if (!retain.count(x)) working_set += slice_bytes(graph_.bytes(x), tile);
    }
    double cycles = 0;
    std::vector<NodeId> in_order(group.begin(), group.end());
    std::sort(in_order.begin(), in_order.end(),
              [&](NodeId a, NodeId b) { return graph_.position(a) < graph_.position(b); });
    for (NodeId v : in_order) {
      cycles += node_cycles(graph_.node(v), tile);
      const auto consumers = graph_.consumers(v);
      const bool leaves = consumers.empty() || std::any_of(consumers.begin(), consumers.end(),
                                                           [&](NodeId c) { return !group.count(c); });
      if (!leaves || retain.count(v)) continue;
      working_set += slice_bytes(graph_.bytes(v), tile);
      writes += graph_.bytes(v);
      copies.insert(v);
    }
    Ids held = resident;
    held.insert(retain.begin(), retain.end());
    for (NodeId x : held) working_set += graph_.bytes(x);
    if (working_set > hardware_.fast_mem_capacity) return;
    Ids next;
    for (NodeId x : held) {
      const bool graph_output = graph_.uses(x) == 0;
      const bool dead = used_up(x) && !(graph_output && !copies.count(x));
      const bool must_write = !copies.count(x) && !dead && (!retain.count(x) || (last && graph_output));
      if (must_write) {
        writes += graph_.bytes(x);
        copies.insert(x);
      }
      if (retain.count(x) && !dead) next.insert(x);
    }
    Ids next_slow;  // only what somebody may still ask for
    for (NodeId x : copies)
      if (next.count(x)) next_slow.insert(x);
    const double memory = hardware_.transfer_cycles(loads) + hardware_.transfer_cycles(writes);
    FrontPoint step{std::max(cycles, memory) + hardware_.kernel_launch_cost, loads + writes};
    step.cost += space_.price.traffic * static_cast<double>(step.bytes) + space_.price.launch;
    for (NodeId x : next) step.cost += space_.price.residency * static_cast<double>(graph_.bytes(x));
    best.join(value(after, next, next_slow), step, space_.fronts);
  }

  const Graph& graph_;
  const Hardware& hardware_;
  Order order_;
  Space space_;
  std::map<std::tuple<Ids, Ids, Ids>, Front> known_;
};

}  // namespace fuselage::walk
