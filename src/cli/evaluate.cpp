#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "grid_judge.h"
#include "grid_kernels.h"
#include "options.h"
#include "report_cells.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

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

struct EvaluateCommand {
  std::string problem;
  std::string solution;
  GridJudgeOptions judge = {};
  bool json = false;
};

std::string text_of(const GridJudge& judge, const GridVerdict& verdict) {
  std::string text;
  if (!verdict.evaluation.kernels.empty())
    text = grid_kernels_table(judge.instance.machine(), verdict.file, verdict.evaluation) + '\n';
  return text + grid_verdict_text(judge, verdict);
}

std::string json_of(const GridJudge& judge, const GridVerdict& verdict) {
  const grid::Evaluation& evaluation = verdict.evaluation;
  ordered_json json = {{"problem", judge.source},
                       {"solution", verdict.source},
                       {"rules", name(judge.rules.set)},
                       {"compute", name(judge.rules.compute)},
                       {"co_consumers", judge.rules.co_consumers},
                       {"valid", evaluation.valid()},
                       {"latency", nullptr},
                       {"violation", violation_json(evaluation, "fault")},
                       {"stated_differ", verdict.differing},
                       {"kernels", grid_kernels_json(judge.instance.machine(), verdict.file, evaluation)}};
  if (evaluation.valid()) json["latency"] = evaluation.latency;
  add_scores(json, verdict);
  return dump(json);
}

int evaluate(const EvaluateCommand& command) {
  if (command.problem == "-" && command.solution == "-")
    fail("PROBLEM and SOLUTION: both are '-'; expected a file for one of them");
  const GridJudge judge = read_grid_judge(command.problem, command.judge);
  const GridVerdict verdict =
      judge_grid_plan(judge, read_file(command.solution), source_name(command.solution));
  write_stdout(command.json ? json_of(judge, verdict) : text_of(judge, verdict));
  return verdict.passes() ? exit_ok : exit_negative;
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("evaluate", "Judge a solution of the tile-grid family, kernel by kernel");
  command.footer(footer);
  auto options = std::make_shared<EvaluateCommand>();
  add_argument(command, "PROBLEM", "a problem in the contest's JSON, '-' for stdin, or a task of fusionops",
               options->problem)
      ->required();
  add_argument(command, "SOLUTION", "a solution in the contest's JSON; '-' for stdin", options->solution)
      ->required();
  add_grid_judge_options(command, options->judge);
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] { exit_code = evaluate(*options); });
}

}  // namespace fuselage::cli
