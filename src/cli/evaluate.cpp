#include "fuselage/grid/evaluate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/problem_json.h"
#include "grid_kernels.h"
#include "grid_report.h"
#include "options.h"
#include "report_cells.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using grid::Evaluation;
using nlohmann::ordered_json;

constexpr const char* footer =
    R"(Runs every kernel tile by tile and k-step by k-step, by the rules alone, and says what it takes or which
rule it breaks first. Both files are the MLSys 2026 contest's JSON: a problem with its machine, and the
parallel lists of a solution (traversal_orders and subgraph_latencies may be missing). If the solution
states latencies they are compared, within 1e-9 relative. Time units and elements, as in the problem.
Under the rules of fusionops a legal plan has a score too.

Exit code: 0 the plan is legal, and takes what it states; 1 it is not, or takes another time; 2 bad
input.

Examples:
  fuselage evaluate problem.json solution.json
  fuselage evaluate problem.json solution.json --compute native-k --json
  fuselage evaluate problem.json - --rules fusionops-honest < solution.json
  fuselage search task3_matmul --out plan.json && fuselage evaluate task3_matmul plan.json)";

constexpr double tolerance = 1e-9;  // relative

struct EvaluateCommand {
  std::string problem;
  std::string solution;
  grid::Rules rules = {};
  bool json = false;
};

struct Verdict {
  const EvaluateCommand& command;
  const grid::PlanFile& file;
  const Evaluation& evaluation;
  std::vector<std::size_t> differing = {};  // kernels that state another latency than they take
  std::optional<GridScores> scores = {};    // of a legal plan under the rules of fusionops

  bool passes() const { return evaluation.valid() && differing.empty(); }
};

bool is_stated(double stated, double taken) {
  return std::abs(stated - taken) <= tolerance * std::max(std::abs(stated), std::abs(taken));
}

std::vector<std::size_t> differing_kernels(const grid::PlanFile& file, const Evaluation& evaluation) {
  std::vector<std::size_t> differing;
  for (std::size_t i = 0; i < std::min(file.latencies.size(), evaluation.kernels.size()); ++i)
    if (!is_stated(file.latencies[i], evaluation.kernels[i].latency)) differing.push_back(i);
  return differing;
}

std::string stated_text(const Verdict& verdict) {
  if (verdict.differing.empty()) return {};
  const std::size_t first = verdict.differing.front();
  return fmt::format("subgraph_latencies: {} of {} differ; kernel {} states {} and takes {}\n",
                     verdict.differing.size(), verdict.file.latencies.size(), first,
                     json_number(verdict.file.latencies[first]),
                     json_number(verdict.evaluation.kernels[first].latency));
}

std::string text_of(const Verdict& verdict) {
  const Evaluation& evaluation = verdict.evaluation;
  std::string text;
  if (!evaluation.kernels.empty()) text = grid_kernels_table(verdict.file, evaluation) + '\n';
  if (const auto& violation = evaluation.violation) {
    text += fmt::format("illegal, {}: {} (rules {})\n", fault_name(violation->fault), violation->message,
                        grid::rules_text(verdict.command.rules));
  } else {
    text += fmt::format("legal: {} time units in {} kernels (rules {})\n", cycles(evaluation.latency),
                        evaluation.kernels.size(), grid::rules_text(verdict.command.rules));
  }
  if (const auto& scores = verdict.scores)
    text += fmt::format("score {:.3f} of a naive latency of {}; as the environment's README counts, {:.3f}\n",
                        scores->score.value_or(0), cycles(scores->naive_latency),
                        scores->readme_score.value_or(0));
  return text + stated_text(verdict);
}

std::string json_of(const Verdict& verdict) {
  const EvaluateCommand& command = verdict.command;
  const Evaluation& evaluation = verdict.evaluation;
  ordered_json json = {{"problem", source_name(command.problem)},
                       {"solution", source_name(command.solution)},
                       {"rules", name(command.rules.set)},
                       {"compute", name(command.rules.compute)},
                       {"co_consumers", command.rules.co_consumers},
                       {"valid", evaluation.valid()},
                       {"latency", nullptr},
                       {"violation", nullptr},
                       {"stated_differ", verdict.differing},
                       {"kernels", grid_kernels_json(verdict.file, evaluation)}};
  if (evaluation.valid()) json["latency"] = evaluation.latency;
  if (const auto& violation = evaluation.violation) {
    json["violation"] = {
        {"fault", fault_name(violation->fault)}, {"kernel", nullptr}, {"message", violation->message}};
    if (violation->kernel) json["violation"]["kernel"] = *violation->kernel;
  }
  if (const auto& scores = verdict.scores) {
    json["naive_latency"] = scores->naive_latency;
    json["score"] = number_or_null(scores->score);
    json["readme_score"] = number_or_null(scores->readme_score);
  }
  return dump(json);
}

// What the judge refuses to judge is a matter of the files.
Evaluation judged(const EvaluateCommand& command, const grid::Instance& instance, const grid::Plan& plan) {
  try {
    return grid::evaluate(instance, command.rules, plan);
  } catch (const Error& error) {
    fail("{}, {}: {}", source_name(command.problem), source_name(command.solution), error.what());
  }
}

int evaluate(const EvaluateCommand& command) {
  if (command.problem == "-" && command.solution == "-")
    fail("PROBLEM and SOLUTION: both are '-'; expected a file for one of them");
  const grid::FusionopsTask* task = grid::find_fusionops_task(command.problem);
  const grid::Instance instance = task ? task->instance : grid::read_problem_file(command.problem);
  const grid::PlanFile file = grid::read_plan_file(command.solution);
  const Evaluation evaluation = judged(command, instance, file.plan);
  Verdict verdict{.command = command,
                  .file = file,
                  .evaluation = evaluation,
                  .differing = differing_kernels(file, evaluation)};
  if (evaluation.valid()) verdict.scores = scores_of(instance, command.rules, evaluation.latency);
  write_stdout(command.json ? json_of(verdict) : text_of(verdict));
  return verdict.passes() ? exit_ok : exit_negative;
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("evaluate", "Judge a solution of the tile-grid family, kernel by kernel");
  command.footer(footer);
  auto options = std::make_shared<EvaluateCommand>();
  command
      .add_option("PROBLEM", options->problem,
                  "a problem in the contest's JSON, '-' for stdin, or a task of fusionops")
      ->required()
      ->option_text(" ");
  command.add_option("SOLUTION", options->solution, "a solution in the contest's JSON; '-' for stdin")
      ->required()
      ->option_text(" ");
  CLI::Option* rules = add_choice(
      command,
      {"--rules", "RULES", "fusionops, fusionops-honest (default of tasks), or mlsys (default of files)"},
      grid::rule_set_names, options->rules.set);
  CLI::Option* compute = add_choice(
      command,
      {"--compute", "WHAT", "a matmul's k-step costs base * k / K (k, default) or / native width (native-k)"},
      grid::compute_names, options->rules.compute);
  CLI::Option* co_consumers = command.add_flag("--co-consumers", options->rules.co_consumers,
                                               "ops that only share an input may form a kernel");
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, rules, compute, co_consumers, &exit_code] {
    if (rules->count() == 0 && grid::find_fusionops_task(options->problem) != nullptr)
      options->rules.set = grid::RuleSet::fusionops_honest;
    for (const CLI::Option* option : {compute, co_consumers})
      if (option->count() > 0 && options->rules.set != grid::RuleSet::mlsys)
        fail("{}: does not exist under the rules {}; expected --rules mlsys", option->get_name(),
             name(options->rules.set));
    exit_code = evaluate(*options);
  });
}

}  // namespace fuselage::cli
