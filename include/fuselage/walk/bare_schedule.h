// Is there any schedule under `physical`? In fixed order that is settled at once. Take any schedule, retain
// nothing and run every kernel at the smallest legal tile: it is still one. A kernel's working set counts
// each tensor of its boundary with a slice at least, and at that tile with nothing resident nothing more; all
// that leaves a kernel is written, so all that is loaded later has a copy in slow memory. So a schedule
// exists if and only if the order can be cut into kernels whose slices fit, and the cheapest such cut is a
// plan.
//
// In free order the same holds of every sequence of kernels, but which of them run first decides what is left
// to be fused. What can be told at once: a plan of the fixed order is one; a node is stuck for good if even
// the largest part of its inputs that could be fused with it leaves a working set that never fits.
#pragma once

#include <optional>
#include <vector>

#include "fuselage/walk/problem.h"

namespace fuselage::walk {

// What a problem was made of, and the problem: of the rules physical, without most_traffic.
struct BareQuestion {
  const Graph& graph;
  const Hardware& hardware;
  const RunTable& runs;
  const ProblemOptions& options;
  const WalkProblem& problem;
};

// The cheapest plan in fixed order that retains nothing; none if and only if there is no schedule in that
// order, which is the problem's. Linear in the runs.
std::optional<std::vector<Kernel>> bare_schedule(const BareQuestion& of);

// Why there is no schedule. None in fixed order: there is one; in free order: it can't be told at once.
std::optional<WalkProblem::Infeasible> why_no_schedule(const BareQuestion& of);

}  // namespace fuselage::walk
