#include "fuselage/oracle/explain.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/walk/plan_json.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(One row a kernel: its nodes and tile, the tensors it loads, stores and retains, its compute and memory
cycles, and which side of the roofline it is on: latency = max(compute, memory) + launch. The working
set is the fast memory it needs, against the capacity. Cycles, bytes; tensors are named by their nodes.

Exit code: 0, or 1 if the plan is illegal (the table ends at the kernel at fault), 2 for bad input.

Examples:
  fuselage explain out/task4_mixed.json
  fuselage explain out/task4_mixed.json --json)";

struct ExplainCommand {
  std::string file;
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

int explain(const ExplainCommand& command) {
  const walk::PlanFile plan = walk::read_plan(read_file(command.file), source_name(command.file));
  const Graph& graph = plan.workload.graph;
  const Hardware& hardware = plan.workload.hardware;
  const oracle::Simulation simulation =
      oracle::simulate(graph, hardware, plan.kernels, {.rules = plan.rules, .order = plan.order});
  if (command.json) {
    nlohmann::ordered_json json = {
        {"name", plan.workload.name}, {"rules", name(plan.rules)}, {"order", name(plan.order)}};
    json.update(oracle::explain_json(graph, hardware, plan.kernels, simulation));
    write_stdout(json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  } else {
    write_stdout(heading(plan) + oracle::explain_table(graph, hardware, plan.kernels, simulation));
  }
  return simulation.legal() ? exit_ok : exit_negative;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("explain", "Show where the cycles of a plan go, kernel by kernel");
  command.footer(footer);
  auto options = std::make_shared<ExplainCommand>();
  command
      .add_option("PLAN", options->file, "a plan file, as 'fuselage search --out' writes it; '-' for stdin")
      ->required()
      ->option_text(" ");
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] { exit_code = explain(*options); });
}

}  // namespace fuselage::cli
