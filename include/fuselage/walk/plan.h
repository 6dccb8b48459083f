// A schedule of the walk family as a list of kernels, and the per-node actions that make an episode run it.
#pragma once

#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage::walk {

// One fused kernel. `nodes` are in the order in which they run. Under `seed` and `seed_honest` retain keeps
// order and duplicates, since the public rules price every entry; under `physical` it is a set.
struct PlanKernel {
  std::vector<NodeId> nodes;
  int tile = 128;
  std::vector<NodeId> retain;

  friend bool operator==(const PlanKernel&, const PlanKernel&) = default;
};

using Plan = std::vector<PlanKernel>;

// What an agent says at one node.
struct Action {
  bool fuse_with_prev = false;
  int tile = 128;
  std::vector<NodeId> retain;

  friend bool operator==(const Action&, const Action&) = default;
};

// The actions that play `plan`: the nodes of a kernel before its last fuse with tile 32 and nothing retained
// (the easiest prefix to fit), the last one states the kernel's tile and retain list.
std::vector<Action> actions_of(const Plan& plan);

}  // namespace fuselage::walk
