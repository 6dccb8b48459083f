#include "grid_judge.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "families.h"
#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/problem_json.h"
#include "options.h"
#include "report_cells.h"
#include "units.h"

namespace fuselage::cli {
namespace {

std::vector<std::size_t> differing_kernels(const grid::PlanFile& file, const grid::Evaluation& evaluation) {
  std::vector<std::size_t> differing;
  for (std::size_t i = 0; i < std::min(file.latencies.size(), evaluation.kernels.size()); ++i)
    if (!agree(file.latencies[i], evaluation.kernels[i].latency)) differing.push_back(i);
  return differing;
}

grid::Rules rules_of(const GridJudgeOptions& options, bool is_task) {
  const grid::RuleSet usual = is_task ? grid::RuleSet::fusionops_honest : grid::RuleSet::mlsys;
  const grid::RuleSet set = options.rules.value_or(usual);
  for (const char* flag : {"--compute", "--co-consumers"})
    if (options.app->count(flag) > 0 && set != grid::RuleSet::mlsys)
      fail("{}: does not exist under the rules {}; expected --rules mlsys", flag, name(set));
  return {.set = set, .compute = options.compute, .co_consumers = options.co_consumers};
}

}  // namespace

void add_grid_judge_options(CLI::App& app, GridJudgeOptions& options) {
  options.app = &app;
  const auto set_rules = [&options](const std::string& text) {
    options.rules = grid::parse_rule_set(text);
    if (!options.rules)
      fail("--rules: {} is unknown; expected one of {}", quote(text), join_names(grid::rule_set_names));
  };
  add_form(
      app,
      {"--rules", "RULES", "fusionops, fusionops-honest (default of tasks), or mlsys (default of files)"},
      set_rules);
  add_choice(
      app,
      {"--compute", "WHAT", "a matmul's k-step costs base * k / K (k, default) or / native width (native-k)"},
      grid::compute_names, options.compute);
  app.add_flag("--co-consumers", options.co_consumers, "ops that only share an input may form a kernel");
}

GridJudge read_grid_judge(const std::string& problem, const GridJudgeOptions& options) {
  const grid::FusionopsTask* task = grid::find_fusionops_task(problem);
  GridJudge judge{.source = source_name(problem),
                  .instance = task ? task->instance : grid::read_problem_file(problem),
                  .rules = rules_of(options, task != nullptr)};
  if (task == nullptr) check_grid_shapes(judge.instance, judge.rules, judge.source);
  return judge;
}

GridVerdict judge_grid_plan(const GridJudge& judge, std::string_view text, const std::string& source) {
  GridVerdict verdict{.source = source, .file = grid::read_plan(text, source), .evaluation = {}};
  try {
    verdict.evaluation = grid::evaluate(judge.instance, judge.rules, verdict.file.plan);
  } catch (const Error& error) {
    fail("{}, {}: {}", judge.source, source, error.what());
  }
  verdict.differing = differing_kernels(verdict.file, verdict.evaluation);
  if (verdict.evaluation.valid())
    verdict.scores = scores_of(judge.instance, judge.rules, verdict.evaluation.latency);
  return verdict;
}

std::string differing_text(const GridVerdict& verdict) {
  if (verdict.differing.empty()) return {};
  const std::size_t first = verdict.differing.front();
  return fmt::format("{} of {} differ; kernel {} states {} and takes {}", verdict.differing.size(),
                     verdict.file.latencies.size(), first, json_number(verdict.file.latencies[first]),
                     json_number(verdict.evaluation.kernels[first].latency));
}

std::string grid_verdict_text(const GridJudge& judge, const GridVerdict& verdict) {
  const grid::Evaluation& evaluation = verdict.evaluation;
  std::string text;
  if (const auto& violation = evaluation.violation) {
    text = fmt::format("illegal, {}: {} (rules {})\n", fault_name(violation->fault), violation->message,
                       grid::rules_text(judge.rules));
  } else {
    text = fmt::format("legal: {} time units in {} kernels (rules {})\n", cycles(evaluation.latency),
                       evaluation.kernels.size(), grid::rules_text(judge.rules));
  }
  if (const auto& scores = verdict.scores)
    text += fmt::format("score {:.3f} of a naive latency of {}; as the environment's README counts, {:.3f}\n",
                        scores->score.value_or(0), cycles(scores->naive_latency),
                        scores->readme_score.value_or(0));
  if (!verdict.differing.empty()) text += fmt::format("subgraph_latencies: {}\n", differing_text(verdict));
  return text;
}

void add_scores(nlohmann::ordered_json& json, const GridVerdict& verdict) {
  if (!verdict.scores) return;
  json["naive_latency"] = verdict.scores->naive_latency;
  json["score"] = number_or_null(verdict.scores->score);
  json["readme_score"] = number_or_null(verdict.scores->readme_score);
}

nlohmann::ordered_json violation_json(const grid::Evaluation& evaluation, const char* code_key) {
  if (evaluation.valid()) return nullptr;
  const grid::Violation& violation = *evaluation.violation;
  nlohmann::ordered_json json = {
      {code_key, fault_name(violation.fault)}, {"kernel", nullptr}, {"message", violation.message}};
  if (violation.kernel) json["kernel"] = *violation.kernel;
  return json;
}

}  // namespace fuselage::cli
