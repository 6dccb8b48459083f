// The optimum that rows are compared with: found by the exact engine, priced anew by the independent check.
#pragma once

#include <optional>

#include "fuselage/core/json.h"
#include "fuselage/walk/problem.h"
#include "replay_row.h"

namespace fuselage::oracle {

struct Proven {
  walk::Plan plan;
  double cost = 0;  // cycles, as the engine claims
};

// Our optimum of a workload, or why there is none. What can't be vouched for is a difference at `optimum`: a
// plan without proof, one that the check finds illegal, or one that it prices otherwise, by as little as one
// bit.
struct Answer {
  std::optional<Proven> proven;
  std::optional<walk::WalkProblem::Infeasible> infeasible;
};
Answer prove(const Workload& workload, const walk::ProblemOptions& options, const JsonField& optimum,
             RowCheck& check);

}  // namespace fuselage::oracle
