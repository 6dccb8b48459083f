#include <CLI/CLI.hpp>
#include <memory>

#include "cli.h"
#include "families.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/walk/generator.h"
#include "grid_generate.h"
#include "options.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(A seed gives the graph that the public environment draws for it. Without --curriculum graph i
of --count N is drawn from seed + i, so that each can be drawn again alone. With --curriculum all
graphs come from the one stream of --seed, one after the other, as a training run draws them:
size, difficulty and shape too, harder ones at a higher LEVEL.

One graph is printed as JSON, several as JSON Lines, one a line. 'fuselage search' reads both.
Shapes are in elements of 4 bytes.

--family grid draws problems in the JSON of the MLSys 2026 contest, one a command: transformer
layers, convolutional networks, or both in turns, of any size. --shape is there that of the tensor
which goes from layer to layer, and the seed chooses it, and the machine, if you don't.

Examples:
  fuselage generate --ops 24 --difficulty hard --topology mixed --seed 7 --shape 256x256
  fuselage generate --curriculum 0.6 --count 100 --seed 7 --out train.jsonl
  fuselage generate --ops 40 --count 3 | fuselage search -

Examples of grid problems:
  fuselage generate --family grid --kind transformer --ops 1000 --seed 7 --out problem.json
  fuselage generate --family grid --kind cnn --ops 60 --shape 1024x256 --capacity 60000 | fuselage search -)";

struct GenerateCommand {
  Family family = Family::walk;
  walk::GenerateOptions graph;
  GridGenerateOptions grid;
  std::optional<Sides> shape;
  std::optional<std::int64_t> ops;
  std::string seed = "0";
  std::optional<double> level;  // of the curriculum
  std::optional<std::int64_t> count;
  std::string out;
  bool json_lines = false;
  const CLI::App* app = nullptr;  // whose options these are
};

constexpr std::int64_t max_count = 1'000'000;
constexpr std::int64_t max_side = std::int64_t{1} << 31;

// Hands out the graphs of one command in their order.
class Source {
 public:
  explicit Source(const GenerateCommand& command) : command_(command) {
    if (command_.level)
      stream_.emplace(command_.seed);
    else if (command_.count.value_or(1) > 1)
      first_seed_ = read_integer("--seed", command_.seed,
                                 {.min = 0, .max = std::numeric_limits<std::int64_t>::max() - max_count});
  }

  Workload next() {
    const std::int64_t index = index_++;
    if (!command_.level) {
      const std::string seed =
          command_.count.value_or(1) > 1 ? fmt::format("{}", first_seed_ + index) : command_.seed;
      return walk::generate_seeded(command_.graph, seed);
    }
    Workload workload = walk::generate_curriculum(*command_.level, *stream_);
    workload.name += fmt::format("_c{}_s{}_{}", *command_.level, command_.seed, index);
    return workload;
  }

 private:
  const GenerateCommand& command_;
  std::int64_t first_seed_ = 0;
  std::int64_t index_ = 0;
  std::optional<PythonRandom> stream_;  // of the curriculum
};

int print_or_write(const GenerateCommand& command, const std::string& text) {
  if (!command.out.empty())
    write_file_atomically(command.out, text);
  else
    write_stdout(text);
  return exit_ok;
}

int generate_grid_problem(const GenerateCommand& command) {
  refuse_walk_generate_options(*command.app, command.count.value_or(1));
  GridGenerateOptions grid = command.grid;
  if (command.ops) grid.problem.ops = static_cast<int>(*command.ops);
  if (command.shape) grid.problem.shape = {.width = command.shape->width, .height = command.shape->height};
  return print_or_write(command, generate_grid(grid, command.seed));
}

int generate_graphs(GenerateCommand command) {
  refuse_grid_generate_options(*command.app);
  if (command.ops) command.graph.num_ops = static_cast<int>(*command.ops);
  if (command.shape) {
    command.graph.height = command.shape->height;
    command.graph.width = command.shape->width;
  }
  const std::int64_t count = command.count.value_or(1);
  const bool lines = command.json_lines || count > 1;
  Source source(command);
  std::string file;
  for (std::int64_t i = 0; i < count; ++i) {
    const Workload workload = source.next();
    const std::string text = lines ? workload_to_json_line(workload) : workload_to_json(workload);
    if (!command.out.empty())
      file += text;
    else if (!write_stdout(text))
      break;
  }
  if (!command.out.empty()) write_file_atomically(command.out, file);
  return exit_ok;
}

int generate(const GenerateCommand& command) {
  return command.family == Family::grid ? generate_grid_problem(command) : generate_graphs(command);
}

void add_graph_options(CLI::App& app, GenerateCommand& command) {
  CLI::Option* level =
      add_number(app, {"--curriculum", "LEVEL", "draw training graphs of this difficulty, 0 to 1"},
                 {.min = 0, .max = 1}, command.level);
  add_integer(
      app,
      {"--ops", "N", "nodes, default 16; some topologies may stop one earlier\n(grid: default 100, exactly)"},
      {.min = 1, .max = walk::max_generated_ops}, command.ops)
      ->excludes(level);
  add_choice(app, {"--difficulty", "NAME", "of the machine: easy, medium (default), hard, expert"},
             walk::difficulty_names, command.graph.difficulty)
      ->excludes(level);
  add_choice(app,
             {"--topology", "NAME", "mixed (default), linear, attention, residual, long_skip, adversarial"},
             walk::topology_names, command.graph.topology)
      ->excludes(level);
  const auto set = [&command](const std::string& text) {
    command.shape = parse_sides("--shape", text, max_side);
  };
  add_form(app, {"--shape", "HxW", "of every tensor, default 256x256 (grid: from the seed)"}, set)
      ->excludes(level);
}

}  // namespace

void add_generate(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("generate", "Draw graphs from a seed");
  command.footer(footer);
  auto options = std::make_shared<GenerateCommand>();
  options->app = &command;
  add_choice(command, {"--family", "FAMILY", "walk (default) or grid"}, family_names, options->family);
  add_graph_options(command, *options);
  add_grid_generate_options(command, options->grid);
  add_form(command, {"--seed", "N", "an integer, of grid problems >= 0; default 0"},
           [options = options.get()](const std::string& text) {
             options->seed = read_integer_digits("--seed", text);
           });
  add_integer(command, {"--count", "N", "graphs to draw, default 1"}, {.min = 1, .max = max_count},
              options->count);
  add_text(command, {"--out", "FILE", "write to FILE instead of stdout"}, options->out);
  command.add_flag("--jsonl", options->json_lines, "JSON Lines for a single graph too");
  command.callback([options, &exit_code] { exit_code = generate(*options); });
}

}  // namespace fuselage::cli
