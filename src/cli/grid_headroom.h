// `headroom` for grid problems: what each engine finds within the same budget, between the naive latency and
// the lower bound.
#pragma once

#include <optional>
#include <vector>

#include "families.h"
#include "fuselage/core/budget.h"

namespace fuselage::cli {

struct GridHeadroom {
  const std::vector<GridTarget>& problems;
  const FamilyOptions& family;
  Budget budget = {};  // of each search
  bool json = false;
};

// Prints a row for each problem under each rule set; returns the exit code.
int headroom_grid(const GridHeadroom& command);

}  // namespace fuselage::cli
