#include <CLI/CLI.hpp>
#include <memory>

#include "cli.h"
#include "fuselage/core/action_line.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/store.h"
#include "line_reader.h"
#include "options.h"
#include "play_report.h"
#include "standard_streams.h"
#include "store_option.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(Plays one episode as an agent does: prints the observation, reads an action, prints what became of it
and the next observation, until the episode is done; then how it went, against naive, greedy and the best
plan in the store. TARGET is a task or a file with one walk graph or one grid problem.

An action is a line of text as the environment reads it. A line may also be JSON: a string, or an object
with a string "action" whose other fields are passed over; so actions of several lines have a place, and
what --json prints is a file of actions too. Blank lines and {"action": null} are none; a line has at
most 16 MiB. What comes after the end is not played.

  walk graphs     {"fuse_with_prev": true, "tile": 128, "retain": [3]}, or fuse=yes tile=64 retain=[3]
  grid problems   SCHEDULE ops=[0,1] config=[128,128,32] retain=[2] traversal=[0,1,3,2]

With --json each line is an object {step, action, observation, reward, done, info}, the first with the
observation alone and the last with the result; every line is out before the next action is read, so that
a program can play through a pipe.

Exit code: 0 the episode is done; 1 the actions ended before it was (the state so far is printed);
2 bad input.

Examples:
  fuselage play task1_linear
  fuselage play task1_linear actions.txt --quiet
  echo '{"tile": 256}' | fuselage play task1_chain --rules seed
  fuselage play problem.json --rules fusionops --max-steps 40 --examples
  fuselage play task4_multistage actions.jsonl --json > log.jsonl)";

struct PlayCommand {
  std::string target;
  std::string actions = "-";
  FamilyOptions family = {};  // --rules
  std::optional<std::int64_t> max_steps = {};
  bool examples = false;
  bool no_recomputation = false;
  std::string store;
  bool json = false;
  bool quiet = false;
  const CLI::App* app = nullptr;
};

AnyTargets read_target(const PlayCommand& command) {
  TargetOptions options;
  options.targets = {command.target};
  AnyTargets targets = read_any_targets(options, command.family);
  const std::size_t count = targets.workloads.size() + targets.problems.size();
  if (count != 1)
    fail("{}: stands for {} graphs; expected one, since an episode is of one", quote(command.target), count);
  return targets;
}

GameOptions game_options(const PlayCommand& command, Family family) {
  if (family == Family::walk)
    refuse_options(*command.app, {"--examples", "--no-recomputation"},
                   "is about grid problems; expected no such option with a walk graph");
  GameOptions options{.examples = command.examples, .allow_recomputation = !command.no_recomputation};
  if (command.max_steps) options.max_steps = static_cast<int>(*command.max_steps);
  if (family == Family::grid) options.rules = grid::RuleSet::fusionops_honest;
  if (!command.family.rules.empty()) options.rules = command.family.rules.front();
  return options;
}

// Error if a store that was named isn't there; with any other trouble the game goes on without it.
std::optional<double> best_known(const std::string& store, const std::string& key) {
  try {
    const std::optional<oracle::Store> opened = open_store_to_read(store, passing_patience());
    const auto record = opened ? opened->find(key) : std::nullopt;
    if (record) return record->cost;
  } catch (const oracle::StoreError& error) {
    if (!store.empty() && error.trouble() == oracle::StoreTrouble::misplaced) throw;
    print_note(fmt::format("the best-known store is not used: {}", error.what()));
  } catch (const Error& error) {
    print_note(fmt::format("the best-known store is not used: {}", error.what()));
  }
  return std::nullopt;
}

class Actions {
 public:
  explicit Actions(const std::string& path) : reader_(path) {}

  // None at the end.
  std::optional<std::string> next() {
    while (true) {
      if (reader_.is_terminal()) write_stderr("action> ");
      const std::optional<Line> line = reader_.next();
      if (!line) return std::nullopt;
      number_ = line->number;
      if (auto action = read_action_line(line->text, reader_.source(), line->number)) return action;
    }
  }
  // What a file still has is told, since it may be a mistake, and need not be actions any more; a pipe is not
  // waited for.
  void tell_rest() {
    if (!reader_.is_file()) return;
    try {
      if (next())
        print_note(
            fmt::format("{}: the episode ended before line {}; the actions from there on are not played",
                        reader_.source(), number_));
    } catch (const Error& error) {
      print_note(
          fmt::format("{}; the episode ended before it, and nothing from there on is played", error.what()));
    }
  }
  const std::string& source() const { return reader_.source(); }

 private:
  LineReader reader_;
  std::size_t number_ = 0;  // of the line that was read last
};

int play_game(const PlayCommand& command, Game& game, const GameTitle& title) {
  Actions actions(command.actions);
  const bool shows = !command.quiet;
  bool is_read = true;  // does anybody read what is printed?
  if (shows)
    is_read = write_stdout(command.json ? begin_json(game, title)
                                        : begin_text(title, game.standing()) + observation_text(game));
  bool done = false;
  while (!done && is_read) {
    const std::optional<std::string> action = actions.next();
    if (!action) break;
    const PlayedStep step = game.step(*action);
    done = step.done;
    if (!shows) continue;
    is_read = write_stdout(command.json ? step_json(game, step, *action)
                                        : step_text(step, game.standing().steps) + observation_text(game));
  }
  if (!is_read) return exit_ok;
  const Standing standing = game.standing();
  write_stdout(command.json ? end_json(game, title, standing)
                            : (shows ? "\n" : "") + end_text(game, title, standing));
  if (standing.done) {
    actions.tell_rest();
    return exit_ok;
  }
  print_error(fmt::format("{}: episode not finished: it ends after {} of {} ops; expected more actions",
                          actions.source(), standing.ops_run, standing.ops));
  return exit_negative;
}

int play(const PlayCommand& command) {
  if (command.target == "-" && command.actions == "-")
    fail("TARGET and ACTIONS: both are '-'; expected a file for one of them");
  const AnyTargets targets = read_target(command);
  const GameOptions options = game_options(command, targets.family);
  const bool walk = targets.family == Family::walk;
  const std::unique_ptr<Game> game = walk ? make_walk_game(targets.workloads.front(), options)
                                          : make_grid_game(targets.problems.front(), options);
  return play_game(command, *game,
                   {.name = walk ? targets.workloads.front().name : targets.problems.front().name,
                    .family = name(targets.family),
                    .rules = name(options.rules),
                    .best_known = best_known(command.store, game->store_key())});
}

void add_play_options(CLI::App& command, PlayCommand& options) {
  add_argument(command, "TARGET", "a task, a file with one graph or problem, '-' for stdin", options.target)
      ->required();
  add_argument(command, "ACTIONS", "one action a line; '-' or none for stdin", options.actions);
  const auto set_rules = [&options](const std::string& text) {
    options.family.rules = {parse_any_rules("--rules", text)};
  };
  add_form(command,
           {"--rules", "RULES",
            "walk graphs: seed, the public environment to the bit, or seed-honest (default);\n"
            "grid problems: fusionops, the same of theirs, or fusionops-honest (default)"},
           set_rules);
  add_integer(command,
              {"--max-steps", "N",
               "the episode ends after so many steps; default: the task's, of other walk\n"
               "graphs one a node, of other grid problems two an op, at least 20"},
              {.min = 1, .max = std::numeric_limits<int>::max()}, options.max_steps);
  command.add_flag("--examples", options.examples,
                   "grid problems: observations end with actions that would be valid");
  command.add_flag("--no-recomputation", options.no_recomputation,
                   "grid problems: an op that ran may not run again");
  add_store_option(command, options.store);
  command.add_flag("--json", options.json, "one JSON object a step, as JSON Lines");
  command.add_flag("--quiet", options.quiet, "only the last line: the result");
}

}  // namespace

void add_play(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("play", "Play an episode, action by action, as an agent does");
  command.footer(footer);
  auto options = std::make_shared<PlayCommand>();
  options->app = &command;
  add_play_options(command, *options);
  command.callback([options, &exit_code] { exit_code = play(*options); });
}

}  // namespace fuselage::cli
