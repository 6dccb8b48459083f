// A grid problem's plan that gets better while somebody waits for it: every op alone at once, then the greedy
// plan, narrow beams, and local improvement until the time is up. Each better plan is handed over as soon as
// it is found and judged.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"
#include "fuselage/grid/rules.h"

namespace fuselage::oracle {

struct GridAnytimeOptions {
  grid::Rules rules = {};
  double wall_seconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancel = nullptr;
  std::uint64_t seed = 0;
  // Called with every better plan and what the judge makes of it.
  std::function<void(const grid::Plan&, const grid::Evaluation&)> found = {};
};

// Returns when the time is up, on cancel, or when the plan is proven optimal. Throws Error if an op fits fast
// memory at no granularity.
void improve_grid(const grid::Instance& instance, const GridAnytimeOptions& options);

}  // namespace fuselage::oracle
