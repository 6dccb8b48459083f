// Decisions of the walk family with their exact regret, against brute force on graphs small enough for it.
#include "fuselage/oracle/walk_decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "error_of.h"
#include "fuselage/oracle/walk_training.h"
#include "fuselage/search/exact.h"
#include "random_graphs.h"
#include "walk_models.h"

namespace fuselage::oracle {
namespace {

using walk::Kernel;
using walk::State;
using walk::WalkProblem;

// The least cost to go by trying everything, and the regrets of every state that can be reached.
class BruteForce {
 public:
  explicit BruteForce(const Workload& w)
      : runs_(w.graph, w.hardware),
        problem_(w.graph, w.hardware, runs_, {}),
        features_(w.graph, w.hardware, runs_),
        rows_(features_) {
    value(problem_.initial());
  }
  double value(const State& state) {
    if (problem_.progress(state) == problem_.horizon()) return 0;
    for (const auto& [other, known] : values_[state.position])
      if (other == state) return known;
    std::vector<Kernel> kernels;
    problem_.kernels(state, kernels);
    std::vector<double> costs;
    for (const Kernel& k : kernels)
      costs.push_back(problem_.price(state, k) + value(problem_.apply(state, k)));
    const double best = *std::min_element(costs.begin(), costs.end());
    std::vector<float> rows(walk::DecisionRows::width() * kernels.size());
    rows_.fill(problem_, state, kernels, rows);
    for (double& cost : costs) cost = (cost - best) / features_.mean_cycles();
    groups_.emplace(std::move(rows), std::move(costs));
    values_[state.position].emplace_back(state, best);
    return best;
  }
  // Is there a state whose candidates have these rows and regrets?
  bool has(const std::vector<float>& rows, std::span<const double> regrets) const {
    const auto [begin, end] = groups_.equal_range(rows);
    return std::any_of(begin, end, [&](const auto& group) {
      return std::equal(regrets.begin(), regrets.end(), group.second.begin(), group.second.end(),
                        [](double a, double b) { return std::abs(a - b) < 1e-9; });
    });
  }

 private:
  walk::RunTable runs_;
  WalkProblem problem_;
  walk::Features features_;
  walk::DecisionRows rows_;
  std::map<int, std::vector<std::pair<State, double>>> values_;
  std::multimap<std::vector<float>, std::vector<double>> groups_;
};

std::vector<float> rows_of(const Decisions& d, std::size_t first, std::size_t count) {
  const auto begin = d.rows.begin() + static_cast<std::ptrdiff_t>(first * d.width);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * d.width)};
}

bool is_free(const Hardware& h) {
  return h.slow_mem_bandwidth == 0 || h.kernel_launch_cost == 0;
}

TEST(WalkDecisions, regret_is_what_brute_force_finds) {
  Dice dice(6);
  std::size_t groups = 0, bad = 0;
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = 3 + i % 3, .costly = i % 5 == 0});
    if (is_free(w.hardware)) continue;
    Decisions decisions;
    add_decisions(w, {.most_candidates = 100'000, .seed = static_cast<std::uint64_t>(i)}, decisions);
    const BruteForce brute(w);
    std::size_t first = 0;
    for (const std::uint32_t size : decisions.sizes) {
      const auto regrets = std::span(decisions.regret).subspan(first, size);
      EXPECT_EQ(*std::min_element(regrets.begin(), regrets.end()), 0);
      EXPECT_TRUE(brute.has(rows_of(decisions, first, size), regrets)) << i;
      bad += static_cast<std::size_t>(
          std::count_if(regrets.begin(), regrets.end(), [](double r) { return r > 0; }));
      first += size;
    }
    EXPECT_EQ(first, decisions.regret.size());
    EXPECT_EQ(decisions.rows.size(), decisions.width * first);
    groups += decisions.groups();
  }
  EXPECT_GT(groups, 200U);
  EXPECT_GT(bad, 500U);
}

TEST(WalkDecisions, a_draw_of_candidates_has_the_best_among_them) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Workload w = draw_workload({.min_ops = 8, .max_ops = 8}, seed);
    Decisions all, some;
    // One episode of either visits the same first state.
    add_decisions(w, {.episodes = 1, .most_candidates = 100'000, .seed = seed}, all);
    add_decisions(w, {.episodes = 1, .most_candidates = 5, .seed = seed}, some);
    ASSERT_GT(all.sizes[0], 5U);
    std::size_t first = 0;
    for (const std::uint32_t size : some.sizes) {
      EXPECT_LE(size, 5U);
      const auto regrets = std::span(some.regret).subspan(first, size);
      EXPECT_EQ(*std::min_element(regrets.begin(), regrets.end()), 0) << seed;
      first += size;
    }
    // Those of the first state are some of all, in their order.
    std::size_t at = 0, found = 0;
    for (std::size_t i = 0; i < some.sizes[0]; ++i)
      for (bool met = false; at < all.sizes[0] && !met; ++at) {
        met = rows_of(all, at, 1) == rows_of(some, i, 1) && all.regret[at] == some.regret[i];
        found += met ? 1 : 0;
      }
    EXPECT_EQ(found, some.sizes[0]);
  }
}

TEST(WalkDecisions, follow_from_the_seed) {
  const Workload w = draw_workload({.min_ops = 10, .max_ops = 10}, 3);
  const learn::ScheduleModel model = untrained_schedules();
  const auto made = [&](std::uint64_t seed) {
    std::pair<Decisions, StateValues> both;
    add_decisions(w, {.most_candidates = 20, .seed = seed}, model, both.first, both.second);
    return both;
  };
  const auto one = made(1), two = made(1), other = made(2);
  EXPECT_EQ(one.first.rows, two.first.rows);
  EXPECT_EQ(one.first.regret, two.first.regret);
  EXPECT_EQ(one.first.sizes, two.first.sizes);
  EXPECT_EQ(one.second.rows, two.second.rows);
  EXPECT_EQ(one.second.targets, two.second.targets);
  EXPECT_NE(one.first.rows, other.first.rows);
  // Without a model the same decisions.
  Decisions alone;
  add_decisions(w, {.most_candidates = 20, .seed = 1}, alone);
  EXPECT_EQ(alone.rows, one.first.rows);
}

// Every candidate but the last kernels has a state after it, with a latent that the model rolled there.
TEST(WalkDecisions, values_are_what_the_bound_misses) {
  const Workload w = draw_workload({.kind = GraphKind::memory_bound, .min_ops = 9, .max_ops = 9}, 5);
  const walk::RunTable runs(w.graph, w.hardware);
  const WalkProblem problem(w.graph, w.hardware, runs, {});
  const walk::Features features(w.graph, w.hardware, runs);
  const learn::ScheduleModel model = untrained_schedules();
  Decisions decisions;
  StateValues values;
  add_decisions(w, {.episodes = 1, .most_candidates = 100'000, .seed = 1}, model, decisions, values);
  const std::size_t width = value_inputs(model);
  ASSERT_EQ(values.rows.size(), width * values.targets.size());
  EXPECT_LE(values.targets.size(), decisions.regret.size());
  EXPECT_GE(*std::min_element(values.targets.begin(), values.targets.end()), -1e-5F);
  // The first state's candidates, in order.
  std::vector<float> workload(walk::workload_schema().size());
  features.workload(workload);
  const learn::Matrix<float> start = model.start(workload);
  std::vector<Kernel> kernels;
  problem.kernels(problem.initial(), kernels);
  std::size_t at = 0;
  for (const Kernel& kernel : kernels) {
    const State after = problem.apply(problem.initial(), kernel);
    if (problem.progress(after) == problem.horizon()) continue;
    std::vector<float> tokens;
    walk::append_tokens(features, problem.initial(), kernel, tokens);
    learn::RollScratch rolled;
    const std::vector<int> lengths = {kernel.count};
    model.roll({.start = start, .tokens = tokens, .lengths = lengths}, rolled);
    std::vector<float> row(width);
    value_row(model, features, after, rolled.last.view().data(), row);
    ASSERT_EQ(std::vector<float>(values.rows.begin() + static_cast<std::ptrdiff_t>(at * width),
                                 values.rows.begin() + static_cast<std::ptrdiff_t>((at + 1) * width)),
              row);
    const auto best = search::exact(problem, {}, after);
    EXPECT_NEAR(values.targets[at], (best.cost - problem.bound(after)) / features.mean_cycles(), 1e-5);
    ++at;
  }
}

TEST(WalkDecisions, relevance_falls_with_regret) {
  EXPECT_EQ(relevance(0), 4);
  EXPECT_EQ(relevance(1e-12), 4);  // the rounding of a sum
  EXPECT_EQ(relevance(1e-3), 3);
  EXPECT_EQ(relevance(100), 0);
  float before = 4;
  std::set<float> levels;
  for (double regret = 1e-10; regret < 10; regret *= 1.1) {
    EXPECT_LE(relevance(regret), before);
    before = relevance(regret);
    levels.insert(before);
  }
  EXPECT_EQ(levels, (std::set<float>{0, 1, 2, 3, 4}));
}

TEST(WalkTraining, draws_graphs_that_differ) {
  const auto drawn = draw_workloads(40, {.min_ops = 3, .max_ops = 5}, 2);
  ASSERT_EQ(drawn.size(), 80U);
  for (const GraphKind kind : {GraphKind::mixed, GraphKind::memory_bound}) {
    std::set<std::string> hashes;
    for (const DrawnWorkload& one : drawn)
      if (one.kind == kind) {
        hashes.insert(graph_hash(one.workload.graph));
        EXPECT_EQ(one.split, learn::split_of(graph_hash(one.workload.graph)));
      }
    EXPECT_EQ(hashes.size(), 40U);
  }
  EXPECT_THAT(error_of([] { draw_workloads(1000, {.min_ops = 2, .max_ops = 2}, 2); }),
              testing::HasSubstr("expected fewer, or a larger range of ops"));
}

TEST(WalkTraining, a_mean_lies_within_its_interval) {
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(i % 10);
  const learn::Estimate estimate = mean_estimate(values);
  EXPECT_DOUBLE_EQ(estimate.value, 4.5);
  // 2.87 / sqrt(200) = .203 is a standard error.
  EXPECT_NEAR(estimate.low, 4.5 - 1.96 * .203, .06);
  EXPECT_NEAR(estimate.high, 4.5 + 1.96 * .203, .06);
  const std::vector<double> one = {3};
  EXPECT_EQ(mean_estimate(one).low, 3);
  EXPECT_EQ(mean_estimate({}).value, 0);
}

}  // namespace
}  // namespace fuselage::oracle
