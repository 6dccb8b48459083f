#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/walk/tasks.h"
#include "graph_memory.h"
#include "leaderboard_board.h"
#include "leaderboard_report.h"
#include "options.h"
#include "report_cells.h"
#include "terminal.h"
#include "transcript.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* footer =
    R"(TRANSCRIPT is JSON Lines, an episode a line, as 'fuselage regret --help' has it. Lines of one "policy" are
one row: its score on each of the fixed tasks, and on all other graphs together. Beside them stand the constant
policies, greedy's groups, the heuristic and the optimum, computed here on the same tasks and graphs, and the
scores that the environment's authors published of their language models. Without TRANSCRIPT: the references
on the five tasks.

There is one table for each rule set. Published scores are of seed; under seed-honest they are listed for
what they are. An episode that doesn't reach the end has no score and is counted as unfinished.

--json has the habits of every policy, too: how often it fuses and retains, and whether by distance and
pressure ('fuselage regret --habits').

Exit code: 0; 1 if an optimum isn't proven within --steps; 2 for bad input (the other lines are still done).

Examples:
  fuselage leaderboard
  fuselage leaderboard mine.jsonl theirs.jsonl --rules seed
  fuselage leaderboard mine.jsonl --json)";

constexpr std::int64_t default_steps = 2'000'000;

struct LeaderboardCommand {
  std::vector<std::string> transcripts;
  std::optional<walk::Rules> rules;
  std::optional<std::int64_t> steps = default_steps;  // of one search
  bool json = false;
};

// A board for each rule set that occurs.
class Boards {
 public:
  explicit Boards(std::int64_t steps) : memory_({}) { budget_.steps = static_cast<std::uint64_t>(steps); }

  void add(const Workload& workload, walk::Rules rules) { enter(workload, rules); }
  void add(const Transcript& transcript) {
    const Place place = enter(transcript.workload, transcript.rules);
    place.board->add_episode(place.graph, place.entry->context, transcript.policy, BoardSource::transcript,
                             transcript.answers);
  }
  // In the order of walk::rules_names.
  std::vector<const Board*> finish() {
    std::vector<const Board*> result;
    for (auto& [rules, board] : boards_) {
      board.add_published();
      result.push_back(&board);
    }
    return result;
  }

 private:
  struct Place {
    Board* board;
    std::size_t graph;
    const GraphMemory::Entry* entry;
  };

  Place enter(const Workload& workload, walk::Rules rules) {
    const GraphMemory::Entry& entry = memory_.of(workload, rules);
    Board& board = boards_.try_emplace(rules, rules).first->second;
    auto known = graphs_.find(entry.key);
    if (known == graphs_.end())
      known = graphs_.emplace(entry.key, board.add_graph(workload, entry.context, budget_)).first;
    return {.board = &board, .graph = known->second, .entry = &entry};
  }

  Budget budget_;
  GraphMemory memory_;
  std::map<walk::Rules, Board> boards_;
  std::map<std::string, std::size_t> graphs_;  // by key, which has the rules in it
};

void add_tasks_of(Boards& boards, const LeaderboardCommand& command) {
  for (walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest}) {
    if (command.rules.value_or(rules) != rules) continue;
    for (const walk::TaskSpec& task : walk::tasks()) boards.add(walk::make_task(task), rules);
  }
}

int leaderboard(const LeaderboardCommand& command) {
  if (command.rules == walk::Rules::physical)
    fail("--rules: physical has no episodes; expected seed or seed-honest");
  Boards boards(*command.steps);
  bool good = true;
  if (command.transcripts.empty())
    add_tasks_of(boards, command);
  else
    good = read_transcripts(command.transcripts, command.rules.value_or(walk::Rules::seed_honest),
                            [&](const Transcript& transcript) { boards.add(transcript); });
  const std::vector<const Board*> all = boards.finish();
  if (command.json) {
    ordered_json json = ordered_json::array();
    for (const Board* board : all) json.push_back(board_json(*board));
    write_stdout(dump({{"boards", std::move(json)}}));
  } else if (!all.empty()) {
    std::string text;
    for (const Board* board : all) text += (text.empty() ? "" : "\n") + board_table(*board);
    write_stdout(text + board_legend);
  }
  if (!good) return exit_bad_input;
  const bool proven = std::all_of(all.begin(), all.end(), [](const Board* board) { return board->proven(); });
  return proven ? exit_ok : exit_negative;
}

}  // namespace

void add_leaderboard(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "leaderboard", "Set policies beside each other, the published models and the optimum");
  command.footer(footer);
  auto options = std::make_shared<LeaderboardCommand>();
  add_arguments(command, "TRANSCRIPT", "JSON Lines; '-' for stdin; none: the five tasks",
                options->transcripts);
  const auto set_rules = [options = options.get()](const std::string& text) {
    options->rules = walk::parse_rules(text);
    if (!options->rules) fail("--rules: {} is unknown; expected seed or seed-honest", quote(text));
  };
  add_form(command,
           {"--rules", "RULES",
            "seed, or seed-honest (default), of lines that don't say;\n"
            "without TRANSCRIPT both, unless one is given"},
           set_rules);
  add_integer(command, {"--steps", "N", "kernels priced for one optimum, at most; default: 2,000,000"},
              {.min = 1}, options->steps);
  command.add_flag("--json", options->json, "one JSON document, with the habits of every policy");
  command.callback([options, &exit_code] { exit_code = leaderboard(*options); });
}

}  // namespace fuselage::cli
