#include "grid_generate.h"

#include <CLI/CLI.hpp>

#include "families.h"
#include "fuselage/core/error.h"
#include "fuselage/grid/problem_json.h"
#include "options.h"

namespace fuselage::cli {

Sides parse_sides(std::string_view option, std::string_view text, std::int64_t max) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos || cross == 0 || cross + 1 == text.size())
    fail("{}: {} is no shape; expected HEIGHTxWIDTH, for example 256x256", option, quote(text));
  const IntegerRange range{.min = 1, .max = max};
  return {.height = read_integer(option, text.substr(0, cross), range),
          .width = read_integer(option, text.substr(cross + 1), range)};
}

void add_grid_generate_options(CLI::App& app, GridGenerateOptions& options) {
  grid::GeneratorOptions& problem = options.problem;
  add_choice(app, {"--kind", "NAME", "grid: transformer (default), cnn, mixed"}, grid::network_names,
             problem.network);
  const auto set_native = [&problem](const std::string& text) {
    const Sides native = parse_sides("--native", text, grid::max_generated_side);
    problem.native_height = native.height;
    problem.native_width = native.width;
  };
  add_form(app, {"--native", "HxW", "grid: native granularity, default 128x128"}, set_native);
  add_integer(app, {"--capacity", "N", "grid: of fast memory, elements; default from the seed"},
              {.min = grid::least_generated_capacity, .max = grid::Instance::max_total_elements},
              options.capacity);
  add_number(app, {"--bandwidth", "X", "grid: elements per time unit; default from the seed"},
             {.min = grid::Instance::min_bandwidth, .max = 1 / grid::Instance::min_bandwidth},
             problem.bandwidth);
}

void refuse_walk_generate_options(const CLI::App& app, std::int64_t count) {
  refuse_options(
      app, {"--difficulty", "--topology", "--curriculum"},
      "is about walk graphs; expected --kind, --native, --capacity or --bandwidth with --family grid");
  refuse_options(app, {"--jsonl"}, "is about walk graphs; a grid problem is a JSON document of its own");
  if (count > 1)
    fail(
        "--count: {} problems don't go into one file; expected one grid problem a command, each with its "
        "--seed and --out",
        count);
}

void refuse_grid_generate_options(const CLI::App& app) {
  refuse_options(app, {"--kind", "--native", "--capacity", "--bandwidth"},
                 "is about grid problems; expected --family grid with it");
}

std::string generate_grid(const GridGenerateOptions& options, std::string_view seed) {
  grid::GeneratorOptions problem = options.problem;
  problem.capacity = options.capacity;
  problem.seed = static_cast<std::uint64_t>(read_integer("--seed", seed, {}));
  return grid::problem_to_json(grid::generate(problem));
}

}  // namespace fuselage::cli
