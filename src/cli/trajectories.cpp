#include "fuselage/oracle/trajectories.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/search/split_mix.h"
#include "interrupt.h"
#include "options.h"
#include "range_option.h"
#include "report_cells.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(For every graph: the best schedule found, mutations of it, schedules of a heuristic that errs now and
then, and random legal ones, under the rules seed-honest. For every schedule: a row of features a node
(a token), a row of features before and after each, and, as targets, what every prefix and the whole
cost. Features never tell a cost. --regret adds by how much each action raises the least latency that
is still possible, which takes most of the time.

A graph is for training, validation or test by its hash, 80, 10 and 10 in a hundred, and so in every
file alike; the same graph comes once only. The same options give the same bytes. The file is HDF5;
its attributes say how it was made, and each array of features lists names, units and meanings.

Examples:
  fuselage trajectories --graphs 400 --seed 1 --out train.h5
  fuselage trajectories --graphs 200 --seed 2 --kind memory-bound --schedules 64 --out slow_link.h5
  fuselage trajectories --graphs 60 --seed 3 --ops 40-60 --out larger.h5
  fuselage trajectories --graphs 50 --seed 4 --regret --out regret.h5
  h5dump -H train.h5)";

constexpr std::int64_t most_graphs = 1'000'000;
constexpr std::int64_t most_schedules = 10'000;
constexpr std::int64_t most_ops = 1'000;

struct TrajectoriesCommand {
  oracle::DrawOptions draw;
  std::optional<std::int64_t> graphs, schedules, seed;
  bool regret = false;
  bool json = false;
  std::string out;
};

struct Tally {
  std::array<std::int64_t, learn::split_names.size()> graphs = {};
  std::int64_t schedules = 0;
  std::int64_t tokens = 0;
  std::int64_t proven = 0;
  std::int64_t duplicates = 0;  // graphs drawn twice
  std::int64_t hopeless = 0;    // without two schedules

  std::int64_t all_graphs() const { return graphs[0] + graphs[1] + graphs[2]; }
  void add(const learn::TrajectoryGroup& group) {
    ++graphs[static_cast<std::size_t>(group.split)];
    schedules += static_cast<std::int64_t>(group.schedules.size());
    for (const learn::Trajectory& one : group.schedules) tokens += static_cast<std::int64_t>(one.size());
    proven += group.proven;
  }
};

void parse_ops(const std::string& text, oracle::DrawOptions& draw) {
  const IntRange ops = read_int_range("--ops", text, {.min = 2, .max = most_ops});
  draw.min_ops = ops.low;
  draw.max_ops = ops.high;
}

learn::TrajectoryManifest manifest_of(const TrajectoriesCommand& command, std::int64_t graphs,
                                      int schedules) {
  return {.program = "fuselage " FUSELAGE_VERSION,
          .family = "walk",
          .rules = "seed-honest",
          .kind = std::string(oracle::name(command.draw.kind)),
          .seed = static_cast<std::uint64_t>(command.seed.value_or(0)),
          .settings = fmt::format("graphs={} schedules={} ops={}-{}", graphs, schedules, command.draw.min_ops,
                                  command.draw.max_ops),
          .has_regret = command.regret};
}

void report(const TrajectoriesCommand& command, const Tally& tally) {
  if (command.json) {
    const nlohmann::ordered_json json = {{"file", command.out},
                                         {"graphs", tally.all_graphs()},
                                         {"train", tally.graphs[0]},
                                         {"validation", tally.graphs[1]},
                                         {"test", tally.graphs[2]},
                                         {"schedules", tally.schedules},
                                         {"tokens", tally.tokens},
                                         {"proven", tally.proven},
                                         {"duplicates", tally.duplicates},
                                         {"without_schedules", tally.hopeless}};
    write_stdout(dump(json));
    return;
  }
  std::string text = fmt::format(
      "{}: {} graphs ({} train, {} validation, {} test), {} schedules, {} tokens; optimum proven for {}\n",
      command.out, tally.all_graphs(), tally.graphs[0], tally.graphs[1], tally.graphs[2], tally.schedules,
      tally.tokens, tally.proven);
  if (tally.duplicates + tally.hopeless > 0)
    text += fmt::format("left out: {} graphs drawn before, {} without two schedules\n", tally.duplicates,
                        tally.hopeless);
  write_stdout(text);
}

int make_trajectories(const TrajectoriesCommand& command) {
  if (command.out.empty()) fail("--out: is missing; expected the name of a file to write, such as train.h5");
  const std::int64_t graphs = command.graphs.value_or(400);
  const auto schedules = static_cast<int>(command.schedules.value_or(48));
  const std::atomic<bool>& interrupted = stop_on_interrupt();
  learn::TrajectoryWriter writer(command.out, manifest_of(command, graphs, schedules),
                                 oracle::walk_schemas());
  search::SplitMix seeds(static_cast<std::uint64_t>(command.seed.value_or(0)));
  std::set<std::string> hashes;
  Tally tally;
  const Progress progress(static_cast<std::size_t>(graphs));
  const std::int64_t most_draws = 20 * graphs + 100;
  for (std::int64_t draw = 0; tally.all_graphs() < graphs; ++draw) {
    if (interrupted) {
      print_note(fmt::format("interrupted: {} was not written", command.out));
      return exit_negative;
    }
    if (draw == most_draws)
      fail("--graphs: of {} drawn only {} differ; expected fewer graphs, or a larger range of --ops", draw,
           tally.all_graphs());
    const std::uint64_t seed = seeds.next();
    const Workload workload = oracle::draw_workload(command.draw, seed);
    if (!hashes.insert(oracle::graph_hash(workload.graph)).second) {
      ++tally.duplicates;
      continue;
    }
    progress.show(static_cast<std::size_t>(tally.all_graphs()), workload.name);
    const auto group =
        oracle::trajectories(workload, {.schedules = schedules, .seed = seed, .regret = command.regret});
    if (!group) {
      ++tally.hopeless;
      continue;
    }
    writer.add(*group);
    tally.add(*group);
  }
  writer.finish();
  report(command, tally);
  return exit_ok;
}

}  // namespace

void add_trajectories(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("trajectories", "Make schedules to train a model on");
  command.footer(footer);
  auto options = std::make_shared<TrajectoriesCommand>();
  add_integer(command, {"--graphs", "N", "graphs, default 400"}, {.min = 1, .max = most_graphs},
              options->graphs);
  add_integer(command, {"--schedules", "K", "of each graph, at most, default 48"},
              {.min = 2, .max = most_schedules}, options->schedules);
  add_choice(command, {"--kind", "KIND", "of graphs: mixed (default) or memory-bound"},
             oracle::graph_kind_names, options->draw.kind);
  add_form(command, {"--ops", "LOW-HIGH", "nodes of a graph, default 8-32"},
           [options = options.get()](const std::string& text) { parse_ops(text, options->draw); });
  add_integer(command, {"--seed", "N", "default 0"}, {.min = 0}, options->seed);
  command.add_flag("--regret", options->regret, "with the regret of every action");
  add_text(command, {"--out", "FILE", "the file to write"}, options->out);
  command.add_flag("--json", options->json, "say what was written as JSON");
  command.callback([options, &exit_code] { exit_code = make_trajectories(*options); });
}

}  // namespace fuselage::cli
