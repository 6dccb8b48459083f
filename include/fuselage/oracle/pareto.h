// All that can be had of two goods at once: the plans than which none is both faster and moves less. Where a
// weighted sum (walk/price.h) finds only the corners of the convex hull, this finds every point: the fastest
// plan, then again and again the fastest that moves less than the one before, until there is none (the
// epsilon-constraint method).
#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/graph/graph.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

struct ParetoPoint {
  double latency = 0;            // cycles, as simulate prices the plan
  std::int64_t bytes_moved = 0;  // by the whole plan
  walk::Plan plan;
  int overflows = 0;  // kernels that need more than fast memory (overflow.h)
  // Of: no plan that moves at most so many bytes is faster; and of the least latency of such plans.
  search::Proof proof = search::Proof::none;
  double lower_bound = 0;  // cycles
};

struct ParetoFront {
  std::vector<ParetoPoint> points;  // by latency, ascending; each moves less than the one before
  // Of the front as a whole: optimal if every point is, and there is none between, before or after them.
  search::Proof proof = search::Proof::optimal;
  StopReason stop = StopReason::exhausted;  // of the first search that its budget ended
  std::uint64_t steps = 0;                  // kernels priced
  std::uint64_t states = 0;                 // states expanded
  double seconds = 0;
};

struct ParetoOptions {
  walk::Rules rules = walk::Rules::seed_honest;
  walk::Order order = walk::Order::fixed;
  Budget budget = {};  // of each point
  int threads = 1;
  search::Monitor* monitor = nullptr;
};

// Latency against bytes moved. Without points: there is no schedule, or no budget for one (see proof). A plan
// that simulate rejects or prices otherwise is an internal error: std::logic_error.
ParetoFront pareto_traffic(const Workload& workload, const ParetoOptions& options);

// Which points a weighted sum of the two goods can find: those on the lower convex hull.
std::vector<bool> on_convex_hull(const std::vector<ParetoPoint>& points);

}  // namespace fuselage::oracle
