// How good is each engine at a small budget, how fast is the proof? Five engines on graphs of 8 to 50 nodes.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiment.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "measure.h"
#include "sets.h"

namespace fuselage::experiments {
namespace {

using oracle::Engine;

constexpr int all_graphs = 200;
constexpr double limit_seconds = 10;
constexpr std::uint64_t few_steps = 10'000;
constexpr std::size_t beam_width = 16;
constexpr std::array engines = {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local};
constexpr std::array spaces = {seed, seed_honest, physical};

// What one engine did on one set of graphs.
struct Tally {
  int graphs = 0;
  int proven = 0;
  std::vector<double> gaps;
  std::vector<double> steps;
  std::vector<double> seconds;
};

using Results = std::array<Measured, engines.size()>;

oracle::SolveOptions options_for(Engine engine, const Space& space, double seconds) {
  oracle::SolveOptions options = {.rules = space.rules, .order = space.order, .engine = engine};
  options.width = beam_width;
  options.budget.wall_seconds = seconds;
  if (engine == Engine::mcts || engine == Engine::local) options.budget.steps = few_steps;
  return options;
}

// The optimum where somebody has proven it; else the best plan there is.
double best_cost(const Results& results) {
  double best = std::numeric_limits<double>::infinity();
  for (const Measured& m : results)
    if (m.found) best = std::min(best, m.cost);
  return best;
}

// A proof that another engine refutes is a fault of ours, not a figure.
void check_proofs(const Workload& workload, const Results& results) {
  const double best = best_cost(results);
  for (std::size_t e = 0; e < engines.size(); ++e)
    if (results[e].optimal && results[e].cost > best * (1 + 1e-9))
      fail("{}: {}: {} cycles are said to be optimal; expected at most {}, which another engine found",
           workload.name, oracle::name(engines[e]), results[e].cost, best);
}

bool anybody_proved(const Results& results) {
  return std::any_of(results.begin(), results.end(), [](const Measured& m) { return m.optimal; });
}

Table rows_table() {
  std::vector<std::string> columns = {"graph", "set", "kind", "nodes", "machine", "rules", "best", "proven"};
  for (const char* figure : {"proof", "gap_percent", "steps", "ms"})
    for (const Engine engine : engines) columns.push_back(fmt::format("{}_{}", oracle::name(engine), figure));
  return Table(std::move(columns));
}

std::vector<std::string> row(const GraphSet& set, const Sample& sample, const Space& space,
                             const Results& results) {
  const double best = best_cost(results);
  std::vector<std::string> cells = {sample.workload.name,
                                    set.name,
                                    std::string(sample.kind),
                                    std::to_string(sample.workload.graph.size()),
                                    std::string(sample.machine),
                                    space.name(),
                                    best < std::numeric_limits<double>::infinity() ? json_number(best) : "",
                                    yes_no(anybody_proved(results))};
  for (const Measured& m : results) cells.push_back(m.proof);
  for (const Measured& m : results) cells.push_back(m.found ? percent(m.cost / best - 1, 4) : "");
  for (const Measured& m : results) cells.push_back(std::to_string(m.steps));
  for (const Measured& m : results) cells.push_back(milliseconds(m.seconds));
  return cells;
}

void count(const Results& results, std::array<Tally, engines.size()>& tallies) {
  const double best = best_cost(results);
  for (std::size_t e = 0; e < engines.size(); ++e) {
    const Measured& m = results[e];
    Tally& tally = tallies[e];
    ++tally.graphs;
    tally.proven += m.optimal ? 1 : 0;
    if (m.found) tally.gaps.push_back(m.cost / best - 1);
    tally.steps.push_back(static_cast<double>(m.steps));
    tally.seconds.push_back(m.seconds);
  }
}

void add_summary(const GraphSet& set, const Space& space, const std::array<Tally, engines.size()>& tallies,
                 Table& summary) {
  for (std::size_t e = 0; e < engines.size(); ++e) {
    const Tally& t = tallies[e];
    summary.add({fmt::format("{}, {}", set.name, space.name()), std::string(oracle::name(engines[e])),
                 fmt::format("{} of {}", t.proven, t.graphs), fmt::format("{}", t.gaps.size()),
                 percent(mean(t.gaps)), percent(largest(t.gaps), 2), fixed(mean(t.steps), 0),
                 milliseconds(mean(t.seconds)), milliseconds(largest(t.seconds))});
  }
}

// What was asked for, and the worst that was measured under any rule set.
class Bars {
 public:
  void count(const GraphSet& set, const std::array<Tally, engines.size()>& tallies) {
    const bool is_bound = set.name == "memory-bound";
    unproven_ += tallies[0].graphs - tallies[0].proven;
    slowest_ = std::max(slowest_, largest(tallies[0].seconds));
    double& beam = is_bound ? beam_bound_ : beam_;
    beam = std::max(beam, mean(tallies[2].gaps));
    mcts_ = std::max(mcts_, mean(tallies[3].gaps));
  }
  Table table() const {
    Table bars({"bar", "asked", "measured", "met"});
    bars.add({"auto: graphs without proof", "0", std::to_string(unproven_), yes_no(unproven_ == 0)});
    bars.add({"auto: slowest proof, ms", "1000", milliseconds(slowest_), yes_no(slowest_ <= 1)});
    add(bars, "beam 16, generated: mean gap %", 0.001, beam_);
    add(bars, "beam 16, memory-bound: mean gap %", 0.015, beam_bound_);
    add(bars, "mcts, 10,000 steps: mean gap %", 0.005, mcts_);
    return bars;
  }

 private:
  static void add(Table& bars, const char* name, double most, double measured) {
    bars.add({name, percent(most, 1), percent(measured), yes_no(measured <= most)});
  }
  int unproven_ = 0;
  double slowest_ = 0;
  double beam_ = 0;
  double beam_bound_ = 0;
  double mcts_ = 0;
};

}  // namespace

Report quality(const Setting& setting) {
  const int count_all = setting.graphs.value_or(all_graphs);
  const double seconds = setting.seconds.value_or(limit_seconds);
  const std::array sets = {generated(count_all), memory_bound(std::max(1, count_all / 2))};
  Report report = {.rows = rows_table(), .summary = {}};
  Table summary(
      {"graphs", "engine", "proven", "plans", "mean gap %", "max gap %", "mean steps", "mean ms", "max ms"});
  Bars bars;
  for (const GraphSet& set : sets) {
    for (const Space& space : spaces) {
      std::array<Tally, engines.size()> tallies;
      for (const Sample& sample : set.samples) {
        Results results;
        for (std::size_t e = 0; e < engines.size(); ++e)
          results[e] = measure(sample.workload, options_for(engines[e], space, seconds));
        check_proofs(sample.workload, results);
        report.rows.add(row(set, sample, space, results));
        count(results, tallies);
      }
      add_summary(set, space, tallies, summary);
      bars.count(set, tallies);
      say(fmt::format("quality: {}, {}", set.name, space.name()));
    }
    report.manifest["sets"].push_back(describe(set));
  }
  report.manifest["budget"] = {{"seconds", seconds}, {"mcts_steps", few_steps}, {"local_steps", few_steps}};
  report.manifest["options"] = {{"beam_width", beam_width}, {"search_seed", 0}, {"threads", 1}};
  report.summary = {{"Worst over the rule sets, beside what was asked for", bars.table()},
                    {"Gaps are to the optimum", std::move(summary)}};
  return report;
}

}  // namespace fuselage::experiments
