// `search --pareto`: the front of each graph instead of its fastest plan.
#pragma once

#include <string>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/oracle/pareto.h"

namespace fuselage::cli {

struct FrontSearch {
  oracle::ParetoOptions options;
  std::vector<std::string> paths;  // a graph: of its plans, to be numbered; empty: none are written
  bool json = false;
};

// Prints the fronts; returns the exit code. Stops between two graphs if the budget's cancel is set.
int search_fronts(const std::vector<Workload>& workloads, const FrontSearch& search);

}  // namespace fuselage::cli
