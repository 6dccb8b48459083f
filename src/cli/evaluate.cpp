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
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/problem_json.h"
#include "options.h"
#include "table.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using grid::Evaluation;
using grid::KernelReport;
using nlohmann::ordered_json;

constexpr const char* footer =
    R"(Runs every kernel tile by tile and k-step by k-step, by the rules alone, and says what it takes or which
rule it breaks first. Both files are the MLSys 2026 contest's JSON: a problem with its machine, and the
parallel lists of a solution (traversal_orders and subgraph_latencies may be missing). If the solution
states latencies they are compared, within 1e-9 relative. Time units and elements, as in the problem.

Exit code: 0 the plan is legal, and takes what it states; 1 it is not, or takes another time; 2 bad
input.

Examples:
  fuselage evaluate problem.json solution.json
  fuselage evaluate problem.json solution.json --compute native-k --json
  fuselage evaluate problem.json - --rules fusionops-honest < solution.json)";

constexpr double tolerance = 1e-9;  // relative
constexpr std::array<std::string_view, 2> compute_names = {"k", "native-k"};

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

std::string_view rules_name(const grid::Rules& rules) {
  return grid::rule_set_names[static_cast<std::size_t>(rules.set)];
}

std::string_view compute_name(const grid::Rules& rules) {
  return compute_names[static_cast<std::size_t>(rules.compute)];
}

// "mlsys, compute k, co-consumers"
std::string rules_text(const grid::Rules& rules) {
  std::string text(rules_name(rules));
  if (rules.set == grid::RuleSet::mlsys) text += fmt::format(", compute {}", compute_name(rules));
  if (rules.co_consumers) text += ", co-consumers";
  return text;
}

std::string ids_text(const std::vector<std::int32_t>& ids) {
  constexpr std::size_t most = 8;
  if (ids.empty()) return "-";
  if (ids.size() <= most) return fmt::format("{}", fmt::join(ids, ","));
  return fmt::format("{},... ({} in all)", fmt::join(ids.begin(), ids.begin() + most, ","), ids.size());
}

std::string table_of(const Verdict& verdict) {
  const bool states = !verdict.file.latencies.empty();
  std::vector<Column> columns = {{"kernel"},  {"ops", Align::left}, {"w x h x k"}, {"retain", Align::left},
                                 {"tiles"},   {"k-steps"},          {"compute"},   {"moved"},
                                 {"latency"}, {"working set"}};
  if (states) columns.push_back({"stated"});
  Table table(columns);
  for (std::size_t i = 0; i < verdict.evaluation.kernels.size(); ++i) {
    const grid::Kernel& kernel = verdict.file.plan.kernels[i];
    const KernelReport& report = verdict.evaluation.kernels[i];
    const grid::Granularity& tile = kernel.granularity;
    std::vector<std::string> cells = {fmt::format("{}", i),
                                      ids_text(kernel.ops),
                                      fmt::format("{} x {} x {}", tile.w, tile.h, tile.k),
                                      ids_text(kernel.retain),
                                      grouped(report.tiles),
                                      grouped(report.k_steps),
                                      cycles(report.compute),
                                      cycles(report.transferred),
                                      cycles(report.latency),
                                      grouped(report.working_set)};
    if (states) cells.push_back(cycles(verdict.file.latencies[i]));
    table.add(std::move(cells));
  }
  return verdict.evaluation.kernels.empty() ? std::string() : table.text() + '\n';
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
  std::string text = table_of(verdict);
  if (const auto& violation = evaluation.violation) {
    text += fmt::format("illegal, {}: {} (rules {})\n", fault_name(violation->fault), violation->message,
                        rules_text(verdict.command.rules));
  } else {
    text += fmt::format("legal: {} time units in {} kernels (rules {})\n", cycles(evaluation.latency),
                        evaluation.kernels.size(), rules_text(verdict.command.rules));
  }
  return text + stated_text(verdict);
}

ordered_json kernel_json(const Verdict& verdict, std::size_t i) {
  const grid::Kernel& kernel = verdict.file.plan.kernels[i];
  const KernelReport& report = verdict.evaluation.kernels[i];
  const grid::Granularity& tile = kernel.granularity;
  ordered_json json = {{"ops", kernel.ops},
                       {"granularity", {tile.w, tile.h, tile.k}},
                       {"retain", kernel.retain},
                       {"tiles", report.tiles},
                       {"k_steps", report.k_steps},
                       {"compute", report.compute},
                       {"transferred", report.transferred},
                       {"latency", report.latency},
                       {"working_set", report.working_set},
                       {"stated_latency", nullptr}};
  if (!verdict.file.latencies.empty()) json["stated_latency"] = verdict.file.latencies[i];
  return json;
}

std::string json_of(const Verdict& verdict) {
  const EvaluateCommand& command = verdict.command;
  const Evaluation& evaluation = verdict.evaluation;
  ordered_json json = {{"problem", source_name(command.problem)},
                       {"solution", source_name(command.solution)},
                       {"rules", rules_name(command.rules)},
                       {"compute", compute_name(command.rules)},
                       {"co_consumers", command.rules.co_consumers},
                       {"valid", evaluation.valid()},
                       {"latency", nullptr},
                       {"violation", nullptr},
                       {"stated_differ", verdict.differing},
                       {"kernels", ordered_json::array()}};
  if (evaluation.valid()) json["latency"] = evaluation.latency;
  if (const auto& violation = evaluation.violation) {
    json["violation"] = {
        {"fault", fault_name(violation->fault)}, {"kernel", nullptr}, {"message", violation->message}};
    if (violation->kernel) json["violation"]["kernel"] = *violation->kernel;
  }
  for (std::size_t i = 0; i < evaluation.kernels.size(); ++i)
    json["kernels"].push_back(kernel_json(verdict, i));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
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
  const grid::Instance instance = grid::read_problem_file(command.problem);
  const grid::PlanFile file = grid::read_plan_file(command.solution);
  const Evaluation evaluation = judged(command, instance, file.plan);
  const Verdict verdict{.command = command,
                        .file = file,
                        .evaluation = evaluation,
                        .differing = differing_kernels(file, evaluation)};
  write_stdout(command.json ? json_of(verdict) : text_of(verdict));
  return verdict.passes() ? exit_ok : exit_negative;
}

}  // namespace

void add_evaluate(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("evaluate", "Judge a solution of the tile-grid family, kernel by kernel");
  command.footer(footer);
  auto options = std::make_shared<EvaluateCommand>();
  command.add_option("PROBLEM", options->problem, "a problem in the contest's JSON; '-' for stdin")
      ->required()
      ->option_text(" ");
  command.add_option("SOLUTION", options->solution, "a solution in the contest's JSON; '-' for stdin")
      ->required()
      ->option_text(" ");
  add_choice(command, {"--rules", "RULES", "fusionops, fusionops-honest, or mlsys (default)"},
             grid::rule_set_names, options->rules.set);
  CLI::Option* compute = add_choice(
      command,
      {"--compute", "WHAT", "a matmul's k-step costs base * k / K (k, default) or / native width (native-k)"},
      compute_names, options->rules.compute);
  CLI::Option* co_consumers = command.add_flag("--co-consumers", options->rules.co_consumers,
                                               "ops that only share an input may form a kernel");
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, compute, co_consumers, &exit_code] {
    for (const CLI::Option* option : {compute, co_consumers})
      if (option->count() > 0 && options->rules.set != grid::RuleSet::mlsys)
        fail("{}: does not exist under the rules {}; expected --rules mlsys", option->get_name(),
             rules_name(options->rules));
    exit_code = evaluate(*options);
  });
}

}  // namespace fuselage::cli
