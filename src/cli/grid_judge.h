// How commands have the plans of a grid problem judged: the problem and the rules that the command line
// names, what the judge says of a plan, and how that is told. A solution in the contest's JSON names neither
// its problem nor its rules, so both come with the command.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/rules.h"
#include "grid_report.h"

namespace CLI {
class App;
}

namespace fuselage::cli {

// --rules, --compute and --co-consumers, as they were given.
struct GridJudgeOptions {
  std::optional<grid::RuleSet> rules = {};
  grid::Compute compute = grid::Compute::k;
  bool co_consumers = false;
  const CLI::App* app = nullptr;  // whose options these are
};
// `options` must live as long as `app`.
void add_grid_judge_options(CLI::App& app, GridJudgeOptions& options);

struct GridJudge {
  std::string source;  // of the problem, for messages
  grid::Instance instance;
  grid::Rules rules = {};
};
// `problem` is a file, "-" or the name of a task; a task's rules are fusionops-honest unless others are
// given, a file's mlsys. Error for a flag that the rules don't have, and for shapes that they refuse.
GridJudge read_grid_judge(const std::string& problem, const GridJudgeOptions& options);

struct GridVerdict {
  std::string source;  // of the plan
  grid::PlanFile file;
  grid::Evaluation evaluation;
  std::vector<std::size_t> differing = {};  // kernels that state another latency than they take
  std::optional<GridScores> scores = {};    // of a legal plan under the rules of fusionops

  bool passes() const { return evaluation.valid() && differing.empty(); }
};
// Error, with the names of both files, for what the judge refuses to judge.
GridVerdict judge_grid_plan(const GridJudge& judge, std::string_view text, const std::string& source);

// "1 of 2 differ; kernel 1 states 10.0 and takes 12.0"; empty if none does.
std::string differing_text(const GridVerdict& verdict);
// Whether it is legal, and what it takes, its scores, and what differs: a line each.
std::string grid_verdict_text(const GridJudge& judge, const GridVerdict& verdict);
// Adds the scores to a document, if there are any.
void add_scores(nlohmann::ordered_json& json, const GridVerdict& verdict);
// {code_key: "OOM", kernel, message}; null for a legal plan.
nlohmann::ordered_json violation_json(const grid::Evaluation& evaluation, const char* code_key);

}  // namespace fuselage::cli
