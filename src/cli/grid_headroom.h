// `headroom` for grid problems: what each engine finds within the same budget, between the naive latency and
// the lower bound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "families.h"
#include "fuselage/core/budget.h"

namespace fuselage::cli {

// The time of several searches in turn: each has its own, or all share what is left.
class SharedBudget {
 public:
  SharedBudget(const Budget& budget, bool shared) : budget_(budget), shared_(shared), deadline_(budget) {}

  const Budget& whole() const { return budget_; }
  // Of the next search, with which `left` are still to be made.
  Budget of(std::size_t left) const {
    Budget one = budget_;
    if (shared_)
      one.wall_seconds =
          std::max(0.0, deadline_.seconds_left()) / static_cast<double>(std::max<std::size_t>(1, left));
    return one;
  }

 private:
  Budget budget_;
  bool shared_;
  Deadline deadline_;
};

struct GridHeadroom {
  const std::vector<GridTarget>& problems;
  const FamilyOptions& family;
  SharedBudget budget;
  bool json = false;
};

// Prints a row for each problem under each rule set; returns the exit code.
int headroom_grid(const GridHeadroom& command);

}  // namespace fuselage::cli
