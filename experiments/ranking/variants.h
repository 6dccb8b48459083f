// Workloads that should be ranked as the original is: what is changed doesn't matter for which schedule is
// better, or hardly.
#pragma once

#include <string>
#include <vector>

#include "drawn.h"

namespace fuselage::experiments {

// The same schedules on a workload as it was and as it is changed. Costs are those of the workload at hand.
struct Variant {
  std::string name;
  Set before;
  Set after;
};

// `originals`: with their schedules, on which the changes are made.
//   sizes     all tensors 1024 x 1024, the machine's fast memory grown with them, against 1023 x 1023 on the
//   same
//             machine; schedules are drawn anew for the former
//   numbers   nodes numbered otherwise, in a way that leaves the order of execution as it is
//   times     all cycles doubled: flops and launches twice, bandwidth half
//   bytes     tensors of twice the bytes in twice the fast memory at twice the bandwidth
std::vector<Variant> variants(const std::vector<Drawn>& originals, int threads);

// The nodes in another numbering, drawn from a seed, with the same order of execution. `renamed`: old number
// → new one.
Graph renumbered(const Graph& graph, std::uint64_t seed, std::vector<NodeId>& renamed);

}  // namespace fuselage::experiments
