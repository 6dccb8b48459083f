// Actions that would be valid in a state of the game, to show an agent what an answer looks like. They are
// found by trying, and are no advice: the first ops in order, the largest tiles that fit.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fuselage/grid/episode.h"

namespace fuselage::grid::fusionops_parts {

// The first granularity with which the step would be valid, of native w and h and full K, then less and less
// of K, then smaller tiles with all of K again, and so on. None: it doesn't fit, or is refused for another
// reason.
std::optional<Granularity> fitting(const Episode& episode, std::span<const OpId> ops,
                                   std::span<const TensorId> retain);

// Two to four, if there are as many; none after the end.
std::vector<Kernel> example_steps(const Episode& episode);

}  // namespace fuselage::grid::fusionops_parts
