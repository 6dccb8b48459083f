// Two walks of the environment's verification script, written anew from what they do: schedules that keep
// tensors longer than greedy does, priced by the environment's cost of a group (section 2 of the rules) at
// tile 128. They are no episodes, since residents are replaced at will, and no rule set of ours; they exist
// so that the authors' claims can be checked as the authors measured them.
#pragma once

#include <cstdint>
#include <optional>

#include "fuselage/graph/graph.h"

namespace fuselage::oracle {

// alone: every op a kernel; last uses are read free, and everything that is read again is kept.
// greedy: the groups of the greedy walk; last uses leave before their group is priced, as in an episode, and
// of what is read again as much is kept as half of the capacity holds, most uses first.
// In both a group that doesn't fit keeps nothing, one that doesn't even fit then runs member by member, and
// afterwards nothing is resident.
enum class Grouping : std::uint8_t { alone, greedy };

double keeping_latency(const Workload& workload, Grouping grouping);  // cycles

// One op alone with nothing resident; none if it doesn't fit.
std::optional<double> latency_alone(const Workload& workload, NodeId node, int tile);

}  // namespace fuselage::oracle
