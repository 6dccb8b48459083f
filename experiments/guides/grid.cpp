#include "grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/oracle/grid_decisions.h"
#include "fuselage/oracle/grid_guide.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/mcts_tree.h"
#include "grid_curves.h"

namespace fuselage::experiments {
namespace {

using grid::GridProblem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t beam_width = 16;
constexpr std::uint64_t mcts_steps = 20'000;
constexpr std::size_t guided_keep = 8;
constexpr float guided_margin = 4;
constexpr double bar = 1.0 / 3;
constexpr std::array<std::uint64_t, 6> looks = {10, 30, 100, 300, 1000, 3000};
constexpr std::array<std::uint64_t, 3> auto_budgets = {300, 3000, 30'000};

constexpr std::array<std::string_view, 2> unguided_names = {"beam", "mcts"};
constexpr std::array<std::string_view, 3> guided_names = {"guided", "guided beam", "guided mcts"};

struct Item {
  oracle::GridSample sample;
  std::unique_ptr<GridProblem> problem = nullptr;
  std::unique_ptr<grid::Features> features = nullptr;
};

// Runs an engine of that name on any problem type; `act` gets the engine.
template <class P, class Act>
void with_engine(std::string_view name, const P& problem, const Item& item, const GridSetting& setting,
                 const Act& act) {
  using Guide = oracle::GridGuide<P>;
  Guide guide(setting.ranker, grid::DecisionRows(*item.features),
              {.most = guided_keep, .margin = guided_margin});
  search::KeepAll all;
  const auto start = problem.initial();
  if (name == "beam") {
    search::BeamSearch<P> engine(problem, all, {.width = beam_width}, start);
    act(engine);
  } else if (name == "mcts") {
    search::MctsTree<P, search::KeepAll> engine(problem, all, {.seed = 1}, start);
    act(engine);
  } else if (name == "guided") {
    oracle::GuidedGridSearch<P> engine(problem, *item.features, setting.ranker);
    act(engine);
  } else if (name == "guided beam") {
    search::BeamSearch<P, Guide> engine(problem, guide, {.width = beam_width}, start);
    act(engine);
  } else {
    search::MctsTree<P, Guide> engine(problem, guide, {.seed = 1}, start);
    act(engine);
  }
}

Curve curve_of(std::string_view name, const Item& item, const GridSetting& setting, std::uint64_t most,
               double enough) {
  const CountedGrid counted(*item.problem);
  Curve curve;
  with_engine(name, counted, item, setting,
              [&](auto& engine) { curve = follow(engine, counted, most, enough); });
  return curve;
}

// Seconds of the same search up to so many pricings, on the problem itself; the fastest of three.
double seconds_to(std::string_view name, const Item& item, const GridSetting& setting, std::uint64_t priced) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const auto from = Clock::now();
    with_engine(name, *item.problem, item, setting, [&](auto& engine) {
      Meter meter({.steps = priced});
      engine.run(meter);
    });
    best = std::min(best, std::chrono::duration<double>(Clock::now() - from).count());
  }
  return best;
}

std::vector<Item> draw(const GridSetting& setting, bool honest, nlohmann::ordered_json& manifest) {
  const learn::Split split = setting.validation ? learn::Split::validation : learn::Split::test;
  std::vector<Item> items;
  std::uint64_t seed = setting.first_seed ? setting.first_seed : oracle::first_held_out_seed;
  std::vector<std::string> hashes, names;
  for (; static_cast<int>(items.size()) < setting.problems; ++seed) {
    Item item{.sample = oracle::draw_grid({.max_ops = setting.max_ops, .honest = honest}, seed)};
    const std::string hash = oracle::grid_hash(item.sample.instance);
    if (learn::split_of(hash) != split || std::count(hashes.begin(), hashes.end(), hash)) continue;
    hashes.push_back(hash);
    names.push_back(item.sample.name);
    items.push_back(std::move(item));
  }
  for (Item& item : items) {
    item.problem = std::make_unique<GridProblem>(item.sample.instance, item.sample.rules);
    item.features = std::make_unique<grid::Features>(item.sample.instance, item.sample.rules);
  }
  manifest.push_back(
      {{"rules", grid::name(items[0].sample.rules.set)}, {"problems", names}, {"hashes", hashes}});
  return items;
}

// What two engines took to a plan of the cost that the unguided one reached in the end.
struct Race {
  std::string unguided, guided;
  double target = 0;
  Mark slow = {};
  std::optional<Mark> fast = {};  // none: not within as many pricings as the unguided one made in all
  double slow_seconds = 0;
  double fast_seconds = 0;

  double ratio() const {
    return part([](const Mark& m) { return m.priced; });
  }
  double ratio_listed() const {
    return part([](const Mark& m) { return m.priced + m.listed; });
  }
  double ratio_seconds() const { return fast ? fast_seconds / slow_seconds : never; }
  bool met() const { return ratio() <= bar; }

  static constexpr double never = std::numeric_limits<double>::infinity();

 private:
  double part(const std::function<std::uint64_t(const Mark&)>& of) const {
    return fast ? static_cast<double>(of(*fast)) / static_cast<double>(of(slow)) : never;
  }
};

struct Result {
  const Item* item = nullptr;
  std::map<std::string, Curve, std::less<>> curves = {};
  std::vector<Race> races = {};
  std::vector<std::pair<double, double>> autos =
      {};  // latency unguided, and guided with a third of the steps
};

void race(Result& result, std::string_view guided, const GridSetting& setting) {
  const Item& item = *result.item;
  double best = std::numeric_limits<double>::infinity();
  std::uint64_t most = 0;
  for (std::string_view name : unguided_names) {
    const Curve& curve = result.curves.find(name)->second;
    if (curve.found()) best = std::min(best, curve.cost());
    most = std::max(most, curve.end.priced);
  }
  // Far enough for all races, the best of the unguided among them.
  Curve fast = curve_of(guided, item, setting, std::max<std::uint64_t>(most, looks.back()), best);
  const auto run = [&](const std::string& label, std::string_view engine, double target) {
    const Curve& slow = result.curves.find(engine)->second;
    const Mark* from = slow.reach(target);
    if (!from) return;
    Race one{.unguided = label, .guided = std::string(guided), .target = target, .slow = *from};
    one.slow_seconds = seconds_to(engine, item, setting, from->priced);
    const Mark* to = fast.reach(target);
    if (to && to->priced <= slow.end.priced) {
      one.fast = *to;
      one.fast_seconds = seconds_to(guided, item, setting, to->priced);
    }
    result.races.push_back(std::move(one));
  };
  std::string_view first = {};  // to the best cost
  for (std::string_view name : unguided_names) {
    const Curve& curve = result.curves.find(name)->second;
    if (!curve.found()) continue;
    run(std::string(name), name, curve.cost());
    const Mark* mark = curve.reach(best);
    if (mark && (first.empty() || mark->priced < result.curves.find(first)->second.reach(best)->priced))
      first = name;
  }
  if (!first.empty()) run("either", first, best);
  result.curves.emplace(guided, std::move(fast));
}

double latency_of(const Item& item, const GridSetting& setting, std::uint64_t steps, bool guided) {
  oracle::GridSolveOptions options = {.rules = item.sample.rules, .budget = {.steps = steps}};
  if (guided) options.guide = setting.ranker;
  return oracle::solve_grid(item.sample.instance, options).latency;
}

Result result_of(const Item& item, const GridSetting& setting) {
  Result result{.item = &item};
  result.curves.emplace("beam", curve_of("beam", item, setting, search::unlimited, 0));
  result.curves.emplace("mcts", curve_of("mcts", item, setting, mcts_steps, 0));
  for (std::string_view name : guided_names) race(result, name, setting);
  for (std::uint64_t steps : auto_budgets)
    result.autos.emplace_back(latency_of(item, setting, steps, false),
                              latency_of(item, setting, steps / 3, true));
  return result;
}

std::string ratio_text(double ratio) {
  return ratio == Race::never ? "never" : fixed(ratio, 3);
}

void add_rows(Table& rows, const Result& result) {
  const Item& item = *result.item;
  for (const Race& race : result.races) {
    const Mark fast = race.fast.value_or(Mark{});
    rows.add({std::string(grid::name(item.sample.rules.set)), item.sample.name,
              fmt::format("{}", CountedGrid(*item.problem).catalogue()), race.unguided, race.guided,
              fmt::format("{:.10g}", race.target), fmt::format("{}", race.slow.priced),
              fmt::format("{}", race.slow.listed), fmt::format("{}", race.slow.searched),
              milliseconds(race.slow_seconds), fmt::format("{}", fast.priced), fmt::format("{}", fast.listed),
              fmt::format("{}", fast.searched), milliseconds(race.fast_seconds), ratio_text(race.ratio()),
              ratio_text(race.ratio_listed())});
  }
}

// The value below which a share of them lies.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

void add_summary(Table& table, std::span<const Result> results, std::string_view unguided,
                 std::string_view guided) {
  std::vector<double> ratios, listed, seconds;
  int met = 0, never = 0;
  std::uint64_t slow = 0, fast = 0;
  for (const Result& result : results)
    for (const Race& race : result.races) {
      if (race.unguided != unguided || race.guided != guided) continue;
      ratios.push_back(race.ratio());
      listed.push_back(race.ratio_listed());
      seconds.push_back(race.ratio_seconds());
      met += race.met() ? 1 : 0;
      never += race.fast ? 0 : 1;
      slow += race.slow.searched;
      fast += race.fast ? race.fast->searched : 0;
    }
  if (ratios.empty()) return;
  table.add({std::string(grid::name(results[0].item->sample.rules.set)), std::string(unguided),
             std::string(guided), fmt::format("{}", ratios.size()), fmt::format("{}", met),
             fmt::format("{}", never), ratio_text(quantile(ratios, .25)), ratio_text(quantile(ratios, .5)),
             ratio_text(quantile(ratios, .75)), ratio_text(quantile(listed, .5)),
             ratio_text(quantile(seconds, .5)), fmt::format("{}", slow), fmt::format("{}", fast)});
}

void add_anytime(Table& table, std::span<const Result> results) {
  std::vector<std::string> names(unguided_names.begin(), unguided_names.end());
  names.insert(names.end(), guided_names.begin(), guided_names.end());
  for (const std::string& name : names) {
    std::vector<std::string> cells = {std::string(grid::name(results[0].item->sample.rules.set)), name};
    for (std::uint64_t look : looks) {
      double sum = 0;
      int plans = 0;
      for (const Result& result : results) {
        double best = std::numeric_limits<double>::infinity();
        for (const auto& [engine, curve] : result.curves) best = std::min(best, curve.cost());
        const double cost = result.curves.find(name)->second.cost_at(look);
        if (cost == std::numeric_limits<double>::infinity()) continue;
        sum += cost / best - 1;
        ++plans;
      }
      cells.push_back(plans == 0 ? "none" : fmt::format("{} ({})", percent(sum / plans, 2), plans));
    }
    table.add(cells);
  }
}

void add_autos(Table& table, std::span<const Result> results) {
  for (std::size_t i = 0; i < auto_budgets.size(); ++i) {
    int same = 0, better = 0;
    std::vector<double> ratios;
    for (const Result& result : results) {
      const auto [plain, guided] = result.autos[i];
      ratios.push_back(guided / plain - 1);
      same += guided <= plain * (1 + 1e-9) ? 1 : 0;
      better += guided < plain * (1 - 1e-9) ? 1 : 0;
    }
    double sum = 0;
    for (double r : ratios) sum += r / static_cast<double>(ratios.size());
    table.add({std::string(grid::name(results[0].item->sample.rules.set)), fmt::format("{}", auto_budgets[i]),
               fmt::format("{}", auto_budgets[i] / 3), fmt::format("{}", results.size()),
               fmt::format("{}", same), fmt::format("{}", better), percent(sum, 2),
               percent(quantile(ratios, 1), 2)});
  }
}

void add_figures(Table& table, std::span<const Item> items, const GridSetting& setting) {
  oracle::Decisions decisions;
  oracle::GridDecisionOptions options;
  options.policy = setting.ranker.get();
  for (const Item& item : items) {
    ++options.seed;
    oracle::add_grid_decisions(item.sample.instance, item.sample.rules, options, decisions);
  }
  const oracle::DecisionFigures f = oracle::decision_figures(decisions, *setting.ranker);
  const auto estimate = [&](learn::RankMetric metric) {
    const learn::Estimate& e = f.metrics[static_cast<std::size_t>(metric)];
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", e.value, e.low, e.high);
  };
  table.add({std::string(grid::name(items[0].sample.rules.set)), fmt::format("{}", f.groups),
             fmt::format("{}", decisions.regret.size()), estimate(learn::RankMetric::pairwise),
             estimate(learn::RankMetric::ndcg_5), fixed(f.first_best, 3), fixed(f.first_regret, 3),
             fixed(f.random_regret, 3)});
}

}  // namespace

Report grid(const GridSetting& setting) {
  Report report;
  report.rows = Table({"rules", "problem", "catalogue", "unguided", "guided", "cost", "priced", "listed",
                       "searched", "ms", "guided_priced", "guided_listed", "guided_searched", "guided_ms",
                       "ratio", "ratio_with_listed"});
  Table races({"rules", "unguided", "guided", "problems", "at most 1/3", "never", "lower quartile", "median",
               "upper quartile", "median with listed", "median of times", "searched", "guided searched"});
  std::vector<std::string> columns = {"rules", "engine"};
  for (std::uint64_t look : looks) columns.push_back(fmt::format("{} priced", look));
  Table anytime(columns);
  Table autos({"rules", "auto: priced", "guided auto: priced", "problems", "as good", "better",
               "mean above %", "most above %"});
  Table figures({"rules", "states", "candidates", "pairwise", "NDCG@5", "best first", "regret of the first",
                 "of a random one"});
  nlohmann::ordered_json sets = nlohmann::ordered_json::array();
  for (const bool honest : {false, true}) {
    const std::vector<Item> items = draw(setting, honest, sets);
    std::vector<Result> results;
    for (const Item& item : items) {
      say(fmt::format("grid: {} ({} of {})", item.sample.name, results.size() + 1, items.size()));
      results.push_back(result_of(item, setting));
      add_rows(report.rows, results.back());
    }
    for (std::string_view unguided : {"either", "beam", "mcts"})
      for (std::string_view guided : guided_names) add_summary(races, results, unguided, guided);
    add_anytime(anytime, results);
    add_autos(autos, results);
    add_figures(figures, items, setting);
  }
  report.summary = {
      {"Pricings that a guided engine takes to the cost that an unguided one reaches, over those that the "
       "unguided one took",
       races},
      {"Mean % above the best plan that any of the five found, after so many pricings (problems with a plan)",
       anytime},
      {"`auto` with a guide and a third of the pricings against `auto` without", autos},
      {"The ranker on decisions of the held-out problems (regret in mean op times, at most 10)", figures}};
  report.manifest = {{"sets", sets},
                     {"beam_width", beam_width},
                     {"mcts_steps", mcts_steps},
                     {"keep", guided_keep},
                     {"margin", guided_margin}};
  return report;
}

}  // namespace fuselage::experiments
