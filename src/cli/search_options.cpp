#include "search_options.h"

#include <tbb/info.h>

#include <CLI/CLI.hpp>

#include "fuselage/core/error.h"
#include "options.h"
#include "price_option.h"
#include "space_option.h"
#include "store_option.h"

namespace fuselage::cli {
namespace {

constexpr std::int64_t bytes_per_mib = std::int64_t{1} << 20;
constexpr std::int64_t usual_memory_mib = 2048;

void add_rules_options(CLI::App& app, SearchOptions& options) {
  const auto set_rules = [&options](const std::string& text) {
    options.family.rules = {parse_any_rules("--rules", text)};
  };
  add_form(app,
           {"--rules", "RULES",
            "walk graphs: seed, the public environment to the bit; seed-honest (default),\n"
            "only tensors that exist are retained; physical, what a machine could do.\n"
            "Grid problems: mlsys, the contest (default of files); fusionops, the public\n"
            "environment to the bit; fusionops-honest (default of its tasks), only what\n"
            "was stored is loaded"},
           set_rules);
  add_choice(app, {"--order", "ORDER", "fixed (default); free: any topological order, physical only"},
             walk::order_names, options.solve.order);
  add_family_options(app, options.family);
}

void add_engine_options(CLI::App& app, SearchOptions& options) {
  add_choice(app,
             {"--engine", "ENGINE",
              "auto (default): all of the next four; exact proves; beam, mcts and local\n"
              "find; greedy and naive are the baselines"},
             oracle::engine_names, options.solve.engine);
  add_integer(app, {"--width", "N", "beam: states of a layer that are kept; default 16"},
              {.min = 1, .max = 1'000'000'000}, options.width);
  add_integer(app, {"--seed", "N", "auto, mcts, local: of their random choices; default 0"}, {},
              options.seed);
  add_integer(app, {"--threads", "N", "default: one for each core"}, {.min = 1, .max = 1024},
              options.threads);
}

void add_space_option(CLI::App& app, SearchOptions& options) {
  add_form(app,
           {"--space", "CAPS",
            "grid problems: caps of the kernels to choose from, ops=12,groups=400,retain=2,\n"
            "starts=4,window=512: ops of one, that an op may be in, tensors retained at once,\n"
            "ops where the next may start, and among how many these are"},
           [&options](const std::string& text) { options.space = parse_space(text); });
}

// What is looked for instead of the fastest plan.
void add_objective_options(CLI::App& app, SearchOptions& options) {
  add_form(app,
           {"--price", "WEIGHTS",
            "minimise latency + traffic x bytes moved + launch x kernels +\n"
            "residency x bytes resident after each kernel: traffic=0.1,launch=500"},
           [&options](const std::string& text) { options.solve.price = parse_price(text); });
  const auto set_pareto = [&options](const std::string& text) {
    if (text != "traffic") fail("--pareto: {} is unknown; expected traffic", quote(text));
    options.pareto = text;
  };
  add_form(app,
           {"--pareto", "GOOD",
            "traffic: every plan than which none is faster and moves fewer bytes;\n"
            "budgets are per point, the engine is exact, --out numbers the plans"},
           set_pareto);
}

void add_budget_options(CLI::App& app, SearchOptions& options) {
  add_integer(app, {"--steps", "N", "end the search after so many steps"}, {.min = 1}, options.steps);
  add_number(app, {"--time", "SECONDS", "end the search after so many seconds"}, {.min = 1e-6, .max = 1e9},
             options.time);
  add_integer(app,
              {"--memory", "MIB",
               "end the search when the process takes so many MiB; default 2048. With\n"
               "half of it taken by states, which is the same everywhere, it ends, too"},
              {.min = 1, .max = std::numeric_limits<std::int64_t>::max() / bytes_per_mib},
              options.memory_mib);
}

void add_output_options(CLI::App& app, SearchOptions& options) {
  add_text(app,
           {"--out", "PATH", "write each plan to PATH/NAME.json; of one target to PATH, if it ends in .json"},
           options.out);
  add_store_option(app, options.store);
  app.add_flag("--no-store", options.no_store, "neither read nor improve the best-known store");
  add_text(app, {"--log", "FILE", "write incumbent and bound over time as JSON Lines"}, options.log);
  app.add_flag("--quiet", options.quiet, "no log on the terminal");
  app.add_flag("--json", options.json, "one JSON document instead of the table");
}

// What would be refused for every target is refused at once.
void check_guided(const oracle::SolveOptions& solve, Family family) {
  using oracle::Engine;
  if (solve.engine != Engine::automatic && solve.engine != Engine::beam && solve.engine != Engine::mcts)
    fail("--guide: the engine {} takes none; expected --engine auto, beam or mcts",
         oracle::name(solve.engine));
  if (family == Family::walk && solve.rules != walk::Rules::seed_honest)
    fail("--guide: trained under the rules seed-honest; expected no guide under {}", walk::name(solve.rules));
  if (solve.price != walk::Price{}) fail("--guide: trained on latency; expected no --price with it");
}

}  // namespace

void add_search_options(CLI::App& app, SearchOptions& options) {
  add_target_options(app, options.targets);
  add_rules_options(app, options);
  add_engine_options(app, options);
  add_guide_options(app, options.guide);
  add_space_option(app, options);
  add_objective_options(app, options);
  add_budget_options(app, options);
  add_output_options(app, options);
}

void set_engine(SearchOptions& options) {
  oracle::SolveOptions& solve = options.solve;
  if (options.width) solve.width = static_cast<std::size_t>(*options.width);
  if (options.seed) solve.seed = static_cast<std::uint64_t>(*options.seed);
  solve.threads = options.threads ? static_cast<int>(*options.threads) : tbb::info::default_concurrency();
  Budget& budget = solve.budget;
  if (options.steps) budget.steps = static_cast<std::uint64_t>(*options.steps);
  // States are counted, the rest of what the process holds is not: the count ends most searches first, at the
  // same step everywhere.
  budget.process_bytes =
      static_cast<std::uint64_t>(options.memory_mib.value_or(usual_memory_mib) * bytes_per_mib);
  budget.bytes = budget.process_bytes / 2;
  if (options.time) budget.wall_seconds = *options.time;
}

void set_guide(SearchOptions& options, Family family) {
  options.bundle = read_guide(options.guide);
  if (!options.bundle) return;
  if (options.solve.order == walk::Order::free || !options.pareto.empty())
    fail(
        "--guide: goes with neither --order free nor --pareto; expected a search in fixed order for one "
        "plan");
  const bool is_there =
      family == Family::walk ? options.bundle->manifest.walk : options.bundle->manifest.grid;
  if (!is_there)
    fail("--guide: {}: has no models of the {} family; expected a bundle that has", options.bundle->path,
         family == Family::walk ? "walk" : "grid");
  check_guided(options.solve, family);
  if (family == Family::walk) options.solve.guide = &options.bundle->walk;
  options.solve.guide_options = walk_guide_options(options.guide);
}

void refuse_foreign_options(const CLI::App& app, Family family) {
  if (family == Family::walk) {
    refuse_options(app, {"--compute", "--co-consumers"}, only_mlsys);
    refuse_options(app, {"--space"},
                   "is about grid problems; expected no such option with walk graphs, whose kernels are "
                   "declared without caps");
    return;
  }
  refuse_options(app, {"--hardware", "--set"}, only_walk_machines);
  refuse_options(app, {"--rank-by", "--lookahead"},
                 "is about walk graphs; expected no such option with grid problems, whose guide only ranks");
  refuse_options(app, {"--order", "--price", "--pareto"},
                 "is about walk graphs; expected no such option with grid problems, whose kernels run in "
                 "any order and whose plans are compared by their latency");
}

}  // namespace fuselage::cli
