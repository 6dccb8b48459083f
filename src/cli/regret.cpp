#include "fuselage/oracle/regret.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/headroom.h"
#include "graph_memory.h"
#include "habits_report.h"
#include "options.h"
#include "reference_policies.h"
#include "regret_report.h"
#include "report_cells.h"
#include "terminal.h"
#include "transcript.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* footer =
    R"(TRANSCRIPT is JSON Lines, an episode a line:

  {"task": "task4_mixed", "policy": "mine", "actions": ["{\"fuse_with_prev\": true, \"tile\": 64}", ...]}
  {"graph": {"nodes": [...], "hardware": {...}}, "name": "g7", "rules": "seed", "actions": [...]}

An action is what a model answered, as text, or a JSON object; it is read as the environment reads it. One
that can't be read uses no step and pays -0.10. "policy", "name" and "rules" may be left out. A line may have
16 MiB, and a graph --ops nodes.

The regret of a step is by how much the least latency of the whole episode rises with it, in cycles; it is
owed, in this order, to the choice to fuse or not, to the tile, and to what is retained. The regrets of an
episode add up to its latency minus the optimum. Where the answers end early, latency is what optimal
actions from there on would make of it. Means over episodes are of one rule set each, never across.

Exit code: 0; 1 if a value isn't proven within --steps; 2 for bad input (the other lines are still done).

Examples:
  fuselage regret transcript.jsonl
  fuselage regret transcript.jsonl --each          # every step that lost something, why, and what was better
  fuselage regret a.jsonl b.jsonl --habits         # how often each policy fuses and retains, and when
  fuselage regret transcript.jsonl --rules seed --json)";

constexpr std::int64_t default_steps = 2'000'000;  // bounds what one value takes: a few seconds
constexpr std::int64_t default_ops = 1000;         // some minutes at worst
constexpr std::size_t most_listed = 50;            // episodes in the table

struct RegretCommand {
  std::vector<std::string> transcripts;
  walk::Rules rules = walk::Rules::seed_honest;
  std::optional<std::int64_t> steps = default_steps;  // of one search
  std::optional<std::int64_t> ops = default_ops;
  bool each = false;
  bool habits = false;
  bool json = false;
};

// Judges transcript after transcript; what it keeps of each is what will be printed.
class RegretRun {
 public:
  explicit RegretRun(const RegretCommand& command)
      : command_(command), budget_(budget_of(command)), memory_(budget_) {}

  void add(const Transcript& transcript) {
    const int ops = transcript.workload.graph.size();
    if (ops > *command_.ops)
      fail("the graph has {} nodes; expected at most {}, or a higher --ops", ops, *command_.ops);
    GraphMemory::Entry& entry = memory_.of(transcript.workload, transcript.rules);
    const auto published = oracle::published_for(transcript.workload);
    JudgedEpisode& one = episodes_.emplace_back();
    one = {.file = transcript.file,
           .line = transcript.line,
           .policy = transcript.policy,
           .name = transcript.workload.name,
           .task = published ? std::string(published->task) : "",
           .ops = ops,
           .rules = transcript.rules,
           .regret = oracle::regret_of(*entry.values, entry.context, transcript.rules, transcript.answers)};
    if (!command_.each && !command_.json) std::vector<oracle::StepRegret>().swap(one.regret.steps);
    if (command_.habits) add_habits(transcript, entry);
  }

  const std::vector<JudgedEpisode>& episodes() const { return episodes_; }
  bool proven() const {
    return std::all_of(episodes_.begin(), episodes_.end(),
                       [](const JudgedEpisode& one) { return one.regret.proven; });
  }
  // Policies in the order of their names, then the references in theirs; rule set by rule set.
  std::vector<HabitsRow> habits() const {
    std::vector<HabitsRow> rows;
    for (const auto& [key, row] : habits_) rows.push_back(row);
    return rows;
  }

 private:
  static Budget budget_of(const RegretCommand& command) {
    Budget budget;
    budget.steps = static_cast<std::uint64_t>(*command.steps);
    return budget;
  }

  // `rank` keeps the references behind, and in their order.
  void add_habits(const Transcript& of, std::size_t rank, const std::string& policy,
                  const oracle::Habits& habits) {
    HabitsRow& row = habits_[{of.rules, rank, policy}];
    row.policy = policy;
    row.reference = rank > 0;
    row.rules = of.rules;
    row.habits += habits;
  }

  void add_habits(const Transcript& transcript, const GraphMemory::Entry& entry) {
    const auto of = [&](const std::vector<std::string>& answers) {
      return oracle::habits_of(entry.context, transcript.rules, answers);
    };
    add_habits(transcript, 0, transcript.policy, of(transcript.answers));
    if (!seen_.insert(entry.key).second) return;
    const References references = reference_policies(transcript.workload, transcript.rules, budget_);
    for (std::size_t i = 0; i < references.policies.size(); ++i)
      add_habits(transcript, i + 1, references.policies[i].name, of(references.policies[i].answers));
  }

  const RegretCommand& command_;
  Budget budget_;
  GraphMemory memory_;
  std::vector<JudgedEpisode> episodes_;
  std::set<std::string> seen_;  // graphs whose references were played
  std::map<std::tuple<walk::Rules, std::size_t, std::string>, HabitsRow> habits_;
};

std::string text_of(const RegretRun& run, const RegretCommand& command) {
  std::string text = episodes_table(run.episodes(), most_listed) + summary_tables(run.episodes());
  if (command.habits) text += '\n' + habits_table(run.habits());
  if (command.each)
    for (const JudgedEpisode& one : run.episodes()) text += steps_table(one);
  return text;
}

ordered_json json_of(const RegretRun& run, const RegretCommand& command) {
  ordered_json results = ordered_json::array();
  for (const JudgedEpisode& one : run.episodes()) results.push_back(episode_json(one));
  ordered_json json = {{"results", std::move(results)}, {"summaries", summaries_json(run.episodes())}};
  if (!command.habits) return json;
  json["habits"] = ordered_json::array();
  for (const HabitsRow& row : run.habits())
    json["habits"].push_back({{"policy", row.policy},
                              {"reference", row.reference},
                              {"rules", walk::name(row.rules)},
                              {"habits", habits_json(row.habits)}});
  return json;
}

int regret(const RegretCommand& command) {
  if (command.rules == walk::Rules::physical)
    fail("--rules: physical has no episodes; expected seed or seed-honest");
  RegretRun run(command);
  const bool good = read_transcripts(command.transcripts, command.rules,
                                     [&](const Transcript& transcript) { run.add(transcript); });
  if (command.json)
    write_stdout(dump(json_of(run, command)));
  else if (!run.episodes().empty())
    write_stdout(text_of(run, command));
  if (!good) return exit_bad_input;
  return run.proven() ? exit_ok : exit_negative;
}

}  // namespace

void add_regret(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("regret", "Say which step of an agent's episode lost what, and why");
  command.footer(footer);
  auto options = std::make_shared<RegretCommand>();
  add_arguments(command, "TRANSCRIPT", "JSON Lines; '-' for stdin", options->transcripts)->required();
  add_choice(command, {"--rules", "RULES", "seed, or seed-honest (default), of lines that don't say"},
             walk::rules_names, options->rules);
  add_integer(command, {"--steps", "N", "kernels priced for one value, at most; default: 2,000,000"},
              {.min = 1}, options->steps);
  add_integer(command, {"--ops", "N", "refuse larger graphs, which take long; default: 1,000"}, {.min = 1},
              options->ops);
  command.add_flag("--each", options->each, "also every step that lost something");
  command.add_flag("--habits", options->habits,
                   "also how often policies fuse and retain, beside the references");
  command.add_flag("--json", options->json, "one JSON document with all steps");
  command.callback([options, &exit_code] { exit_code = regret(*options); });
}

}  // namespace fuselage::cli
