// The options of `search`, of both families: what they are called, and what a search gets of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "families.h"
#include "fuselage/grid/problem.h"
#include "fuselage/oracle/solve.h"
#include "guide_options.h"
#include "targets.h"

namespace CLI {
class App;
}

namespace fuselage::cli {

struct SearchOptions {
  TargetOptions targets;
  FamilyOptions family;
  oracle::SolveOptions solve;         // of the walk family; engine, budget, width, seed and threads of both
  grid::SpaceOptions space;           // of the grid family
  std::optional<std::int64_t> steps;  // kernels
  std::optional<double> time;         // seconds
  std::optional<std::int64_t> memory_mib;
  std::optional<std::int64_t> width;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> threads;
  GuideOptions guide;
  std::shared_ptr<const oracle::Bundle> bundle;  // what `guide` names
  std::string store;
  bool no_store = false;
  std::string pareto;
  std::string out;
  std::string log;
  bool quiet = false;
  bool json = false;
};

// `options` must live as long as `app`.
void add_search_options(CLI::App& app, SearchOptions& options);

// Fills the parts of `solve` that are about engine and budget, Ctrl-C included, from what was given.
void set_engine(SearchOptions& options);

// Reads the bundle, if there is one, and puts its models of the family into `solve`.
void set_guide(SearchOptions& options, Family family);

// Error for options that have no meaning for the family of the targets.
void refuse_foreign_options(const CLI::App& app, Family family);

}  // namespace fuselage::cli
