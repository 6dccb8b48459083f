#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/plan_json.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* footer =
    R"(Prices each plan anew from the rules alone, with none of the code that finds plans. A plan passes if
it is legal, costs what it claims within 1e-9 relative, and claims no bound that its own cost refutes.
If it has actions, they are played, and have to cost the same. Latencies are in cycles.

Exit code: 0 every plan passes; 1 a plan fails; 2 a file can't be read.

Examples:
  fuselage check out/task1_chain.json
  fuselage check out/*.json --json)";

constexpr double tolerance = 1e-9;  // relative

struct CheckCommand {
  std::vector<std::string> files;
  bool json = false;
};

struct Verdict {
  std::string file;
  walk::PlanFile plan;
  oracle::Simulation simulation;
  std::string problem;  // empty: passes
};

bool equal_cycles(double a, double b) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

// Cycles of the episode that the file's actions play.
double played_latency(const walk::PlanFile& plan) {
  const walk::EpisodeContext context(plan.workload);
  walk::Episode episode(context, {.rules = plan.rules});
  for (const walk::Action& action : plan.actions) episode.step(action);
  return episode.total_latency();
}

std::string problem_of(const walk::PlanFile& plan, const oracle::Simulation& simulation) {
  if (const auto& fault = simulation.fault)
    return fmt::format("illegal, {}: {}", name(fault->code), fault->message);
  if (!equal_cycles(plan.latency, simulation.latency))
    return fmt::format("latency: the file claims {}, the kernels take {} cycles", json_number(plan.latency),
                       json_number(simulation.latency));
  if (plan.lower_bound && *plan.lower_bound > plan.latency && !equal_cycles(*plan.lower_bound, plan.latency))
    return fmt::format("lower_bound: the file claims {}, but the plan takes only {} cycles",
                       json_number(*plan.lower_bound), json_number(simulation.latency));
  if (plan.proof == "optimal" && !(plan.lower_bound && equal_cycles(*plan.lower_bound, plan.latency)))
    return "proof: the file claims \"optimal\" without a lower_bound equal to its latency";
  if (plan.actions.empty()) return {};
  const double played = played_latency(plan);
  if (equal_cycles(played, plan.latency)) return {};
  return fmt::format("actions: they take {}, the kernels {} cycles", json_number(played),
                     json_number(simulation.latency));
}

Verdict check_file(const std::string& path) {
  const std::string source = source_name(path);
  walk::PlanFile plan = walk::read_plan(read_file(path), source);
  oracle::Simulation simulation = oracle::simulate(plan.workload.graph, plan.workload.hardware, plan.kernels,
                                                   {.rules = plan.rules, .order = plan.order});
  std::string problem = problem_of(plan, simulation);
  return {source, std::move(plan), std::move(simulation), std::move(problem)};
}

std::string line_of(const Verdict& verdict) {
  if (!verdict.problem.empty()) return fmt::format("{}: {}\n", verdict.file, verdict.problem);
  const walk::PlanFile& plan = verdict.plan;
  return fmt::format("{}: ok, {} cycles as claimed ({} kernels, rules {}, order {})\n", verdict.file,
                     cycles(verdict.simulation.latency), plan.kernels.size(), name(plan.rules),
                     name(plan.order));
}

ordered_json json_of(const Verdict& verdict) {
  const oracle::Simulation& simulation = verdict.simulation;
  ordered_json json = {{"file", verdict.file}, {"ok", verdict.problem.empty()}, {"problem", nullptr}};
  if (!verdict.problem.empty()) json["problem"] = verdict.problem;
  json["fault"] = nullptr;
  if (const auto& fault = simulation.fault) {
    json["fault"] = {{"code", name(fault->code)}, {"kernel", nullptr}, {"message", fault->message}};
    if (fault->kernel) json["fault"]["kernel"] = *fault->kernel;
  }
  json["latency"] = simulation.legal() ? ordered_json(simulation.latency) : ordered_json(nullptr);
  json["claimed_latency"] = verdict.plan.latency;
  json["rules"] = name(verdict.plan.rules);
  json["order"] = name(verdict.plan.order);
  json["kernels"] = verdict.plan.kernels.size();
  return json;
}

int check(const CheckCommand& command) {
  int exit_code = exit_ok;
  ordered_json results = ordered_json::array();
  std::string lines;
  std::string errors;
  for (const std::string& path : command.files) {
    try {
      const Verdict verdict = check_file(path);
      if (!verdict.problem.empty()) exit_code = std::max(exit_code, exit_negative);
      results.push_back(json_of(verdict));
      lines += line_of(verdict);
    } catch (const Error& error) {
      print_error(error.what());
      results.push_back({{"file", source_name(path)}, {"ok", false}, {"problem", error.what()}});
      exit_code = exit_bad_input;
    }
  }
  if (command.json)
    lines = ordered_json{{"plans", results}}.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  write_stdout(lines);
  return exit_code;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("check", "Price plans anew from the rules alone, and compare");
  command.footer(footer);
  auto options = std::make_shared<CheckCommand>();
  command
      .add_option("PLAN", options->files, "plan files, as 'fuselage search --out' writes them; '-' for stdin")
      ->required()
      ->option_text("...");
  command.add_flag("--json", options->json, "one JSON document instead of a line a plan");
  command.callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace fuselage::cli
