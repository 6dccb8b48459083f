#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/claims.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/walk/plan_json.h"
#include "grid_judge.h"
#include "options.h"
#include "plan_family.h"
#include "report_cells.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* footer =
    R"(Prices each plan anew from the rules alone, with none of the code that finds plans. A plan passes if
it is legal, costs what it claims, and claims no bound that its own cost refutes, both within 1e-9 relative;
it may claim to be optimal if its bound meets its cost within as much.
If it has actions, they are played, and have to cost the same. Latencies are in cycles.

Plans of a grid problem are solutions in the contest's JSON; --problem names the problem, --rules and its
flags how they are judged. One passes if it is legal and every kernel takes what the file states, within
1e-9 relative; 'fuselage evaluate' shows the kernels of one.

Exit code: 0 every plan passes; 1 a plan fails; 2 a file can't be read.

Examples:
  fuselage check out/task1_chain.json
  fuselage check out/*.json --json
  fuselage check solutions/*.json --problem problem.json --compute native-k
  fuselage check plan.json --problem task3_matmul --rules fusionops)";

struct CheckCommand {
  std::vector<std::string> files;
  GridPlanOptions grid = {};
  bool json = false;
};

// Of one plan.
struct Verdict {
  bool passes = false;
  bool overflows = false;
  std::string line = {};
  ordered_json json = {};
};

ordered_json verdict_json(const std::string& file, const std::string& problem) {
  return {{"file", file}, {"ok", problem.empty()}, {"problem", text_or_null(problem)}};
}

Verdict check_walk(const std::string& text, const std::string& source) {
  const walk::PlanFile plan = walk::read_plan(text, source);
  const oracle::Simulation simulation = oracle::simulate(
      plan.workload.graph, plan.workload.hardware, plan.kernels, {.rules = plan.rules, .order = plan.order});
  const std::string problem = oracle::false_claim(plan, simulation);
  const int overflows = oracle::overflows(simulation);
  Verdict verdict{.passes = problem.empty(), .json = verdict_json(source, problem)};
  verdict.line = fmt::format("{}: {}\n", source, problem);
  if (verdict.passes)
    verdict.line = fmt::format("{}: ok, {} cycles as claimed ({} kernels, {}rules {}, order {})\n", source,
                               cycles(simulation.latency), plan.kernels.size(),
                               overflows == 0 ? "" : oracle::overflow_words(overflows) + ", ",
                               name(plan.rules), name(plan.order));
  ordered_json& json = verdict.json;
  json["fault"] = nullptr;
  if (const auto& fault = simulation.fault) {
    json["fault"] = {{"code", name(fault->code)}, {"kernel", nullptr}, {"message", fault->message}};
    if (fault->kernel) json["fault"]["kernel"] = *fault->kernel;
  }
  json["latency"] = simulation.legal() ? ordered_json(simulation.latency) : ordered_json(nullptr);
  json["claimed_latency"] = plan.latency;
  json["rules"] = name(plan.rules);
  json["order"] = name(plan.order);
  json["kernels"] = plan.kernels.size();
  json["overflows"] = overflows;
  verdict.overflows = verdict.passes && overflows > 0;
  return verdict;
}

std::string problem_of(const GridVerdict& plan) {
  if (const auto& violation = plan.evaluation.violation)
    return fmt::format("illegal, {}: {}", fault_name(violation->fault), violation->message);
  return plan.differing.empty() ? "" : fmt::format("subgraph_latencies: {}", differing_text(plan));
}

Verdict check_grid(const GridJudge& judge, const std::string& text, const std::string& source) {
  const GridVerdict plan = judge_grid_plan(judge, text, source);
  const grid::Evaluation& evaluation = plan.evaluation;
  const std::vector<double>& stated = plan.file.latencies;
  const std::string problem = problem_of(plan);
  Verdict verdict{.passes = plan.passes(), .json = verdict_json(source, problem)};
  verdict.line = fmt::format("{}: {}\n", source, problem);
  if (verdict.passes)
    verdict.line = fmt::format("{}: ok, {} time units{} ({} kernels, rules {})\n", source,
                               cycles(evaluation.latency), stated.empty() ? "" : " as stated",
                               plan.file.plan.kernels.size(), grid::rules_text(judge.rules));
  ordered_json& json = verdict.json;
  json["fault"] = violation_json(evaluation, "code");
  json["latency"] = evaluation.valid() ? ordered_json(evaluation.latency) : ordered_json(nullptr);
  json["claimed_latency"] = nullptr;
  if (!stated.empty()) json["claimed_latency"] = std::accumulate(stated.begin(), stated.end(), 0.0);
  json["rules"] = name(judge.rules.set);
  json["compute"] = name(judge.rules.compute);
  json["co_consumers"] = judge.rules.co_consumers;
  json["kernels"] = plan.file.plan.kernels.size();
  add_scores(json, plan);
  return verdict;
}

int check(const CheckCommand& command) {
  refuse_two_stdins(command.grid, command.files);
  std::optional<GridJudge> judge;
  if (!command.grid.problem.empty()) judge = read_grid_judge(command.grid.problem, command.grid.judge);
  int exit_code = exit_ok;
  ordered_json results = ordered_json::array();
  std::string lines;
  bool overflows = false;
  for (const std::string& path : command.files) {
    const std::string source = source_name(path);
    try {
      const std::string text = read_file(path);
      Verdict verdict = is_grid_plan(command.grid, text, source) ? check_grid(*judge, text, source)
                                                                 : check_walk(text, source);
      if (!verdict.passes) exit_code = std::max(exit_code, exit_negative);
      lines += verdict.line;
      overflows = overflows || verdict.overflows;
      results.push_back(std::move(verdict.json));
    } catch (const Error& error) {
      print_error(error.what());
      results.push_back(verdict_json(source, error.what()));
      exit_code = exit_bad_input;
    }
  }
  if (overflows) lines += oracle::overflow_meaning() + ".\n";
  write_stdout(command.json ? dump({{"plans", results}}) : lines);
  return exit_code;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("check", "Price plans anew from the rules alone, and compare");
  command.footer(footer);
  auto options = std::make_shared<CheckCommand>();
  add_arguments(command, "PLAN", "plan files, as 'fuselage search --out' writes them; '-' for stdin",
                options->files)
      ->required();
  add_grid_plan_options(command, options->grid);
  command.add_flag("--json", options->json, "one JSON document instead of a line a plan");
  command.callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace fuselage::cli
