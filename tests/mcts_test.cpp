// Tree search against known optima, what it claims while it is not done, and that it is the same search
// whatever cuts it short.

#include "fuselage/search/mcts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "error_of.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"
#include "toy.h"

namespace fuselage::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ToyProblem toy_of(std::uint64_t seed) {
  return ToyProblem(1 + static_cast<int>(seed % 12), 1 + static_cast<int>(seed % 5), seed);
}

// A toy with so many kernels a state that they are priced a part at a time.
ToyProblem wide_toy(std::uint64_t seed) {
  return ToyProblem(5, 600, seed);
}

template <Problem P>
void expect_plan(const P& problem, const std::vector<typename P::Kernel>& plan, double cost) {
  double sum = 0;
  auto s = problem.initial();
  for (const auto& k : plan) {
    sum += problem.price(s, k);
    s = problem.apply(s, k);
  }
  EXPECT_EQ(sum, cost);
  EXPECT_EQ(problem.progress(s), problem.horizon());
}

TEST(Mcts, toy_optimum_is_found_and_proven) {
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ToyProblem toy = toy_of(seed);
    const auto outcome = mcts(toy, {.seed = seed % 3, .backup = seed % 2 == 0 ? Backup::max : Backup::mean});
    EXPECT_EQ(outcome.stop, StopReason::exhausted) << seed;
    EXPECT_EQ(outcome.lower_bound, toy.optimum()) << seed;
    EXPECT_EQ(outcome.infeasible, toy.optimum() == infinity) << seed;
    infeasible += outcome.infeasible;
    if (outcome.infeasible) {
      EXPECT_FALSE(outcome.found) << seed;
      EXPECT_FALSE(outcome.deepest.empty()) << seed;
      continue;
    }
    EXPECT_EQ(outcome.proof, Proof::optimal) << seed;
    EXPECT_EQ(outcome.cost, toy.optimum()) << seed;
    expect_plan(toy, outcome.plan, outcome.cost);
  }
  EXPECT_GT(infeasible, 3);
}

TEST(Mcts, a_complete_state_needs_nothing) {
  const ToyProblem toy(3, 2, 1);
  const auto outcome = mcts(toy, {}, ToyProblem::State{.column = 3, .row = 1});
  EXPECT_TRUE(outcome.found);
  EXPECT_EQ(outcome.cost, 0);
  EXPECT_EQ(outcome.proof, Proof::optimal);
  EXPECT_TRUE(outcome.plan.empty());
}

TEST(Mcts, bounds_hold_at_every_pause) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ToyProblem toy(8 + static_cast<int>(seed % 9), 4, seed);
    const double optimum = toy.optimum();
    KeepAll guide;
    MctsTree<ToyProblem> tree(toy, guide, {.seed = seed % 2}, toy.initial());
    double lower_before = 0;
    for (bool is_done = false; !is_done;) {
      Meter meter({.steps = 20});
      is_done = tree.run(meter);
      EXPECT_LE(tree.lower_bound(), optimum) << seed;
      EXPECT_GE(tree.lower_bound(), lower_before) << seed;
      EXPECT_GE(tree.best().cost, optimum) << seed;
      EXPECT_EQ(tree.proof() == Proof::optimal, is_done) << seed;
      lower_before = tree.lower_bound();
      if (tree.best().found()) expect_plan(toy, tree.best().plan, tree.best().cost);
    }
    EXPECT_EQ(tree.best().cost, optimum) << seed;
  }
}

TEST(Mcts, where_a_run_is_cut_does_not_change_the_search) {
  const ToyProblem toy(40, 6, 5);
  KeepAll guide;
  MctsTree<ToyProblem> whole(toy, guide, {.seed = 4}, toy.initial());
  MctsTree<ToyProblem> pieces(toy, guide, {.seed = 4}, toy.initial());
  Meter meter({});
  whole.run(meter);
  std::uint64_t steps = 0;
  for (bool is_done = false; !is_done;) {
    Meter some({.steps = 1});
    is_done = pieces.run(some);
    steps += some.steps();
  }
  EXPECT_EQ(steps, meter.steps());
  EXPECT_EQ(whole.states(), pieces.states());
  EXPECT_EQ(whole.best().plan, pieces.best().plan);
}

TEST(Mcts, seeds_differ_and_repeat) {
  const ToyProblem toy(80, 20, 3);
  const auto one = mcts(toy, {.budget = {.steps = 20000}, .seed = 1});
  const auto again = mcts(toy, {.budget = {.steps = 20000}, .seed = 1});
  const auto other = mcts(toy, {.budget = {.steps = 20000}, .seed = 2});
  EXPECT_EQ(one.plan, again.plan);
  EXPECT_EQ(one.states, again.states);
  EXPECT_NE(one.plan, other.plan);
}

// ---- offers

TEST(Mcts, an_offer_prunes_and_keeps_the_optimum) {
  std::uint64_t steps_without = 0;
  std::uint64_t steps_with = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const ToyProblem toy(14, 5, seed);
    const double optimum = toy.optimum();
    KeepAll guide;
    for (double offer : {infinity, optimum + 1, optimum}) {
      MctsTree<ToyProblem> tree(toy, guide, {}, toy.initial());
      tree.offer(offer);
      Meter meter({});
      EXPECT_TRUE(tree.run(meter)) << seed;
      EXPECT_EQ(tree.lower_bound(), optimum) << seed;
      EXPECT_GE(tree.best().cost, optimum) << seed;
      if (offer > optimum) {
        EXPECT_EQ(tree.best().cost, optimum) << seed;
      }
      (offer == optimum ? steps_with : steps_without) += meter.steps();
    }
  }
  EXPECT_LT(2 * steps_with, steps_without);
}

// ---- budgets

class Threads : public ::testing::TestWithParam<int> {};

TEST_P(Threads, a_larger_budget_is_never_worse) {
  int improved = 0;
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    const ToyProblem toy(80, 20, seed);
    double before = infinity;
    for (int i = 0; i < 20; ++i) {
      const auto steps = static_cast<std::uint64_t>(std::pow(1.7, i));
      const auto outcome = mcts(toy, {.budget = {.steps = steps}, .seed = seed, .threads = GetParam()});
      ASSERT_TRUE(outcome.found) << steps;
      EXPECT_LE(outcome.cost, before) << steps;
      EXPECT_LE(outcome.lower_bound, toy.optimum()) << steps;
      expect_plan(toy, outcome.plan, outcome.cost);
      improved += outcome.cost < before;
      before = outcome.cost;
    }
  }
  EXPECT_GT(improved, 9);
}

TEST_P(Threads, same_search_twice_is_the_same) {
  Dice dice(3);
  const Workload w = random_workload(dice, {.nodes = 40});
  const walk::RunTable runs(w.graph, w.hardware);
  const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = walk::Rules::physical});
  const MctsOptions options = {.budget = {.steps = 30'000}, .seed = 11, .threads = GetParam()};
  const auto first = mcts(problem, options);
  const auto second = mcts(problem, options);
  EXPECT_EQ(problem.plan_of(first.plan), problem.plan_of(second.plan));
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.states, second.states);
  EXPECT_EQ(first.lower_bound, second.lower_bound);
}

TEST_P(Threads, every_kind_of_budget_gives_a_plan) {
  Dice dice(3);
  const Workload w = random_workload(dice, {.nodes = 40});
  const walk::RunTable runs(w.graph, w.hardware);
  const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = walk::Rules::physical});
  const std::atomic<bool> cancelled = true;
  const std::pair<Budget, StopReason> budgets[] = {
      {{.steps = 1}, StopReason::steps},          {{.steps = 5000}, StopReason::steps},
      {{.bytes = 512 << 10}, StopReason::memory}, {{.wall_seconds = 0}, StopReason::time},
      {{.wall_seconds = 0.02}, StopReason::time}, {{.cancel = &cancelled}, StopReason::cancelled}};
  for (const auto& [budget, stop] : budgets) {
    const auto outcome = mcts(problem, {.budget = budget, .threads = GetParam()});
    ASSERT_TRUE(outcome.found) << name(stop);
    EXPECT_EQ(outcome.stop, stop);
    EXPECT_EQ(outcome.proof, Proof::none);
    EXPECT_GT(outcome.lower_bound, 0);
    EXPECT_LE(outcome.lower_bound, outcome.cost);
    const auto checked = oracle::simulate(w.graph, w.hardware, problem.plan_of(outcome.plan),
                                          {.rules = walk::Rules::physical});
    ASSERT_TRUE(checked.legal()) << name(stop) << ": " << checked.fault->message;
    EXPECT_NEAR(checked.latency, outcome.cost, 1e-9 * outcome.cost);
  }
}

TEST_P(Threads, toys_are_proven) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ToyProblem toy = toy_of(seed);
    const auto outcome = mcts(toy, {.seed = seed, .threads = GetParam()});
    EXPECT_EQ(outcome.lower_bound, toy.optimum()) << seed;
    EXPECT_EQ(outcome.cost, toy.optimum()) << seed;
    EXPECT_EQ(outcome.infeasible, toy.optimum() == infinity) << seed;
    EXPECT_EQ(outcome.proof, outcome.found ? Proof::optimal : Proof::none) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(threads, Threads, ::testing::Values(1, 2, 3));

TEST(Mcts, options_that_make_no_sense_are_refused) {
  const ToyProblem toy(3, 2, 1);
  EXPECT_THAT(error_of([&] { mcts(toy, {.threads = 0}); }), ::testing::HasSubstr("threads: 0"));
  EXPECT_THAT(error_of([&] { mcts(toy, {.widen_from = 0}); }), ::testing::HasSubstr("widen_from: 0"));
}

// ---- widening

TEST(Mcts, widening_prices_a_part_and_proves_in_the_end) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const ToyProblem toy = wide_toy(seed);
    const auto early = mcts(toy, {.budget = {.steps = 1}});
    ASSERT_TRUE(early.found);
    EXPECT_LT(early.steps, 1200U) << "the root alone has 1200 kernels";
    const auto partial = mcts(toy, {.budget = {.steps = 10'000}});
    EXPECT_LE(partial.lower_bound, toy.optimum());
    EXPECT_LT(partial.cost, early.cost);
    const ToyProblem small(4, 100, seed);
    for (std::size_t from : {1U, 2U, 64U, 1000U}) {
      const auto outcome = mcts(small, {.widen_from = from});
      EXPECT_EQ(outcome.proof, Proof::optimal) << from;
      EXPECT_EQ(outcome.cost, small.optimum()) << from;
    }
  }
}

// ---- guides

// Ranks a toy's kernels from the last to the first, with priors and guesses that are none too right; a latent
// counts the kernels from the start.
template <bool Drops>
struct ToyGuide {
  using Latent = int;
  static constexpr bool drops = Drops;
  std::size_t most = Drops ? 3 : std::numeric_limits<std::size_t>::max();
  std::uint64_t asked = 0;
  int deepest = 0;

  int root(const ToyProblem&, const ToyProblem::State&) const { return 0; }
  void consider(const ToyProblem& toy, std::span<Expansion<ToyProblem, int>> batch) {
    for (auto& e : batch) {
      ++asked;
      deepest = std::max(deepest, *e.latent);
      for (auto i = static_cast<std::uint32_t>(e.kernels.size()); i-- > 0 && e.keep.size() < most;) {
        e.keep.push_back(i);
        e.prior.push_back(1.0 / static_cast<double>(e.kernels.size()));
        e.after.push_back(30.0 * (toy.horizon() - e.state->column - e.kernels[i].columns));
        e.latents.push_back(*e.latent + 1);
      }
    }
  }
};

TEST(Mcts, a_guide_that_reorders_keeps_the_proof) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ToyProblem toy(7, 8, seed);
    ToyGuide<false> guide;
    const auto outcome = mcts(toy, {.widen_from = 5}, std::nullopt, guide);
    EXPECT_EQ(outcome.proof, Proof::optimal) << seed;
    EXPECT_EQ(outcome.cost, toy.optimum()) << seed;
    EXPECT_EQ(guide.asked, outcome.states) << "asked once a state";
    EXPECT_GE(guide.deepest, 3);
    ToyGuide<false> parallel;
    EXPECT_EQ(mcts(toy, {.threads = 2}, std::nullopt, parallel).cost, toy.optimum()) << seed;
  }
}

TEST(Mcts, a_guide_that_drops_proves_nothing) {
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const ToyProblem toy(7, 8, seed);
    ToyGuide<true> guide;
    const auto outcome = mcts(toy, {}, std::nullopt, guide);
    EXPECT_EQ(outcome.stop, StopReason::exhausted) << seed;
    EXPECT_EQ(outcome.proof, Proof::none) << seed;
    EXPECT_FALSE(outcome.infeasible) << seed;
    EXPECT_EQ(outcome.lower_bound, toy.bound(toy.initial())) << seed;
    if (outcome.found) {
      expect_plan(toy, outcome.plan, outcome.cost);
    }
    missed += outcome.cost > toy.optimum();
  }
  EXPECT_GT(missed, 50);
}

// Says that it keeps all, and doesn't.
struct Liar {
  using Latent = NoLatent;
  static constexpr bool drops = false;
  NoLatent root(const ToyProblem&, const ToyProblem::State&) const { return {}; }
  void consider(const ToyProblem&, std::span<Expansion<ToyProblem, NoLatent>> batch) const {
    for (auto& e : batch) e.keep.push_back(0);
  }
};

TEST(Mcts, a_guide_that_drops_must_say_so) {
  const ToyProblem toy(7, 8, 1);
  Liar liar;
  EXPECT_THAT(error_of([&] { mcts(toy, {}, std::nullopt, liar); }),
              ::testing::HasSubstr("1 of 16 kernels; a guide that drops must say so"));
}

// A toy whose family says that it doesn't declare everything.
struct CappedToy : ToyProblem {
  using ToyProblem::ToyProblem;
  bool kernels(const State& s, std::vector<Kernel>& out) const {
    ToyProblem::kernels(s, out);
    return false;
  }
};

TEST(Mcts, a_capped_space_is_named) {
  const CappedToy toy(6, 3, 2);
  const auto outcome = mcts(toy);
  EXPECT_EQ(outcome.proof, Proof::optimal_in_declared_space);
  EXPECT_EQ(outcome.cost, toy.optimum());
  EXPECT_EQ(outcome.lower_bound, toy.bound(toy.initial()));
}

// ---- monitor

TEST(Mcts, a_monitor_hears_of_plans_and_bounds) {
  const ToyProblem toy(30, 6, 9);
  for (int threads : {1, 2}) {
    Event last;
    Monitor monitor([&](const Event& event) { last = event; });
    const auto outcome = mcts(toy, {.threads = threads, .monitor = &monitor});
    EXPECT_EQ(last.cost, outcome.cost);
    EXPECT_EQ(last.lower_bound, outcome.cost);
    EXPECT_GT(last.steps, 0U);
    EXPECT_LE(last.steps, outcome.steps);
  }
}

// ---- the walk family

struct RuleSet {
  walk::Rules rules;
  walk::Order order = walk::Order::fixed;
};
void PrintTo(const RuleSet& set, std::ostream* out) {
  *out << name(set.rules) << (set.order == walk::Order::free ? ", order free" : "");
}

class RuleSets : public ::testing::TestWithParam<RuleSet> {};

TEST_P(RuleSets, tiny_graphs_are_solved_and_proven) {
  for (bool costly : {false, true}) {
    Dice dice(77);
    for (int i = 0; i < 150; ++i) {
      const Workload w = random_workload(dice, {.nodes = 1 + i % 6, .costly = costly});
      const walk::RunTable runs(w.graph, w.hardware);
      const walk::WalkProblem problem(w.graph, w.hardware, runs,
                                      {.rules = GetParam().rules, .order = GetParam().order});
      const auto proven = exact(problem);
      const auto outcome = mcts(problem, {.budget = {.steps = 1'000'000}, .threads = 1 + i % 2});
      EXPECT_EQ(outcome.infeasible, proven.infeasible) << i;
      EXPECT_EQ(outcome.proof, proven.proof) << i;
      if (!proven.found) continue;
      EXPECT_NEAR(outcome.cost, proven.cost, 1e-9 * proven.cost) << i;
      EXPECT_LE(outcome.lower_bound, outcome.cost) << i;
    }
  }
}

TEST_P(RuleSets, generated_graphs_are_close_to_their_optimum) {
  double gaps = 0;
  constexpr int graphs = 24;
  for (int i = 0; i < graphs; ++i) {
    PythonRandom random(static_cast<std::uint64_t>(i) + 40);
    const int ops = GetParam().order == walk::Order::free ? 8 + i : 8 + i * 42 / (graphs - 1);
    const Workload w =
        walk::generate({.num_ops = ops, .difficulty = static_cast<walk::Difficulty>(i % 4)}, random);
    const walk::RunTable runs(w.graph, w.hardware);
    const walk::WalkProblem problem(w.graph, w.hardware, runs,
                                    {.rules = GetParam().rules, .order = GetParam().order});
    const auto proven = exact(problem);
    const auto outcome = mcts(problem, {.budget = {.steps = 10'000}});
    ASSERT_TRUE(outcome.found) << i;
    EXPECT_LE(outcome.lower_bound, proven.cost * (1 + 1e-9)) << i;
    EXPECT_GE(outcome.cost, proven.cost * (1 - 1e-9)) << i;
    gaps += gap(outcome.cost, proven.cost);
  }
  EXPECT_LE(gaps / graphs, 0.001);
}

INSTANTIATE_TEST_SUITE_P(rules, RuleSets,
                         ::testing::Values(RuleSet{walk::Rules::seed}, RuleSet{walk::Rules::seed_honest},
                                           RuleSet{walk::Rules::physical},
                                           RuleSet{walk::Rules::physical, walk::Order::free}));

}  // namespace
}  // namespace fuselage::search
