#include "plan_family.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "families.h"
#include "fuselage/core/error.h"
#include "options.h"

namespace fuselage::cli {

void add_grid_plan_options(CLI::App& app, GridPlanOptions& options) {
  const auto set = [&options](const std::string& text) {
    if (text.empty()) fail("--problem: \"\" is no problem; expected a file, or a task of fusionops");
    options.problem = text;
  };
  add_text(app,
           {"--problem", "PROBLEM",
            "of grid plans: the problem, a file in the contest's JSON, '-' for stdin,\n"
            "or a task of fusionops"},
           set);
  add_grid_judge_options(app, options.judge);
}

bool is_grid_plan(const GridPlanOptions& options, std::string_view text, const std::string& source) {
  const bool is_grid = has_field(text, "subgraphs");
  if (is_grid && options.problem.empty())
    fail("{}: is a solution of a grid problem, which doesn't name its problem; expected --problem with it",
         source);
  if (is_grid) return true;
  for (const char* flag : {"--problem", "--rules", "--compute", "--co-consumers"})
    if (options.judge.app->count(flag) > 0)
      fail("{}: is about grid plans, but {} has no \"subgraphs\"; expected a solution in the contest's JSON",
           flag, source);
  return false;
}

void refuse_two_stdins(const GridPlanOptions& options, const std::vector<std::string>& plans) {
  const auto stdins = std::count(plans.begin(), plans.end(), "-");
  if (stdins > 0 && options.problem == "-")
    fail("--problem and PLAN: both are '-'; expected a file for one of them");
  if (stdins > 1) fail("PLAN: '-' is given {} times; expected it once", stdins);
}

}  // namespace fuselage::cli
