#include "walk.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>

#include "fuselage/core/error.h"
#include "fuselage/oracle/walk_training.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/mcts.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::experiments {
namespace {

using oracle::DrawOptions;
using oracle::GraphKind;
using oracle::WalkGuideOptions;
using walk::WalkProblem;

constexpr std::uint64_t held_out_seed = 2'000'000;  // of the draws; training begins at other seeds
constexpr std::uint64_t proof_steps = 5'000'000;
constexpr std::array<std::size_t, 5> widths = {1, 2, 4, 8, 16};
constexpr std::array<std::size_t, 6> keeps = {1, 2, 3, 4, 6, 8};
constexpr std::array<std::uint64_t, 4> budgets = {50, 100, 200, 400};

// A graph with what every search of it needs.
struct Task {
  explicit Task(Workload given)
      : workload(std::move(given)),
        runs(workload.graph, workload.hardware),
        problem(workload.graph, workload.hardware, runs, {.rules = walk::Rules::seed_honest}),
        features(workload.graph, workload.hardware, runs) {}

  Workload workload;
  walk::RunTable runs;
  WalkProblem problem;
  walk::Features features;
  double optimum = 0;
};

struct TaskSet {
  std::string name;
  std::vector<std::unique_ptr<Task>> tasks;
  std::size_t unproven = 0;  // left out
};

// Of the test split, so that no graph was trained on; larger ones than any that was.
TaskSet task_set(const std::string& name, const DrawOptions& options, int count) {
  TaskSet set{.name = name, .tasks = {}};
  const bool larger = options.min_ops > 32;
  const int drawn = larger ? count : 14 * count;
  for (const auto& one : oracle::draw_workloads(drawn, options, held_out_seed)) {
    if (one.kind != options.kind || (!larger && one.split != learn::Split::test)) continue;
    if (std::cmp_equal(set.tasks.size(), count)) break;
    auto task = std::make_unique<Task>(one.workload);
    const auto best = search::exact(task->problem, {.budget = {.steps = proof_steps}});
    if (best.proof != search::Proof::optimal) {
      ++set.unproven;
      continue;
    }
    task->optimum = best.cost;
    set.tasks.push_back(std::move(task));
  }
  return set;
}

struct Search {
  std::string engine;  // "beam", "mcts"
  std::uint64_t size;  // its width, or its steps
  std::string guide;   // "none", "keep 4"
  std::function<search::Outcome<walk::State, walk::Kernel>(Task&)> run;

  std::string name() const { return fmt::format("{} {}", engine, size); }
};

struct Figures {
  std::vector<double> gaps;
  double steps = 0;  // mean
  double milliseconds = 0;
};

Figures measure(const TaskSet& set, const Search& search) {
  Figures figures;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& task : set.tasks) {
    const auto outcome = search.run(*task);
    if (!outcome.found) fail("{}: {} {} finds no plan", task->workload.name, search.name(), search.guide);
    if (outcome.cost < task->optimum * (1 - 1e-9))
      fail("{}: {} cycles; expected no less than the proven {}", task->workload.name, outcome.cost,
           task->optimum);
    figures.gaps.push_back(std::max(0.0, outcome.cost / task->optimum - 1));
    figures.steps += static_cast<double>(outcome.steps) / static_cast<double>(set.tasks.size());
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  figures.milliseconds = spent.count() / static_cast<double>(set.tasks.size());
  return figures;
}

std::string name_of(const WalkGuideOptions& options) {
  std::string name = fmt::format("keep {}", options.keeping.most);
  if (options.value) name += ", by model";
  if (options.lookahead > 0) name += fmt::format(", lookahead {}", options.lookahead);
  return name;
}

std::vector<WalkGuideOptions> guides() {
  std::vector<WalkGuideOptions> all;
  for (const std::size_t keep : keeps) all.push_back({.keeping = {.most = keep}});
  all.push_back({.value = true});
  all.push_back({.value = true, .lookahead = 1});
  return all;
}

std::vector<Search> searches(const oracle::WalkModels& models) {
  std::vector<Search> all;
  for (const std::size_t width : widths) {
    all.push_back(
        {"beam", width, "none", [width](Task& t) { return search::beam(t.problem, {.width = width}); }});
    for (const WalkGuideOptions& options : guides())
      all.push_back({"beam", width, name_of(options), [width, options, &models](Task& t) {
                       oracle::WalkGuide guide(models, t.features, options);
                       return search::beam(t.problem, guide, {.width = width});
                     }});
  }
  for (const std::uint64_t steps : budgets) {
    all.push_back({"mcts", steps, "none",
                   [steps](Task& t) { return search::mcts(t.problem, {.budget = {.steps = steps}}); }});
    for (const WalkGuideOptions& options : guides())
      if (options.keeping.most >= 4)
        all.push_back({"mcts", steps, name_of(options), [steps, options, &models](Task& t) {
                         oracle::WalkGuide guide(models, t.features, options);
                         return search::mcts(t.problem, {.budget = {.steps = steps}}, std::nullopt, guide);
                       }});
  }
  return all;
}

std::string gap_cell(const std::vector<double>& gaps) {
  const learn::Estimate mean = oracle::mean_estimate(gaps);
  return fmt::format("{} [{}, {}]", percent(mean.value), percent(mean.low), percent(mean.high));
}

}  // namespace

Report walk(const WalkSetting& setting) {
  Report report;
  report.rows = Table({"set", "graphs", "engine", "size", "guide", "gap_percent", "gap_low", "gap_high",
                       "gap_max_percent", "optimal", "steps", "share_of_steps", "ms"});
  const std::array sets = {
      task_set("mixed", {.kind = GraphKind::mixed}, setting.graphs),
      task_set("memory-bound", {.kind = GraphKind::memory_bound}, setting.graphs),
      task_set("mixed, 40-60 ops", {.kind = GraphKind::mixed, .min_ops = 40, .max_ops = 60}, setting.graphs),
      task_set("memory-bound, 40-60 ops", {.kind = GraphKind::memory_bound, .min_ops = 40, .max_ops = 60},
               setting.graphs)};
  for (const TaskSet& set : sets) {
    say(fmt::format("guides: {}, {} graphs", set.name, set.tasks.size()));
    Titled summary{fmt::format("{}: {} graphs", set.name, set.tasks.size()),
                   Table({"engine", "guide", "gap %", "steps", "% of unguided steps"})};
    double unguided = 1;
    for (const Search& search : searches(setting.models)) {
      const Figures figures = measure(set, search);
      if (search.guide == "none") unguided = figures.steps;
      const learn::Estimate mean = oracle::mean_estimate(figures.gaps);
      const double share = figures.steps / unguided;
      const auto optimal =
          std::count_if(figures.gaps.begin(), figures.gaps.end(), [](double g) { return g < 1e-9; });
      report.rows.add({set.name, std::to_string(set.tasks.size()), search.engine, std::to_string(search.size),
                       search.guide, percent(mean.value, 4), percent(mean.low, 4), percent(mean.high, 4),
                       percent(*std::max_element(figures.gaps.begin(), figures.gaps.end()), 4),
                       std::to_string(optimal), fixed(figures.steps, 1), fixed(share, 4),
                       fixed(figures.milliseconds, 2)});
      summary.table.add({search.name(), search.guide, gap_cell(figures.gaps), fixed(figures.steps, 0),
                         fixed(100 * share, 1)});
    }
    report.summary.push_back(std::move(summary));
    report.manifest["sets"][set.name] = {
        {"graphs", set.tasks.size()}, {"without_proof", set.unproven}, {"seed", held_out_seed}};
  }
  report.manifest["rules"] = "seed-honest";
  report.manifest["gap"] = "cost / proven optimum - 1, mean over graphs with its 95 % bootstrap interval";
  report.manifest["steps"] = "kernels priced, mean over graphs; every pricing of every sweep counts";
  return report;
}

}  // namespace fuselage::experiments
