// What holds for every engine of `solve`, whichever it is: brute force agrees on tiny graphs, a larger budget
// is never worse, the same search twice is the same, and whatever comes back passes the independent check.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "brute_physical.h"
#include "brute_plans.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/objective.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/mcts.h"
#include "fuselage/walk/generator.h"
#include "heads.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using search::Proof;
using walk::Order;
using walk::Rules;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Engine engines[] = {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local};

struct RuleSet {
  Rules rules = Rules::seed_honest;
  Order order = Order::fixed;
};
constexpr RuleSet rule_sets[] = {
    {Rules::seed}, {Rules::seed_honest}, {Rules::physical}, {Rules::physical, Order::free}};

SolveOptions options_of(const RuleSet& set, Engine engine) {
  return {.rules = set.rules, .order = set.order, .engine = engine};
}
std::string described(const SolveOptions& options) {
  return fmt::format("{} {} {}, {} steps, seed {}, {} threads", name(options.engine), name(options.rules),
                     name(options.order), options.budget.steps, options.seed, options.threads);
}

// Refused (no node fits at all): nothing.
std::optional<Solution> solved(const Workload& w, const SolveOptions& options) {
  try {
    return solve(w, options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// `solve` checks plans itself; this doesn't lean on that.
void expect_checked(const Workload& w, const SolveOptions& options, const Solution& solution) {
  const std::string what = described(options);
  const auto checked =
      simulate(w.graph, w.hardware, solution.plan, {.rules = options.rules, .order = options.order});
  ASSERT_TRUE(checked.legal()) << what << ": " << checked.fault->message;
  EXPECT_EQ(checked.latency, solution.latency) << what;
  EXPECT_EQ(objective(charges(w.graph, checked), options.price), solution.cost) << what;
  EXPECT_LE(solution.lower_bound, solution.cost) << what;
  EXPECT_GE(solution.lower_bound, 0) << what;
  if (solution.proof == Proof::optimal) {
    EXPECT_TRUE(meets(solution.lower_bound, solution.cost)) << what;
  }
}

double brute_optimum(const Workload& w, const RuleSet& set) {
  const walk::Space space = {.fronts = false};
  if (set.rules == Rules::physical) return walk::BrutePhysical(w, set.order, space).optimum();
  return walk::BrutePlans(w, set.rules, space).front().least();
}

// ---- brute force

TEST(Engines, agree_with_brute_force_on_tiny_graphs) {
  Dice dice(500);
  int infeasible = 0;
  int missed_by_local = 0;
  for (int i = 0; i < 500; ++i) {
    const RuleSet& set = rule_sets[i % 4];
    Workload w = random_workload(dice, {.nodes = 1 + i / 4 % 5, .costly = i % 10 == 9});
    if (i % 16 < 4) w.hardware.fast_mem_capacity /= 4;
    const double optimum = brute_optimum(w, set);
    for (const Engine engine : engines) {
      SolveOptions options = options_of(set, engine);
      options.width = search::unlimited;
      options.seed = static_cast<std::uint64_t>(i);
      options.threads = 1 + i / 8 % 2;
      if (engine == Engine::local) options.budget.steps = 5000;
      const auto solution = solved(w, options);
      if (!solution) continue;
      const std::string what = fmt::format("graph {}: {}", i, described(options));
      const double rounding = 1e-9 * optimum;
      if (engine == Engine::local) {
        if (!solution->found) continue;
        EXPECT_GE(solution->cost, optimum - rounding) << what;
        missed_by_local += solution->cost > optimum + rounding;
      } else {
        EXPECT_EQ(solution->infeasible.has_value(), optimum == infinity) << what;
        infeasible += solution->infeasible.has_value();
        if (optimum == infinity) continue;
        ASSERT_TRUE(solution->found) << what;
        EXPECT_EQ(solution->proof, Proof::optimal) << what;
        EXPECT_NEAR(solution->cost, optimum, rounding) << what;
      }
      expect_checked(w, options, *solution);
    }
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_LE(missed_by_local, 10) << "of 500";
}

// ---- graphs on which budgets bind

// Each node reads several of those just before it: many live tensors, so many sets of residents.
Workload dense_graph(int nodes, double bandwidth) {
  Dice dice(7);
  std::vector<Node> list;
  for (NodeId id = 0; id < nodes; ++id) {
    std::vector<NodeId> inputs;
    for (NodeId back = 1; back <= std::min(id, 9); ++back)
      if (back == 1 || dice.chance(45)) inputs.push_back(id - back);
    list.push_back(
        derived_node(dice.pick({Op::matmul, Op::relu, Op::add}), 64, 32 * dice.between(1, 5), inputs));
  }
  return {"dense",
          Graph(std::move(list)),
          {.fast_mem_capacity = 150'000,
           .slow_mem_bandwidth = bandwidth,
           .kernel_launch_cost = 1000,
           .max_fusion_depth = 4}};
}

struct Case {
  Engine engine;
  int threads;
  Rules rules;  // in fixed order
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << name(c.engine) << ", " << c.threads << " threads, " << name(c.rules);
}

class EngineBudgets : public ::testing::TestWithParam<Case> {
 protected:
  // 1 ... 200,000, evenly apart on a log scale.
  static std::uint64_t budget(int i) {
    return static_cast<std::uint64_t>(std::llround(std::pow(200'000.0, i / 19.0)));
  }
  SolveOptions options(const RuleSet& set, std::uint64_t steps) const {
    SolveOptions options = options_of(set, GetParam().engine);
    options.budget.steps = steps;
    options.width = search::unlimited;
    options.seed = 3;
    options.threads = GetParam().threads;
    return options;
  }

  void rise(const Workload& w, const RuleSet& set) {
    double before = infinity;
    double lower_before = 0;
    double first = 0;
    for (int i = 0; i < 20; ++i) {
      const SolveOptions now = options(set, budget(i));
      const Solution solution = solve(w, now);
      const std::string what = described(now);
      ASSERT_TRUE(solution.found) << what;
      EXPECT_LE(solution.cost, before) << what << ": worse than with fewer steps";
      EXPECT_GE(solution.lower_bound, lower_before * (1 - 1e-12)) << what << ": below that of fewer steps";
      EXPECT_LE(solution.lower_bound, solution.cost) << what;
      expect_checked(w, now, solution);
      before = solution.cost;
      lower_before = solution.lower_bound;
      if (i == 0) first = solution.cost;
    }
    EXPECT_LT(before, first) << "200,000 steps found nothing better than the first plan";
  }
};

TEST_P(EngineBudgets, a_larger_one_is_never_worse) {
  rise(dense_graph(50, 0.7), {GetParam().rules});
}
TEST_P(EngineBudgets, a_larger_one_is_never_worse_order_free) {
  HeadsOptions heads = {.heads = 6};
  heads.hardware.fast_mem_capacity = 48 << 10;  // neither tight nor ample: hard to prove
  rise(heads_workload(heads), {Rules::physical, Order::free});
}

// A plan that is better than the search knows would be lost to one that it believes better.
TEST(Engines, what_is_claimed_under_seed_is_what_is_charged) {
  for (int nodes = 20; nodes < 50; nodes += 3)
    for (const std::uint64_t steps : {1U, 300U, 8000U}) {
      const Workload w = dense_graph(nodes, 0.7);
      const walk::RunTable runs(w.graph, w.hardware);
      const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = Rules::seed});
      const auto outcome = search::mcts(problem, {.budget = {.steps = steps}, .seed = 1});
      const auto checked =
          simulate(w.graph, w.hardware, problem.plan_of(outcome.plan), {.rules = Rules::seed});
      EXPECT_NEAR(checked.latency, outcome.cost, 1e-9 * outcome.cost) << nodes << ' ' << steps;
    }
}

TEST_P(EngineBudgets, same_search_twice_is_the_same) {
  const Workload w = dense_graph(50, 1);
  for (const RuleSet& set : rule_sets) {
    const SolveOptions now = options(set, 8000);
    const Solution first = solve(w, now);
    const Solution second = solve(w, now);
    EXPECT_EQ(first.plan, second.plan) << described(now);
    EXPECT_EQ(first.lower_bound, second.lower_bound) << described(now);
    EXPECT_EQ(first.steps, second.steps) << described(now);
    EXPECT_EQ(first.states, second.states) << described(now);
  }
}

INSTANTIATE_TEST_SUITE_P(engines, EngineBudgets,
                         ::testing::Values(Case{Engine::automatic, 1, Rules::physical},
                                           Case{Engine::automatic, 2, Rules::seed_honest},
                                           Case{Engine::exact, 1, Rules::seed_honest},
                                           Case{Engine::beam, 2, Rules::physical},
                                           Case{Engine::mcts, 1, Rules::seed_honest},
                                           Case{Engine::mcts, 2, Rules::seed},
                                           Case{Engine::local, 1, Rules::physical}));

TEST(Engines, a_proven_optimum_is_the_same_for_any_threads) {
  for (int i = 0; i < 24; ++i) {
    PythonRandom random(static_cast<std::uint64_t>(300 + i));
    const Workload w =
        walk::generate({.num_ops = 12 + i, .difficulty = static_cast<walk::Difficulty>(i % 4)}, random);
    SolveOptions options = options_of(rule_sets[i % 4], Engine::exact);
    const Solution one = solve(w, options);
    for (const int threads : {2, 5}) {
      options.threads = threads;
      const Solution more = solve(w, options);
      EXPECT_EQ(more.plan, one.plan) << described(options);
      EXPECT_EQ(more.proof, Proof::optimal) << described(options);
    }
  }
}

// ---- thousands of plans

walk::Price random_price(Dice& dice) {
  if (dice.chance(50)) return {};
  return {.traffic = dice.pick({0.0, 0.01, 0.3, 20.0}),
          .launch = dice.pick({0.0, 700.0, 2e6}),
          .residency = dice.pick({0.0, 0.0, 1e-3, 0.1})};
}

TEST(Engines, every_plan_passes_the_check) {
  Dice dice(2024);
  int plans = 0;
  int unproven = 0;
  for (int i = 0; i < 160; ++i) {
    const int nodes = dice.between(2, 26);
    PythonRandom random(static_cast<std::uint64_t>(i));
    const Workload w = i % 2 == 0 ? random_workload(dice, {.nodes = nodes, .costly = i % 20 == 0})
                                  : walk::generate({.num_ops = std::max(4, nodes),
                                                    .difficulty = static_cast<walk::Difficulty>(i / 2 % 4),
                                                    .topology = static_cast<walk::Topology>(i / 8 % 6)},
                                                   random);
    SolveOptions options = {.rules = rule_sets[i / 3 % 4].rules, .order = rule_sets[i / 3 % 4].order};
    options.price = random_price(dice);
    options.may_fuse = !dice.chance(5);
    options.may_retain = !dice.chance(5);
    options.seed = static_cast<std::uint64_t>(i);
    options.threads = dice.between(1, 2);
    double least = infinity;
    double highest_bound = 0;
    for (const Engine engine : engines)
      for (const std::uint64_t steps : {1U, 40U, 500U, 5000U}) {
        options.engine = engine;
        options.budget.steps = steps;
        options.width = static_cast<std::size_t>(dice.pick({1, 3, 16, 1000}));
        const auto solution = solved(w, options);
        if (!solution || !solution->found) continue;
        expect_checked(w, options, *solution);
        least = std::min(least, solution->cost);
        highest_bound = std::max(highest_bound, solution->lower_bound);
        ++plans;
        unproven += solution->proof == Proof::none;
      }
    EXPECT_LE(highest_bound, least * (1 + 1e-9)) << i << ": a bound above another engine's plan";
  }
  EXPECT_GT(plans, 2500);
  EXPECT_GT(unproven, 500);
}

}  // namespace
}  // namespace fuselage::oracle
