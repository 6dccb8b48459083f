#include "fuselage/oracle/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli.h"
#include "fuselage/core/files.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/walk/plan_json.h"
#include "grid_judge.h"
#include "grid_kernels.h"
#include "options.h"
#include "plan_family.h"
#include "report_cells.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(One row a kernel: its nodes and tile, the tensors it loads, stores and retains, its compute and memory
cycles, and which side of the roofline it is on: latency = max(compute, memory) + launch. The working
set is the fast memory it needs, against the capacity. Cycles, bytes; tensors are named by their nodes.

A plan of a grid problem is a solution in the contest's JSON; --problem names the problem, and --rules and
its flags how it is judged, as in 'fuselage evaluate'. One row a kernel: its ops, granularity and order of
tiles, the elements it loads and stores, what it retains, its compute and memory time. An iteration takes
the longer of the two; bound says which side that is, or both, if each is in some iterations. The last
lines say how much of the latency each side decides. Time units, elements.

Exit code: 0, or 1 if the plan is illegal (the table ends at the kernel at fault), 2 for bad input.

Examples:
  fuselage explain out/task4_mixed.json
  fuselage explain out/task4_mixed.json --json
  fuselage explain solution.json --problem problem.json
  fuselage search task3_matmul --out plan.json && fuselage explain plan.json --problem task3_matmul)";

struct ExplainCommand {
  std::string file;
  GridPlanOptions grid = {};
  bool json = false;
};

std::string heading(const walk::PlanFile& plan) {
  const Hardware& hardware = plan.workload.hardware;
  return fmt::format(
      "{}: {} ops in {} kernels; rules {}, order {}\n"
      "machine: {} B of fast memory, {} B per cycle, {} cycles a launch, up to {} nodes a kernel\n\n",
      plan.workload.name, grouped(std::int64_t{plan.workload.graph.size()}),
      grouped(static_cast<std::uint64_t>(plan.kernels.size())), name(plan.rules), name(plan.order),
      grouped(hardware.fast_mem_capacity), hardware.slow_mem_bandwidth, hardware.kernel_launch_cost,
      hardware.max_fusion_depth);
}

int explain_walk(const ExplainCommand& command, const std::string& text) {
  const walk::PlanFile plan = walk::read_plan(text, source_name(command.file));
  const Graph& graph = plan.workload.graph;
  const Hardware& hardware = plan.workload.hardware;
  const oracle::Simulation simulation =
      oracle::simulate(graph, hardware, plan.kernels, {.rules = plan.rules, .order = plan.order});
  if (command.json) {
    nlohmann::ordered_json json = {
        {"name", plan.workload.name}, {"rules", name(plan.rules)}, {"order", name(plan.order)}};
    json.update(oracle::explain_json(graph, hardware, plan.kernels, simulation));
    write_stdout(dump(json));
  } else {
    write_stdout(heading(plan) + oracle::explain_table(graph, hardware, plan.kernels, simulation) +
                 oracle::overflow_line(oracle::overflows(simulation)));
  }
  return simulation.legal() ? exit_ok : exit_negative;
}

std::string heading(const GridJudge& judge, const GridVerdict& verdict) {
  const grid::Machine& machine = judge.instance.machine();
  return fmt::format(
      "{}: {} ops in {} kernels of {}; rules {}\n"
      "machine: {} elements of fast memory, {} elements per time unit, native {} x {}\n\n",
      judge.source, grouped(std::int64_t{judge.instance.op_count()}),
      grouped(std::uint64_t{verdict.file.plan.kernels.size()}), verdict.source, grid::rules_text(judge.rules),
      grouped(machine.capacity), machine.bandwidth, machine.native_width, machine.native_height);
}

nlohmann::ordered_json json_of(const GridJudge& judge, const GridVerdict& verdict) {
  const grid::Machine& machine = judge.instance.machine();
  const grid::Evaluation& evaluation = verdict.evaluation;
  nlohmann::ordered_json json = {{"problem", judge.source},
                                 {"solution", verdict.source},
                                 {"rules", name(judge.rules.set)},
                                 {"compute", name(judge.rules.compute)},
                                 {"co_consumers", judge.rules.co_consumers},
                                 {"legal", evaluation.valid()}};
  if (!evaluation.valid()) json["fault"] = violation_json(evaluation, "code");
  json["capacity"] = machine.capacity;
  json["bandwidth"] = machine.bandwidth;
  json["kernels"] = grid_kernels_json(machine, verdict.file, evaluation);
  json["totals"] = grid_totals_json(judge.instance, verdict.file, evaluation);
  add_scores(json, verdict);
  return json;
}

int explain_grid(const ExplainCommand& command, const std::string& text) {
  const GridJudge judge = read_grid_judge(command.grid.problem, command.grid.judge);
  const GridVerdict verdict = judge_grid_plan(judge, text, source_name(command.file));
  if (command.json)
    write_stdout(dump(json_of(judge, verdict)));
  else
    write_stdout(heading(judge, verdict) +
                 grid_explain_table(judge.instance, verdict.file, verdict.evaluation) + '\n' +
                 grid_verdict_text(judge, verdict) +
                 grid_limits_text(judge.instance.machine(), verdict.evaluation));
  return verdict.evaluation.valid() ? exit_ok : exit_negative;
}

int explain(const ExplainCommand& command) {
  refuse_two_stdins(command.grid, {command.file});
  const std::string text = read_file(command.file);
  return is_grid_plan(command.grid, text, source_name(command.file)) ? explain_grid(command, text)
                                                                     : explain_walk(command, text);
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("explain", "Show where the cycles of a plan go, kernel by kernel");
  command.footer(footer);
  auto options = std::make_shared<ExplainCommand>();
  add_argument(command, "PLAN", "a plan file, as 'fuselage search --out' writes it; '-' for stdin",
               options->file)
      ->required();
  add_grid_plan_options(command, options->grid);
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] { exit_code = explain(*options); });
}

}  // namespace fuselage::cli
