#include "fuselage/oracle/headroom.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli.h"
#include "families.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/headroom_claims.h"
#include "grid_headroom.h"
#include "headroom_report.h"
#include "interrupt.h"
#include "options.h"
#include "report_cells.h"
#include "targets.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(Policies are played as episodes under seed and seed-honest. Under physical, which has none, the kernels
of the seed-honest episode are priced, with the same tensors resident; a dash and a line under the table
say where that is illegal. Greedy is the figure that scores are measured against; 'greedy, played' is
what an agent gets that plays its groups.

The optimum is searched and proven, once more in each smaller space: without retention, without fusion,
with tile 128 only; and under physical in any order. An asterisk: not proven within the budget.

--claims checks what the environment's authors say of the five tasks (retention makes a gap of 12 to
18 %, tiles of 218 %, greedy can be beaten by 5 to 17 %) in every reading of it that makes sense.

Of grid problems (files in the contest's JSON, the tasks of fusionops) there is one table: what every
engine finds within --steps and --time on one thread, between naive, greedy and the lower bound.

Exit code: 0, also for claims that don't hold; 1 if a budget ended without any plan; 2 for bad input and
for graphs that have no schedule (the others are still done).

Examples:
  fuselage headroom all
  fuselage headroom task4_mixed --rules physical --json
  fuselage headroom task2_residual --rules seed --set slow_mem_bandwidth=2
  fuselage generate --ops 24 --difficulty hard --seed 7 | fuselage headroom -
  fuselage headroom --claims
  fuselage headroom --family grid --rules fusionops --rules fusionops-honest
  fuselage headroom problem.json --time 15 --compute native-k)";

constexpr double default_seconds = 2;
constexpr std::size_t claim_searches = 60;  // about: of three claims on five tasks

struct HeadroomCommand {
  TargetOptions targets;
  FamilyOptions family;
  std::optional<std::int64_t> steps;  // kernels
  std::optional<double> time;         // seconds
  bool claims = false;
  bool json = false;
};

// Those that were asked for, each once and in the order of walk::rules_names; all if none was.
std::vector<walk::Rules> rules_of(const HeadroomCommand& command) {
  std::array<bool, walk::rules_names.size()> wanted = {};
  for (const AnyRules& rules : command.family.rules)
    wanted[static_cast<std::size_t>(std::get<walk::Rules>(rules))] = true;
  std::vector<walk::Rules> result;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] || command.family.rules.empty()) result.push_back(static_cast<walk::Rules>(i));
  return result;
}

// Of each search, or with --time of all together.
Budget budget_of(const HeadroomCommand& command) {
  Budget budget;
  if (command.steps) budget.steps = static_cast<std::uint64_t>(*command.steps);
  budget.wall_seconds = command.time.value_or(default_seconds);
  budget.cancel = &stop_on_interrupt();
  return budget;
}

SharedBudget shared_budget(const HeadroomCommand& command) {
  return SharedBudget(budget_of(command), command.time.has_value());
}

std::vector<HeadroomAnswer> analyse(const std::vector<Workload>& workloads,
                                    const std::vector<walk::Rules>& rules, const SharedBudget& budget) {
  constexpr std::size_t searches = 1 + oracle::decision_names.size();  // of a headroom, at most
  std::vector<HeadroomAnswer> answers;
  const std::size_t total = workloads.size() * rules.size();
  const Progress progress(total);
  std::size_t done = 0;
  for (const Workload& workload : workloads) {
    HeadroomAnswer& answer = answers.emplace_back();
    answer.name = workload.name;
    answer.ops = workload.graph.size();
    answer.hardware = workload.hardware;
    answer.published = oracle::published_for(workload);
    for (walk::Rules one : rules) {
      progress.show(done++, fmt::format("{}, {}", workload.name, name(one)));
      if (!answer.error.empty()) continue;
      try {
        answer.headrooms.push_back(
            oracle::headroom(workload, {.rules = one, .budget = budget.of((total - done + 1) * searches)}));
      } catch (const Error& error) {
        answer.error = error.what();
        answer.headrooms.clear();
      }
    }
  }
  return answers;
}

int exit_code_of(const HeadroomAnswer& answer) {
  int code = answer.error.empty() ? exit_ok : exit_bad_input;
  for (const oracle::Headroom& headroom : answer.headrooms) {
    if (headroom.optimum.found) continue;
    code = std::max(code, headroom.optimum.infeasible ? exit_bad_input : exit_negative);
  }
  return code;
}

void print_errors(const HeadroomAnswer& answer) {
  if (!answer.error.empty()) print_error(answer.error);
  for (const oracle::Headroom& headroom : answer.headrooms) {
    const oracle::Solution& optimum = headroom.optimum;
    if (optimum.found) continue;
    if (!optimum.infeasible) {
      print_error(
          fmt::format("{}: the budget ended before there was any plan under the rules {}; give it more",
                      answer.name, name(headroom.rules)));
      continue;
    }
    print_error(fmt::format(
        "{}: no schedule exists under the rules {}: node {} needs a working set of at least {} B, "
        "but fast_mem_capacity is {} B",
        answer.name, name(headroom.rules), optimum.infeasible->node,
        grouped(optimum.infeasible->smallest_working_set), grouped(optimum.infeasible->capacity)));
  }
}

int check_claims(const HeadroomCommand& command) {
  const TargetOptions& targets = command.targets;
  if (!targets.targets.empty())
    fail("--claims: is about the five tasks; expected no TARGET, not {}", quote(targets.targets.front()));
  if (!targets.hardware_file.empty() || !targets.assignments.empty() || !command.family.rules.empty())
    fail(
        "--claims: is about the five tasks as they are, under all rules; expected no --rules, --hardware "
        "and --set with it");
  const std::vector<oracle::Claim> claims = oracle::check_claims(shared_budget(command).of(claim_searches));
  write_stdout(command.json ? dump(claims_json(claims)) : claims_table(claims));
  return exit_ok;
}

int headroom_walk(const HeadroomCommand& command, const std::vector<Workload>& workloads) {
  const std::vector<HeadroomAnswer> answers = analyse(workloads, rules_of(command), shared_budget(command));
  write_stdout(command.json ? dump(headroom_json(answers, budget_of(command))) : headroom_table(answers));
  int exit_code = exit_ok;
  for (const HeadroomAnswer& answer : answers) {
    print_errors(answer);
    exit_code = std::max(exit_code, exit_code_of(answer));
  }
  return exit_code;
}

int headroom(HeadroomCommand command, const CLI::App& app) {
  if (command.claims) return check_claims(command);
  const bool grid = command.family.wanted() == Family::grid;
  if (command.targets.targets.empty() && grid) command.targets.targets = {"all"};
  if (command.targets.targets.empty())
    fail("TARGET is required; expected a task, all, a JSON file or -, or --claims, or --family grid");
  const AnyTargets targets = read_any_targets(command.targets, command.family);
  if (targets.family == Family::walk) {
    refuse_options(app, {"--compute", "--co-consumers"}, only_mlsys);
    return headroom_walk(command, targets.workloads);
  }
  refuse_options(app, {"--hardware", "--set"}, only_walk_machines);
  return headroom_grid({.problems = targets.problems,
                        .family = command.family,
                        .budget = shared_budget(command),
                        .json = command.json});
}

void add_options(CLI::App& command, HeadroomCommand& options) {
  add_target_options(command, options.targets);
  command.get_option("TARGET")->required(false);
  const auto add_rules = [&options](const std::string& text) {
    options.family.rules.push_back(parse_any_rules("--rules", text));
  };
  add_forms(command,
            {"--rules", "RULES",
             "seed, seed-honest or physical; of grid problems mlsys, fusionops or\n"
             "fusionops-honest; may be given again; default: all three of walk graphs,\n"
             "fusionops-honest of grid tasks, mlsys of grid files"},
            add_rules);
  add_family_options(command, options.family);
  add_integer(command, {"--steps", "N", "of each search: stop proving after so many steps"}, {.min = 1},
              options.steps);
  add_number(command,
             {"--time", "SECONDS",
              "of all searches together: stop proving after so many seconds; default: 2\n"
              "for each search"},
             {.min = 1e-6, .max = 1e9}, options.time);
  command.add_flag("--claims", options.claims, "check the claims about the five tasks instead");
  command.add_flag("--json", options.json, "one JSON document instead of the tables");
}

}  // namespace

void add_headroom(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("headroom", "What policies get, what can be got, and what each decision is worth");
  command.footer(footer);
  auto options = std::make_shared<HeadroomCommand>();
  add_options(command, *options);
  command.callback([options, &command, &exit_code] { exit_code = headroom(*options, command); });
}

}  // namespace fuselage::cli
