// What does each engine find in the same time on a graph that is too large for most, and does the portfolio
// keep up with the best of them?

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "experiment.h"
#include "fuselage/core/json.h"
#include "fuselage/search/sweep.h"
#include "measure.h"
#include "sets.h"

namespace fuselage::experiments {
namespace {

using oracle::Engine;

constexpr int nodes = 10'000;
constexpr double limit_seconds = 10;
constexpr std::array engines = {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local};
constexpr std::array spaces = {seed_honest, physical, physical_free};

using Results = std::array<Measured, engines.size()>;

double best_of(const Results& results, std::size_t first) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t e = first; e < results.size(); ++e)
    if (results[e].found) best = std::min(best, results[e].cost);
  return best;
}

std::vector<std::string> row(const Space& space, Engine engine, const Measured& m, double best) {
  return {space.name(),
          std::string(oracle::name(engine)),
          m.found ? json_number(m.cost) : "",
          m.found ? percent(m.cost / best - 1, 4) : "",
          json_number(m.lower_bound),
          m.found ? percent(m.gap(), 4) : "",
          m.proof,
          m.stop,
          std::to_string(m.steps),
          m.first_plan ? milliseconds(*m.first_plan) : "",
          milliseconds(m.seconds),
          mebibytes(m.peak_bytes)};
}

// auto is the first of the engines.
void add_bar(const Space& space, const Results& results, Table& bars) {
  const Measured& portfolio = results[0];
  const double single = best_of(results, 1);
  const double first = portfolio.first_plan.value_or(std::numeric_limits<double>::infinity());
  const double behind = portfolio.found ? portfolio.cost / single - 1 : 1;
  const bool small = portfolio.peak_bytes < std::int64_t{2} << 30;
  bars.add({space.name(), milliseconds(first), percent(behind), percent(portfolio.gap()),
            mebibytes(portfolio.peak_bytes), yes_no(first < 0.2 && behind <= 0.002 && small)});
}

}  // namespace

Report anytime(const Setting& setting) {
  const double seconds = setting.seconds.value_or(limit_seconds);
  GraphSet set = {.name = "mixed expert", .seeds = std::to_string(large_seed), .samples = {}};
  const std::vector<std::string> columns = {"rules", "engine",        "cost",  "above_best_percent",
                                            "bound", "gap_percent",   "proof", "stop",
                                            "steps", "first_plan_ms", "ms",    "peak_mib"};
  Report report = {.rows = Table(columns), .summary = {}};
  Table bars({"auto under", "first plan ms (< 200)", "above the best engine % (<= 0.2)", "gap to bound %",
              "peak MiB (< 2048)", "met"});
  for (const Space& space : spaces) {
    Results results;
    for (std::size_t e = 0; e < engines.size(); ++e) {
      oracle::SolveOptions options = {.rules = space.rules, .order = space.order, .engine = engines[e]};
      options.width = search::unlimited;  // the sweeps of a beam grow until the time is up
      options.threads = setting.threads;
      options.budget.wall_seconds = seconds;
      results[e] = watch_in_child([] { return large_graph(nodes).workload; }, options);
      say(fmt::format("anytime: {}, {}", space.name(), oracle::name(engines[e])));
    }
    for (std::size_t e = 0; e < engines.size(); ++e)
      report.rows.add(row(space, engines[e], results[e], best_of(results, 0)));
    add_bar(space, results, bars);
  }
  set.samples.push_back(large_graph(nodes));
  report.manifest["sets"].push_back(describe(set));
  report.manifest["budget"] = {{"seconds", seconds}};
  report.manifest["options"] = {
      {"beam_width", "unlimited"}, {"search_seed", 0}, {"threads", setting.threads}};
  report.summary = {{fmt::format("{} nodes, {} s", nodes, seconds), report.rows},
                    {"auto beside what was asked for", std::move(bars)}};
  return report;
}

}  // namespace fuselage::experiments
