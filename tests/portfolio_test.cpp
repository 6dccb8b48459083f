// The portfolio on toys whose optimum a table knows: engines side by side without local improvement (a toy
// has no neighbours), plans that are known beforehand, and what ends it.

#include "fuselage/search/portfolio.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "fuselage/oracle/solve.h"
#include "fuselage/walk/generator.h"
#include "toy.h"

namespace fuselage::search {
namespace {

using Toy = ToyProblem;
using ToyPlan = Incumbent<Toy::Kernel>;

static_assert(!HasNeighbours<Toy>);

auto run(const Toy& toy, const PortfolioOptions& options, const ToyPlan& known = {}) {
  KeepAll guide;
  return Portfolio<Toy>(toy, guide, options, toy.initial(), known).run();
}

void expect_plan(const Toy& toy, const std::vector<Toy::Kernel>& plan, double cost) {
  double sum = 0;
  auto s = toy.initial();
  for (const auto& k : plan) {
    sum += toy.price(s, k);
    s = toy.apply(s, k);
  }
  EXPECT_EQ(sum, cost);
  EXPECT_EQ(toy.progress(s), toy.horizon());
}

// The cheapest kernel every time, if that leads through.
ToyPlan hasty_plan(const Toy& toy) {
  ToyPlan plan = {.cost = 0};
  std::vector<Toy::Kernel> kernels;
  for (auto s = toy.initial(); toy.progress(s) < toy.horizon();) {
    toy.kernels(s, kernels);
    const auto dearer = [&](const auto& a, const auto& b) { return toy.price(s, a) < toy.price(s, b); };
    plan.plan.push_back(*std::min_element(kernels.begin(), kernels.end(), dearer));
    plan.cost += toy.price(s, plan.plan.back());
    s = toy.apply(s, plan.plan.back());
  }
  return plan;
}

// Rounds so short that every engine gets its turn even on a toy.
PortfolioOptions short_rounds(std::uint64_t steps, int threads, std::uint64_t seed = 0) {
  return {.budget = {.steps = steps}, .seed = seed, .threads = threads, .first_steps = 64, .round_steps = 32};
}

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

class PortfolioThreads : public ::testing::TestWithParam<int> {};

TEST_P(PortfolioThreads, toy_optimum_is_found_and_proven) {
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Toy toy(1 + static_cast<int>(seed % 12), 1 + static_cast<int>(seed % 5), seed);
    for (const bool is_short : {false, true}) {
      const auto outcome = run(
          toy, is_short ? short_rounds(no_limit, GetParam(), seed) : PortfolioOptions{.threads = GetParam()});
      EXPECT_EQ(outcome.infeasible, toy.optimum() == infinite_cost) << seed;
      EXPECT_EQ(outcome.stop, StopReason::exhausted) << seed;
      infeasible += outcome.infeasible;
      if (outcome.infeasible) {
        EXPECT_FALSE(outcome.deepest.empty()) << seed;
        continue;
      }
      EXPECT_EQ(outcome.proof, Proof::optimal) << seed;
      EXPECT_EQ(outcome.cost, toy.optimum()) << seed;
      EXPECT_EQ(outcome.lower_bound, toy.optimum()) << seed;
      expect_plan(toy, outcome.plan, outcome.cost);
    }
  }
  EXPECT_GT(infeasible, 6);
}

TEST_P(PortfolioThreads, a_known_plan_is_the_start_and_never_lost) {
  int kept = 0;
  int improved = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Toy toy(60, 12, seed);
    const auto optimum = exact(toy);
    const auto hasty = hasty_plan(toy);
    for (const std::uint64_t steps : {std::uint64_t{1}, std::uint64_t{2000}, no_limit}) {
      const auto from_optimum =
          run(toy, short_rounds(steps, GetParam()), {.cost = optimum.cost, .plan = optimum.plan});
      EXPECT_EQ(from_optimum.cost, optimum.cost) << seed;
      EXPECT_EQ(from_optimum.plan, optimum.plan) << seed;
      EXPECT_EQ(from_optimum.engine, "start") << seed;
      const auto from_hasty = run(toy, short_rounds(steps, GetParam()), hasty);
      EXPECT_TRUE(from_hasty.found) << seed;
      EXPECT_LE(from_hasty.cost, hasty.cost) << seed;
      if (from_hasty.found) expect_plan(toy, from_hasty.plan, from_hasty.cost);
      if (steps == no_limit) {
        EXPECT_EQ(from_optimum.proof, Proof::optimal) << seed;
        EXPECT_EQ(from_hasty.proof, Proof::optimal) << seed;
        EXPECT_EQ(from_hasty.cost, optimum.cost) << seed;
      }
      (from_hasty.engine == "start" ? kept : improved) += hasty.cost > optimum.cost;
    }
  }
  EXPECT_GT(improved, 5);
}

TEST_P(PortfolioThreads, a_larger_budget_is_never_worse) {
  int improved = 0;
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    const Toy toy(80, 20, seed);
    const double optimum = toy.optimum();
    double before = infinite_cost;
    double lower_before = 0;
    for (int i = 0; i < 20; ++i) {
      const auto steps = static_cast<std::uint64_t>(std::pow(1.8, i));
      const auto outcome = run(toy, short_rounds(steps, GetParam(), seed));
      ASSERT_TRUE(outcome.found) << steps;
      EXPECT_LE(outcome.cost, before) << steps;
      EXPECT_GE(outcome.cost, optimum) << steps;
      EXPECT_GE(outcome.lower_bound, lower_before) << steps;
      EXPECT_LE(outcome.lower_bound, optimum) << steps;
      expect_plan(toy, outcome.plan, outcome.cost);
      improved += outcome.cost < before;
      before = outcome.cost;
      lower_before = outcome.lower_bound;
    }
  }
  EXPECT_GT(improved, 8);
}

TEST_P(PortfolioThreads, same_search_twice_is_the_same) {
  const Toy toy(80, 40, 3);
  for (const std::uint64_t steps : {100U, 5000U, 40'000U}) {
    const auto first = run(toy, short_rounds(steps, GetParam(), 7));
    const auto second = run(toy, short_rounds(steps, GetParam(), 7));
    EXPECT_EQ(first.plan, second.plan);
    EXPECT_EQ(first.steps, second.steps);
    EXPECT_EQ(first.states, second.states);
    EXPECT_EQ(first.lower_bound, second.lower_bound);
    EXPECT_EQ(first.engine, second.engine);
  }
}

TEST_P(PortfolioThreads, every_kind_of_budget_ends_it) {
  const Toy toy(300, 50, 3);
  const std::atomic<bool> cancelled = true;
  const std::pair<Budget, StopReason> budgets[] = {{{.steps = 1}, StopReason::steps},
                                                   {{.steps = 100'000}, StopReason::steps},
                                                   {{.bytes = 1000}, StopReason::memory},
                                                   {{.wall_seconds = 0}, StopReason::time},
                                                   {{.cancel = &cancelled}, StopReason::cancelled}};
  for (const auto& [budget, stop] : budgets) {
    PortfolioOptions options = short_rounds(no_limit, GetParam());
    options.budget = budget;
    const auto outcome = run(toy, options);
    ASSERT_TRUE(outcome.found) << name(stop);
    EXPECT_EQ(outcome.stop, stop) << name(stop);
    EXPECT_EQ(outcome.proof, Proof::none) << name(stop);
    EXPECT_LE(outcome.lower_bound, toy.optimum()) << name(stop);
    expect_plan(toy, outcome.plan, outcome.cost);
  }
}

TEST_P(PortfolioThreads, a_monitor_hears_of_plans_and_bounds) {
  const Toy toy(60, 12, 9);
  double cost = infinite_cost;
  double lower = 0;
  Event last;
  Monitor monitor([&](const Event& event) {
    EXPECT_LE(event.cost, cost);
    EXPECT_GE(event.lower_bound, lower);
    cost = event.cost;
    lower = event.lower_bound;
    last = event;
  });
  PortfolioOptions options = short_rounds(no_limit, GetParam());
  options.monitor = &monitor;
  const auto outcome = run(toy, options);
  EXPECT_EQ(last.cost, outcome.cost);
  EXPECT_EQ(last.lower_bound, outcome.lower_bound);
  EXPECT_LE(last.steps, outcome.steps);
  EXPECT_EQ(outcome.proof, Proof::optimal);
}

INSTANTIATE_TEST_SUITE_P(threads, PortfolioThreads, ::testing::Values(1, 2, 4));

TEST(PortfolioSearch, starts_anywhere) {
  const Toy toy(9, 4, 3);
  KeepAll guide;
  const Toy::State middle = {.column = 5, .row = 2};
  EXPECT_EQ(Portfolio<Toy>(toy, guide, {}, middle).run().cost, exact(toy, {}, std::optional(middle)).cost);
  const auto done = Portfolio<Toy>(toy, guide, {}, {.column = 9, .row = 1}).run();
  EXPECT_TRUE(done.found);
  EXPECT_EQ(done.cost, 0);
  EXPECT_EQ(done.proof, Proof::optimal);
}

// Keeps every other kernel.
struct Dropper {
  using Latent = NoLatent;
  static constexpr bool drops = true;
  NoLatent root(const Toy&, const Toy::State&) const { return {}; }
  void consider(const Toy&, std::span<Expansion<Toy, NoLatent>> batch) const {
    for (auto& e : batch)
      for (std::uint32_t k = 0; k < e.kernels.size(); k += 2) e.keep.push_back(k);
  }
};

// The proof comes from the exact engine, which doesn't ask the guide.
TEST(PortfolioSearch, a_guide_that_drops_spoils_no_proof) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Toy toy(9, 4, seed);
    Dropper guide;
    const auto outcome = Portfolio<Toy, Dropper>(toy, guide, short_rounds(no_limit, 1), toy.initial()).run();
    EXPECT_EQ(outcome.infeasible, toy.optimum() == infinite_cost) << seed;
    if (outcome.infeasible) continue;
    EXPECT_EQ(outcome.proof, Proof::optimal) << seed;
    EXPECT_EQ(outcome.cost, toy.optimum()) << seed;
  }
}

// The bar: all proven, within a second each.
TEST(PortfolioSearch, generated_graphs_are_proven) {
  for (int i = 0; i < 40; ++i) {
    PythonRandom random(static_cast<std::uint64_t>(7000 + i));
    const Workload w = walk::generate({.num_ops = 8 + i * 42 / 39,
                                       .difficulty = static_cast<walk::Difficulty>(i % 4),
                                       .topology = static_cast<walk::Topology>(i % 6)},
                                      random);
    const auto rules = static_cast<walk::Rules>(i % 3);
    const auto solution = oracle::solve(w, {.rules = rules, .threads = 1 + i % 2});
    EXPECT_EQ(solution.proof, Proof::optimal) << i;
    EXPECT_EQ(solution.lower_bound, solution.cost) << i;
  }
}

}  // namespace
}  // namespace fuselage::search
