#include "fuselage/oracle/audit.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "audit_report.h"
#include "cli.h"
#include "families.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/oracle/audit_games.h"
#include "interrupt.h"
#include "options.h"
#include "report_cells.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

namespace rules_audit = oracle::audit;

constexpr const char* footer =
    R"(Looks for episodes whose score or reward is had without a good schedule. The game is played as a black
box: the audit knows the form of an action, what stricter rules say of an episode, and what any sound game
owes, but no exploit:

  reachable   no episode takes less than the best schedule that stricter rules admit
  accepted    what they refuse is not scored as a schedule
  price       an episode that they admit takes no less than they say
  order       the highest return is had by no slower schedule than the fastest
  worst       an episode of the worst score has no higher return than the fastest schedule
  bounded     saying the same again in one action does not raise the return each time
  early end   an episode that is cut off scores no better than a whole one
  wording     order and repetition within a set, and unknown values, gain nothing
  idle        a step that gets no work done is not paid

Walk graphs are held against seed, seed-honest and physical, as far as they are stricter; grid problems
against fusionops-honest, and against a machine that pays for every native tile. Each finding has an
example that is cut down to what the gain needs, and the line that plays it. That nothing is found within
--steps proves nothing.

TARGET is a task, 'all' of a family, or a file; none: all tasks of both families.

Exit code: 0 nothing was found; 1 something was; 2 bad input.

Examples:
  fuselage audit
  fuselage audit task5_adversarial --rules seed --examples exploits
  fuselage audit --rules seed --rules seed-honest --json --out audit.json
  fuselage audit problem.json --family grid --rules fusionops)";

struct AuditCommand {
  std::vector<std::string> targets;
  std::optional<Family> family;
  std::vector<AnyRules> rules;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> entries;
  std::optional<double> time;  // seconds
  std::string out;
  std::string examples;
  bool json = false;
};

// One game to come, and what `fuselage play` calls its target.
struct Job {
  std::string target;
  std::string name;
  AnyRules rules;
  std::function<std::unique_ptr<rules_audit::Game>()> make;
};

bool is_of(const AnyRules& rules, Family family) {
  return std::holds_alternative<walk::Rules>(rules) == (family == Family::walk);
}

// Those asked for; none: the environment's own.
std::vector<AnyRules> rules_of(const AuditCommand& command, Family family) {
  std::vector<AnyRules> rules;
  for (const AnyRules& one : command.rules)
    if (is_of(one, family) && std::find(rules.begin(), rules.end(), one) == rules.end()) rules.push_back(one);
  if (!rules.empty()) return rules;
  if (family == Family::walk) return {walk::Rules::seed};
  return {grid::RuleSet::fusionops};
}

int max_steps_of(const GridTarget& target) {
  const grid::FusionopsTask* task = target.is_task ? grid::find_fusionops_task(target.name) : nullptr;
  return task ? task->max_steps : std::max(20, 2 * target.instance.op_count());
}

// The words of TARGET: a file stands for itself where it holds one graph, a task for its name.
std::string play_target(const AuditCommand& command, const std::string& name, std::size_t count) {
  const bool is_file = command.targets.size() == 1 && count == 1;
  return is_file ? command.targets.front() : name;
}

void add_jobs(const AuditCommand& command, Family family, const AnyTargets& targets, std::vector<Job>& jobs) {
  const std::size_t count = targets.workloads.size() + targets.problems.size();
  for (const Workload& workload : targets.workloads)
    for (const AnyRules& rules : rules_of(command, family))
      jobs.push_back({.target = play_target(command, workload.name, count),
                      .name = workload.name,
                      .rules = rules,
                      .make = [workload, rules] {
                        return rules_audit::make_walk_game(workload, std::get<walk::Rules>(rules),
                                                           {.cancel = &stop_on_interrupt()});
                      }});
  for (const GridTarget& problem : targets.problems)
    for (const AnyRules& rules : rules_of(command, family)) {
      check_grid_shapes(problem, {.set = std::get<grid::RuleSet>(rules)});
      jobs.push_back(
          {.target = play_target(command, problem.name, count),
           .name = problem.name,
           .rules = rules,
           .make = [problem, rules] {
             return rules_audit::make_grid_game(
                 {.name = problem.name, .instance = problem.instance, .max_steps = max_steps_of(problem)},
                 std::get<grid::RuleSet>(rules), {.cancel = &stop_on_interrupt()});
           }});
    }
}

AnyTargets read_targets_of(const std::vector<std::string>& names, const FamilyOptions& family) {
  TargetOptions options;
  options.targets = names;
  return read_any_targets(options, family);
}

std::vector<Job> jobs_of(const AuditCommand& command) {
  for (const AnyRules& rules : command.rules)
    if (rules == AnyRules(walk::Rules::physical) || rules == AnyRules(grid::RuleSet::mlsys))
      fail("--rules: {} has no episodes; expected seed, seed-honest, fusionops or fusionops-honest",
           name(rules));
  std::vector<Job> jobs;
  FamilyOptions options{.family = command.family, .rules = command.rules};
  if (!command.targets.empty()) {
    const AnyTargets targets = read_targets_of(command.targets, options);
    add_jobs(command, targets.family, targets, jobs);
    return jobs;
  }
  for (const Family family : {Family::walk, Family::grid}) {
    const auto of_family = [family](const AnyRules& rules) { return is_of(rules, family); };
    if (command.family && *command.family != family) continue;
    if (!command.rules.empty() && std::none_of(command.rules.begin(), command.rules.end(), of_family))
      continue;
    add_jobs(command, family, read_targets_of({"all"}, {.family = family}), jobs);
  }
  return jobs;
}

rules_audit::Options options_of(const AuditCommand& command) {
  rules_audit::Options options;
  if (command.seed) options.seed = static_cast<std::uint64_t>(*command.seed);
  if (command.steps) options.steps = static_cast<std::uint64_t>(*command.steps);
  if (command.entries) options.entries = static_cast<std::size_t>(*command.entries);
  return options;
}

void write_examples(const std::vector<AuditedGame>& games, const std::string& folder) {
  for (const AuditedGame& game : games) {
    for (const AuditedExample& example : game.examples) {
      std::string text;
      for (const std::string& action : example.actions) text += action + '\n';
      write_file_atomically((std::filesystem::path(folder) / example.file).string(), text);
    }
  }
}

int run_audit(const AuditCommand& command) {
  if (command.family && !command.rules.empty())
    for (const AnyRules& rules : command.rules)
      if (!is_of(rules, *command.family))
        fail("--rules: {} is not of the {} family, which --family asks for", name(rules),
             name(*command.family));
  const std::vector<Job> jobs = jobs_of(command);
  rules_audit::Options options = options_of(command);
  options.cancel = &stop_on_interrupt();
  if (command.time) stop_after(*command.time);
  std::vector<AuditedGame> games;
  bool found = false;
  {
    const Progress progress(jobs.size());
    for (std::size_t i = 0; i < jobs.size() && !*options.cancel; ++i) {
      progress.show(i, fmt::format("{}, {}", jobs[i].name, name(jobs[i].rules)));
      const std::unique_ptr<rules_audit::Game> game = jobs[i].make();
      games.push_back(audited(*game, rules_audit::audit(*game, options), jobs[i].target, command.examples));
      found = found || !games.back().report.findings.empty();
    }
  }
  if (*options.cancel)
    print_note(fmt::format("{}: {} of {} games were audited, the last of them in part",
                           is_time_up() ? "time is up" : "interrupted", games.size(), jobs.size()));
  if (!command.examples.empty()) write_examples(games, command.examples);
  const std::string text = command.json ? dump(audit_json(games, options)) : audit_text(games);
  if (command.out.empty())
    write_stdout(text);
  else
    write_file_atomically(command.out, text);
  return found ? exit_negative : exit_ok;
}

void add_options(CLI::App& command, AuditCommand& options) {
  add_arguments(command, "TARGET", "a task, 'all' of a family, a file of graphs or a grid problem",
                options.targets);
  const auto add_rules = [&options](const std::string& text) {
    options.rules.push_back(parse_any_rules("--rules", text));
  };
  add_forms(command,
            {"--rules", "RULES",
             "seed (default) or seed-honest of walk graphs, fusionops (default) or\n"
             "fusionops-honest of grid problems; may be given again"},
            add_rules);
  const auto set_family = [&options](const std::string& text) {
    options.family = static_cast<Family>(read_choice("--family", text, family_names));
  };
  add_form(command, {"--family", "FAMILY", "walk or grid; 'all' is of which"}, set_family);
  add_integer(command, {"--seed", "N", "of the searches; default: 0"}, {}, options.seed);
  add_integer(command, {"--steps", "N", "of the game, for each search; default: 400000"}, {.min = 1},
              options.steps);
  add_number(command, {"--time", "SECONDS", "of the whole audit: end it with what is found by then"},
             {.min = 1e-6, .max = 1e9}, options.time);
  add_integer(command, {"--entries", "N", "of a list in one action, at most; default: 100"},
              {.min = 1, .max = 1'000'000}, options.entries);
  add_text(command, {"--out", "FILE", "write the report to a file"}, options.out);
  add_text(command, {"--examples", "DIR", "write each example to a file there"}, options.examples);
  command.add_flag("--json", options.json, "one JSON document with all actions");
}

}  // namespace

void add_audit(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("audit", "Look for scores and rewards that need no good schedule");
  command.footer(footer);
  auto options = std::make_shared<AuditCommand>();
  add_options(command, *options);
  command.callback([options, &exit_code] { exit_code = run_audit(*options); });
}

}  // namespace fuselage::cli
