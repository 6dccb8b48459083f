// A lower bound for schedules in free order that can be asked of any state at no cost: shares of the nodes
// such that no kernel costs less than the shares of its members sum to. Whatever kernels complete a schedule,
// they partition the nodes that are not done, so they cost at least the sum of those nodes' shares.
//
// The best shares are the dual prices of the linear relaxation of that partition (set partitioning; Balas and
// Padberg 1976):
//   maximise sum of share(v)   subject to   sum of share(v) over K <= cost(K)   for every kernel K
// cost(K) relaxes residency: as much of its boundary is resident or retained as fits beside the slices, the
// rest is compulsory traffic; the tile is the best that fits. Launches that depth and connectivity force are
// in it, since each K pays its launch.
//
// Graphs of more than a block of nodes are solved block by block in the fixed order, each with the shares of
// the others as they stand: every intermediate result is feasible, so it bounds.
#pragma once

#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/problem.h"

namespace fuselage::walk {

struct NodeShares {
  std::vector<double> share;  // by position in the order, cycles
  // By node: cycles that loading it once more can cost, whichever kernel reads it (see hidden_load in
  // group.h).
  std::vector<double> reload;
};

// Falls back to each node's least cycles, and to full reloads, where kernels are too many to list.
NodeShares node_shares(const Graph& graph, const Hardware& hardware, const RunTable& runs,
                       const ProblemOptions& options);

}  // namespace fuselage::walk
