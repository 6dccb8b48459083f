// Plan files of either family as what there is to see of them, for `report` and `export`.
#pragma once

#include <string>
#include <vector>

#include "fuselage/report/page.h"
#include "plan_family.h"

namespace fuselage::cli {

struct PlanViewOptions {
  std::vector<std::string> files = {};
  GridPlanOptions grid = {};
  bool greedy = false;  // and greedy's plan of each graph, under the rules of the first of its plans
};

// Plans of one graph and machine together, in the order in which the files name them. A plan is called after
// its file; where two of one graph would be called alike, after its path.
std::vector<report::PageGraph> read_plan_views(const PlanViewOptions& options);

// Error if what is written would replace one of the files that are read.
void refuse_overwriting(const std::string& out, const std::vector<std::string>& files);

// Adds the lines of `search --log` to the graphs that they are about. Error, which names the line, for what
// is no such log, and for one that is about none of the graphs.
void add_search_log(const std::string& path, std::vector<report::PageGraph>& graphs);

}  // namespace fuselage::cli
