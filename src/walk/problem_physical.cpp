// The policy of `physical`: tensors move between slow and fast memory only as a machine could move them.
// Which kernels a state has: physical_kernels.cpp.

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "fuselage/walk/problem.h"
#include "group.h"
#include "id_list.h"

namespace fuselage::walk {
namespace {

// Keeps the first of each, in order.
void drop_repeats(IdList& ids) {
  constexpr std::size_t few = 32;
  auto kept = ids.begin();
  if (ids.size() <= few) {
    for (auto at = ids.begin(); at != ids.end(); ++at)
      if (std::find(ids.begin(), kept, *at) == kept) *kept++ = *at;
  } else {
    std::unordered_set<NodeId> seen;
    for (auto at = ids.begin(); at != ids.end(); ++at)
      if (seen.insert(*at).second) *kept++ = *at;
  }
  ids.erase(kept, ids.end());
}

}  // namespace

bool Group::has(int position) const {
  return std::binary_search(positions.begin(), positions.end(), position);
}

std::int64_t common_bytes(const Graph& graph) {
  const std::int64_t first = graph.bytes(0);
  const bool same = std::all_of(graph.nodes().begin(), graph.nodes().end(),
                                [&](const Node& node) { return node.output_bytes == first; });
  return same && first > 0 ? first : 1;
}

Group make_group(const Graph& graph, const RunTable& runs, IdList positions) {
  Group group{.positions = std::move(positions), .inputs = {}, .outputs = {}};
  for (int at : group.positions) {
    const NodeId v = graph.order()[static_cast<std::size_t>(at)];
    for (NodeId x : graph.inputs(v))
      if (!group.has(graph.position(x))) group.inputs.push_back(x);
    const auto consumers = graph.consumers(v);
    const bool outside = std::any_of(consumers.begin(), consumers.end(),
                                     [&](NodeId c) { return !group.has(graph.position(c)); });
    if (consumers.empty() || outside) group.outputs.push_back(v);
    for (std::size_t t = 0; t < tiles.size(); ++t) group.cycles[t] += runs.cycles(v)[t];
  }
  drop_repeats(group.inputs);
  return group;
}

std::int64_t WalkProblem::working_set(const State& s, const Kernel& k) const {
  IdList positions = k.nodes;
  if (options_.order == Order::fixed)
    for (int at = k.first; at < k.first + k.count; ++at) positions.push_back(at);
  const Group group = make_group(graph_, runs_, positions);
  const int tile = tiles[static_cast<std::size_t>(k.tile)];
  std::int64_t total = 0;
  for (NodeId x : s.resident) total += bytes(x);
  for (NodeId x : k.retain)
    if (!holds(s.resident, x)) total += bytes(x);
  for (const IdList* streamed : {&group.inputs, &group.outputs})
    for (NodeId x : *streamed)
      if (!holds(s.resident, x) && !holds(k.retain, x)) total += slice_bytes(bytes(x), tile);
  return total;
}

WalkProblem::Cost WalkProblem::price_physical(const State& s, const Kernel& k) const {
  Group group;
  std::span<const NodeId> inputs;
  std::span<const NodeId> outputs;
  std::array<double, 4> cycles;
  if (options_.order == Order::free) {
    group = make_group(graph_, runs_, k.nodes);
    inputs = group.inputs;
    outputs = group.outputs;
    cycles = group.cycles;
  } else {
    const Run& run = runs_.run(k.first, k.count);
    inputs = runs_.inputs(run);
    outputs = runs_.outputs(run);
    cycles = run.cycles;
  }
  std::int64_t loads = 0;
  for (NodeId x : inputs)
    if (!holds(s.resident, x)) loads += bytes(x);
  const bool last = progress(s) + k.count == end_;
  std::int64_t writes = 0;
  for (NodeId x : outputs)
    if (!holds(k.retain, x) || (last && graph_.uses(x) == 0)) writes += bytes(x);
  for (NodeId x : s.unwritten) {
    const bool graph_output = graph_.uses(x) == 0;
    if (holds(k.retain, x) && !(last && graph_output)) continue;
    const auto consumers = graph_.consumers(x);
    const bool lives = options_.order == Order::fixed
                           ? runs_.last_use(x) >= k.first + k.count
                           : std::any_of(consumers.begin(), consumers.end(), [&](NodeId c) {
                               const int at = graph_.position(c);
                               return !is_done(s, at) && !group.has(at);
                             });
    if (lives || graph_output) writes += bytes(x);
  }
  const double memory = hardware_.transfer_cycles(loads) + hardware_.transfer_cycles(writes);
  return {
      .latency = std::max(cycles[static_cast<std::size_t>(k.tile)], memory) + hardware_.kernel_launch_cost,
      .bytes = loads + writes};
}

State WalkProblem::apply_physical(const State& s, const Kernel& k) const {
  State next;
  next.position = s.position;
  if (options_.order == Order::fixed) {
    next.position = k.first + k.count;
  } else {
    next.ahead.resize(s.ahead.size() + k.nodes.size());
    std::merge(s.ahead.begin(), s.ahead.end(), k.nodes.begin(), k.nodes.end(), next.ahead.begin());
    std::size_t done = 0;
    while (done < next.ahead.size() && next.ahead[done] == next.position) {
      ++done;
      ++next.position;
    }
    next.ahead.erase(next.ahead.begin(), next.ahead.begin() + static_cast<std::ptrdiff_t>(done));
  }
  next.resident = k.retain;
  for (NodeId x : k.retain) {
    const bool made_here =
        options_.order == Order::free ? holds(k.nodes, graph_.position(x)) : graph_.position(x) >= k.first;
    if (made_here || holds(s.unwritten, x)) next.unwritten.push_back(x);
  }
  return next;
}

// a can do what b does if it has less resident: it loads a missing tensor once, at its next reader, and can
// keep it from there on; kernels that compute long enough hide the load. What is resident in both but
// unwritten in a alone may have to be written back. Graph outputs that wait for their write differ in nothing
// but their size.
bool WalkProblem::dominates_physical(const State& a, double cost_a, const State& b, double cost_b) const {
  if (a.ahead != b.ahead || a.resident.size() > b.resident.size()) return false;
  boost::container::small_vector<std::int64_t, 8> waiting_a;
  boost::container::small_vector<std::int64_t, 8> waiting_b;
  double again = 0;   // bytes
  double longer = 0;  // cycles
  auto in_a = a.resident.begin();
  const auto skip_outputs = [&] {
    for (; in_a != a.resident.end() && graph_.uses(*in_a) == 0; ++in_a) waiting_a.push_back(bytes(*in_a));
  };
  for (NodeId x : b.resident) {
    skip_outputs();
    if (graph_.uses(x) == 0) {
      waiting_b.push_back(bytes(x));
    } else if (in_a != a.resident.end() && *in_a == x) {
      ++in_a;
      if (holds(a.unwritten, x) && !holds(b.unwritten, x)) {
        again += static_cast<double>(bytes(x));
        longer += hardware_.transfer_cycles(bytes(x));
      }
    } else {
      again += static_cast<double>(bytes(x));
      longer += reload(x);
    }
  }
  skip_outputs();
  if (in_a != a.resident.end()) return false;
  std::sort(waiting_a.begin(), waiting_a.end());
  std::sort(waiting_b.begin(), waiting_b.end());
  if (!std::includes(waiting_b.begin(), waiting_b.end(), waiting_a.begin(), waiting_a.end())) return false;
  if (options_.most_traffic && again > static_cast<double>(b.traffic - a.traffic)) return false;
  return cost_a + longer + again * options_.price.traffic <= cost_b;
}

}  // namespace fuselage::walk
