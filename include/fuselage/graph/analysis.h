// What Boost.Graph answers about a graph: cycles, reachability, dominators; and the live ranges that follow
// from an order. For reports, generators and checks: engines use the flat arrays of Graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

// The nodes of one cycle in edge order, or nothing if there is none. O(nodes + edges), no recursion.
std::vector<NodeId> find_cycle(const Dag& dag);

// Which nodes can be reached: the transitive closure. The answer takes nodes^2 bits and Boost's way to it
// about 30 bytes a pair, so it is for graphs of up to a few thousand nodes.
class Reachability {
 public:
  explicit Reachability(const Graph& graph);
  // Is there a path of at least one edge?
  bool reaches(NodeId from, NodeId to) const;

 private:
  std::size_t n_;
  std::vector<bool> closure_;
};

// Nodes that are not done and whose inputs all are, in id order. `done` has one entry per node.
std::vector<NodeId> ready_nodes(const Graph& graph, const std::vector<bool>& done);

// The immediate dominator of each node, seen from a virtual source before all nodes without inputs; none
// where only that source dominates. A dominator is an op that every path to a node passes.
std::vector<std::optional<NodeId>> immediate_dominators(const Graph& graph);

// Positions in the graph's order between which a tensor is needed: made at `first`, last read at `last`
// (the end of the order for graph outputs).
struct LiveRange {
  int first = 0;
  int last = 0;
};
std::vector<LiveRange> live_ranges(const Graph& graph);

// The most bytes of tensors that are live at one position.
std::int64_t peak_live_bytes(const Graph& graph);

}  // namespace fuselage
