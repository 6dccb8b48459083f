#include "fuselage/oracle/regret.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/walk/rules.h"
#include "options.h"
#include "report_cells.h"
#include "table.h"
#include "terminal.h"
#include "transcript.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::EpisodeRegret;
using oracle::RegretParts;
using oracle::StepRegret;

constexpr const char* footer =
    R"(TRANSCRIPT is JSON Lines, an episode a line:

  {"task": "task4_mixed", "policy": "mine", "actions": ["{\"fuse_with_prev\": true, \"tile\": 64}", ...]}
  {"graph": {"nodes": [...], "hardware": {...}}, "name": "g7", "rules": "seed", "actions": [...]}

An action is what a model answered, as text, or a JSON object; it is read as the environment reads it. One
that can't be read uses no step. "policy", "name" and "rules" may be left out.

The regret of a step is by how much the least latency of the whole episode rises with it, in cycles; it is
owed, in this order, to the choice to fuse or not, to the tile, and to what is retained. The regrets of an
episode add up to its latency minus the optimum. Where the answers end early, latency is what optimal
actions from there on would make of it.

Exit code: 0; 1 if a value isn't proven within --steps; 2 for bad input (the other lines are still done).

Examples:
  fuselage regret transcript.jsonl
  fuselage regret transcript.jsonl --each          # every step that lost something, and what was better
  fuselage regret transcript.jsonl --rules seed --json)";

struct RegretCommand {
  std::string transcript;
  walk::Rules rules = walk::Rules::seed_honest;
  std::optional<std::int64_t> steps;  // of one search
  bool each = false;
  bool json = false;
};

struct Judged {
  std::string policy;
  std::string name;
  int ops = 0;
  walk::Rules rules = walk::Rules::seed_honest;
  EpisodeRegret regret;
};

Judged judge(const Transcript& transcript, const RegretCommand& command) {
  const walk::EpisodeContext context(transcript.workload);
  Budget budget;
  if (command.steps) budget.steps = static_cast<std::uint64_t>(*command.steps);
  oracle::GraphValues values(context, transcript.rules, budget);
  return {.policy = transcript.policy,
          .name = transcript.workload.name,
          .ops = transcript.workload.graph.size(),
          .rules = transcript.rules,
          .regret = oracle::regret_of(values, context, transcript.rules, transcript.answers)};
}

std::string share(double part, double whole) {
  return whole > 0 ? percent(part / whole) : "-";
}

std::string words_of(const walk::Action& action) {
  return fmt::format("{}, tile {}, retain [{}]", action.fuse_with_prev ? "fuse" : "new kernel", action.tile,
                     fmt::join(action.retain, ","));
}

std::string steps_table(const Judged& judged) {
  Table table({{"step"},
               {"node"},
               {"regret"},
               {"fuse"},
               {"tile"},
               {"retain"},
               {"gap %"},
               {"did", Align::left},
               {"better", Align::left}});
  for (std::size_t i = 0; i < judged.regret.steps.size(); ++i) {
    const StepRegret& step = judged.regret.steps[i];
    if (step.regret.total() <= 0) continue;
    table.add({std::to_string(i), std::to_string(step.node), cycles(step.regret.total()),
               cycles(step.regret.fuse), cycles(step.regret.tile), cycles(step.regret.retain),
               percent(step.gap), words_of(step.taken), words_of(step.best)});
  }
  return fmt::format("\n{}, policy {}:\n{}", judged.name, judged.policy, table.text());
}

std::string text_of(const std::vector<Judged>& all, const RegretCommand& command) {
  Table table({{"task", Align::left},
               {"policy", Align::left},
               {"ops"},
               {"played"},
               {"unread"},
               {"latency"},
               {"optimum"},
               {"regret %"},
               {"fuse %"},
               {"tile %"},
               {"retain %"},
               {"score"}});
  for (const Judged& one : all) {
    const EpisodeRegret& regret = one.regret;
    table.add({one.name, one.policy, grouped(std::int64_t{one.ops}),
               grouped(static_cast<std::uint64_t>(regret.steps.size())), std::to_string(regret.unread),
               cycles(regret.latency), cycles(regret.optimum), share(regret.regret.total(), regret.optimum),
               share(regret.regret.fuse, regret.optimum), share(regret.regret.tile, regret.optimum),
               share(regret.regret.retain, regret.optimum),
               regret.complete ? fmt::format("{:.3f}", regret.score) : "unfinished"});
  }
  std::string text =
      table.text() + "\nregret: (latency - optimum) / optimum, and the decisions it is owed to.\n";
  if (!command.each) return text;
  for (const Judged& one : all)
    if (one.regret.regret.total() > 0) text += steps_table(one);
  return text;
}

ordered_json parts_json(const RegretParts& parts) {
  return {{"total", parts.total()}, {"fuse", parts.fuse}, {"tile", parts.tile}, {"retain", parts.retain}};
}

ordered_json action_json(const walk::Action& action) {
  return {{"fuse_with_prev", action.fuse_with_prev}, {"tile", action.tile}, {"retain", action.retain}};
}

ordered_json json_of(const Judged& one) {
  const EpisodeRegret& regret = one.regret;
  ordered_json json = {{"name", one.name},
                       {"policy", one.policy},
                       {"rules", walk::name(one.rules)},
                       {"ops", one.ops},
                       {"complete", regret.complete},
                       {"unread", regret.unread},
                       {"unused", regret.unused},
                       {"latency", regret.latency},
                       {"optimum", regret.optimum},
                       {"proven", regret.proven},
                       {"score", regret.complete ? ordered_json(regret.score) : ordered_json()},
                       {"regret", parts_json(regret.regret)},
                       {"steps", ordered_json::array()}};
  for (const StepRegret& step : regret.steps)
    json["steps"].push_back({{"node", step.node},
                             {"taken", action_json(step.taken)},
                             {"best", action_json(step.best)},
                             {"regret", parts_json(step.regret)},
                             {"gap", step.gap},
                             {"proven", step.proven}});
  return json;
}

int regret(const RegretCommand& command) {
  TranscriptReader reader(command.transcript, command.rules);
  std::vector<Judged> all;
  int exit_code = exit_ok;
  for (bool more = true; more;) {
    try {
      const auto transcript = reader.next();
      more = transcript.has_value();
      if (more) all.push_back(judge(*transcript, command));
    } catch (const Error& error) {
      print_error(error.what());
      exit_code = exit_bad_input;
    }
  }
  if (all.empty() && exit_code == exit_ok) fail("{}: no line; expected an episode a line", reader.source());
  if (command.json) {
    ordered_json results = ordered_json::array();
    for (const Judged& one : all) results.push_back(json_of(one));
    write_stdout(dump({{"results", std::move(results)}}));
  } else if (!all.empty()) {
    write_stdout(text_of(all, command));
  }
  for (const Judged& one : all)
    if (!one.regret.proven && exit_code == exit_ok) exit_code = exit_negative;
  return exit_code;
}

}  // namespace

void add_regret(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("regret", "Say which step of an agent's episode lost what");
  command.footer(footer);
  auto options = std::make_shared<RegretCommand>();
  command.add_option("TRANSCRIPT", options->transcript, "JSON Lines; '-' for stdin")
      ->required()
      ->option_text(" ");
  add_choice(command, {"--rules", "RULES", "seed, or seed-honest (default), of lines that don't say"},
             walk::rules_names, options->rules);
  add_count(command, {"--steps", "N", "kernels priced for one value, at most"}, {.min = 1}, options->steps);
  command.add_flag("--each", options->each, "also every step that lost something");
  command.add_flag("--json", options->json, "one JSON document with all steps");
  command.callback([options, &exit_code] { exit_code = regret(*options); });
}

}  // namespace fuselage::cli
