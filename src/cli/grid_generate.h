// The grid family's part of `fuselage generate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/grid/generator.h"

namespace CLI {
class App;
}

namespace fuselage::cli {

// HEIGHTxWIDTH, for example 256x64.
struct Sides {
  std::int64_t height = 0;
  std::int64_t width = 0;
};
// Error unless both are from 1 to `max`; `option` is what the message calls it.
Sides parse_sides(std::string_view option, std::string_view text, std::int64_t max);

// --kind, --native, --capacity and --bandwidth, which walk graphs don't have; the command adds what it has
// for both families.
struct GridGenerateOptions {
  grid::GeneratorOptions problem = {};
  std::optional<std::int64_t> capacity = {};
};

// `options` must live as long as `app`.
void add_grid_generate_options(CLI::App& app, GridGenerateOptions& options);
// Error for an option of the other family, or for what a grid problem can't be given.
void refuse_walk_generate_options(const CLI::App& app, std::int64_t count);
void refuse_grid_generate_options(const CLI::App& app);

// The contest's JSON. `seed` is what the command line says.
std::string generate_grid(const GridGenerateOptions& options, std::string_view seed);

}  // namespace fuselage::cli
