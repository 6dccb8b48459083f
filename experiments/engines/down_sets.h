// How many states the order of a graph has: its down-sets, the sets of nodes that can be done when all that
// they read is done. A search in free order is a walk through them, and nothing says better how large it is.
#pragma once

#include <cstdint>
#include <optional>

#include "fuselage/graph/graph.h"

namespace fuselage::experiments {

inline constexpr std::uint64_t most_down_sets = 2'000'000;

// The number of down-sets, the empty one included; none if there are more than most_down_sets, or if the
// graph has more than 64 nodes.
std::optional<std::uint64_t> count_down_sets(const Graph& graph);

}  // namespace fuselage::experiments
