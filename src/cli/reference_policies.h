// Agents that everybody can beat or should, to set a policy's figures beside: the constant policies, greedy's
// groups, the heuristic, and the optimum; each as the answers that it gives on a workload.
#pragma once

#include <string>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/graph/graph.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/rules.h"

namespace fuselage::cli {

struct ReferencePolicy {
  std::string name;
  std::vector<std::string> answers;
};

struct References {
  oracle::Solution optimum;
  std::vector<ReferencePolicy> policies;  // those of oracle::policies(), and the optimum last if it was found
};

// `rules` must have episodes; the budget is of the search for the optimum.
References reference_policies(const Workload& workload, walk::Rules rules, const Budget& budget);

}  // namespace fuselage::cli
