// Plans of both families as one argument. A walk plan holds its graph and its rules; a grid plan is the
// contest's solution, which names neither, so that its problem and rules are options beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grid_judge.h"

namespace fuselage::cli {

// --problem, --rules, --compute and --co-consumers, as they were given.
struct GridPlanOptions {
  std::string problem = {};  // empty: the plans are of walk graphs
  GridJudgeOptions judge = {};
};
// `options` must live as long as `app`.
void add_grid_plan_options(CLI::App& app, GridPlanOptions& options);

// Tells the family of a plan by its fields. Error for a grid plan without --problem, and for a walk plan with
// one of the options.
bool is_grid_plan(const GridPlanOptions& options, std::string_view text, const std::string& source);

// Error if the problem and one of the plans, or two of these, are the standard input.
void refuse_two_stdins(const GridPlanOptions& options, const std::vector<std::string>& plans);

}  // namespace fuselage::cli
