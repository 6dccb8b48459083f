// The search problem under the fusionops rules: the optima of the environment's tasks, every engine against
// the judge, exact search against trying everything, bounds.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "brute_fusionops_search.h"
#include "fuselage/core/error.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/local.h"
#include "fuselage/search/mcts.h"
#include "grid_fusionops_random.h"
#include "grid_problems.h"

namespace fuselage::grid {
namespace {

using oracle::Engine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array both = {RuleSet::fusionops, RuleSet::fusionops_honest};
std::string_view text(RuleSet set) {
  return rule_set_names[static_cast<std::size_t>(set)];
}

struct Optimum {
  std::string_view task;
  double honest = 0;
  double loose = 0;  // as the environment allows
};
constexpr std::array<Optimum, 4> optima = {Optimum{"task1_linear", 3900, 3900},
                                           {"task2_diamond", 6600, 6600},
                                           {"task3_matmul", 8553.6, 7776.8},
                                           {"task4_multistage", 9534.4, 9296}};

TEST(GridFusionopsSearch, the_tasks_are_solved_with_proof) {
  for (const Optimum& optimum : optima) {
    const FusionopsTask& task = *find_fusionops_task(optimum.task);
    for (const RuleSet set : both)
      for (const Engine engine : {Engine::exact, Engine::automatic, Engine::beam, Engine::mcts}) {
        const std::string name = fmt::format("{} {} {}", task.name, text(set), oracle::name(engine));
        const auto solution =
            oracle::solve_grid(task.instance, {.rules = {.set = set}, .engine = engine, .width = 1 << 12});
        const double expected = set == RuleSet::fusionops ? optimum.loose : optimum.honest;
        EXPECT_NEAR(solution.latency, expected, 1e-9 * expected) << name;
        EXPECT_NE(solution.proof, search::Proof::none) << name;
        EXPECT_LE(solution.lower_bound, solution.latency) << name;
        EXPECT_LE(static_cast<int>(solution.plan.kernels.size()), task.max_steps) << name;
        EXPECT_TRUE(evaluate(task.instance, {.set = set}, solution.plan).valid()) << name;
      }
  }
}

TEST(GridFusionopsSearch, every_engine_solves_the_tasks_within_their_steps) {
  for (const FusionopsTask& task : fusionops_tasks())
    for (const RuleSet set : both)
      for (const Engine engine : {Engine::local, Engine::greedy, Engine::naive}) {
        const auto solution = oracle::solve_grid(
            task.instance, {.rules = {.set = set}, .engine = engine, .budget = {.steps = 20'000}});
        EXPECT_TRUE(solution.evaluation.valid()) << task.name;
        EXPECT_LE(static_cast<int>(solution.plan.kernels.size()), task.max_steps) << task.name;
        EXPECT_LE(solution.latency, solution.naive_latency) << task.name;
        EXPECT_LE(solution.naive_latency, fusionops_naive_latency(task.instance)) << task.name;
      }
}

// What the search claims is what the judge says, kernel by kernel.
void expect_judged(const GridProblem& problem, RuleSet set, const std::vector<GridKernel>& kernels,
                   const std::string& name) {
  double cost = 0;
  State s = problem.initial();
  for (const GridKernel& k : kernels) {
    cost += problem.price(s, k);
    s = problem.apply(s, k);
  }
  EXPECT_EQ(problem.progress(s), problem.horizon()) << name;
  const Evaluation judged = evaluate(problem.instance(), {.set = set}, problem.plan_of(kernels));
  ASSERT_TRUE(judged.valid()) << name << ": " << judged.violation->message;
  EXPECT_EQ(judged.latency, cost) << name;
}

void expect_all_judged(const Instance& instance, RuleSet set, const SpaceOptions& space,
                       const std::string& name) {
  const GridProblem problem(instance, {.set = set}, space);
  const Budget budget{.steps = 3'000};
  expect_judged(problem, set, problem.naive(), name + " naive");
  const std::vector<GridKernel> greedy = problem.greedy();
  expect_judged(problem, set, greedy, name + " greedy");
  const auto exact = search::exact(problem, {.budget = budget});
  const auto beam = search::beam(problem, {.width = 4});
  const auto mcts = search::mcts(problem, {.budget = budget});
  const auto local = search::local(problem, greedy, {.budget = budget});
  for (const auto& [outcome, engine] :
       {std::pair(&exact, "exact"), {&beam, "beam"}, {&mcts, "mcts"}, {&local, "local"}}) {
    ASSERT_TRUE(outcome->found) << name << ' ' << engine;
    expect_judged(problem, set, outcome->plan, name + " " + engine);
    EXPECT_LE(problem.bound(problem.initial()), outcome->cost * (1 + 1e-9)) << name << ' ' << engine;
  }
}

TEST(GridFusionopsSearch, plans_of_every_engine_are_judged_alike_to_the_bit) {
  for (const FusionopsTask& task : fusionops_tasks())
    for (const RuleSet set : both) expect_all_judged(task.instance, set, {}, std::string(task.name));
  int problems = 0;
  for (unsigned seed = 0; problems < 60 && !::testing::Test::HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const Instance instance = random_outputs(
        random, random_instance(random, {.ops = 3 + static_cast<int>(seed % 7), .capacity = 1500}));
    try {
      for (const RuleSet set : both) {
        expect_all_judged(instance, set, {}, fmt::format("seed {} {}", seed, text(set)));
        // Also where groups are grown and starts are few.
        expect_all_judged(instance, set, {.starts = 2, .whole_ops = 0},
                          fmt::format("seed {} {} grown", seed, text(set)));
      }
      ++problems;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("at no granularity")) << seed;
    }
  }
}

// Small enough that every granularity is declared.
Instance tiny(std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  return random_outputs(random,
                        random_instance(random, {.ops = 2 + static_cast<int>(below(3)),
                                                 .capacity = 6 + static_cast<std::int64_t>(below(30)),
                                                 .bandwidth = 0.01 * static_cast<double>(1 + below(15)),
                                                 .sizes = {1, 2, 3}}));
}

TEST(GridFusionopsSearch, exact_search_finds_what_trying_everything_finds) {
  int problems = 0;
  int retaining = 0;
  int apart = 0;
  for (unsigned seed = 0; problems < 200 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const Instance instance = tiny(random);
    std::array<double, 2> found = {};
    try {
      for (const RuleSet set : both) {
        const GridProblem problem(instance, {.set = set});
        const auto exact = search::exact(problem);
        ASSERT_TRUE(exact.found) << seed;
        EXPECT_NE(exact.proof, search::Proof::none);
        const double optimum = BruteFusionopsSearch(instance, set == RuleSet::fusionops_honest).optimum();
        EXPECT_NEAR(exact.cost, optimum, 1e-9 * optimum) << "seed " << seed << ' ' << text(set);
        EXPECT_LE(problem.bound(problem.initial()), optimum * (1 + 1e-9)) << "seed " << seed;
        for (std::size_t i = 0; i + 1 < exact.plan.size(); ++i) retaining += exact.plan[i].retained != 0;
        found[set == RuleSet::fusionops ? 0 : 1] = exact.cost;
      }
    } catch (const Error&) {
      continue;
    }
    EXPECT_LE(found[0], found[1] * (1 + 1e-9)) << "what is honest is allowed, seed " << seed;
    apart += found[0] < found[1] * (1 - 1e-9);
    ++problems;
  }
  EXPECT_GT(retaining, 100);
  EXPECT_GT(apart, 50);
}

TEST(GridFusionopsSearch, bounds_never_exceed_what_is_left_of_an_optimal_plan) {
  int problems = 0;
  int tight = 0;
  for (unsigned seed = 1000; problems < 200 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const Instance instance = random_outputs(
        random, random_instance(random, {.ops = 2 + static_cast<int>(seed % 4),
                                         .capacity = 1000,
                                         .bandwidth = 0.5 * static_cast<double>(1 + seed % 40)}));
    try {
      for (const RuleSet set : both) {
        const GridProblem problem(instance, {.set = set});
        const auto exact = search::exact(problem);
        State s = problem.initial();
        double left = exact.cost;
        for (const GridKernel& k : exact.plan) {
          EXPECT_LE(problem.bound(s), left + 1e-9 * exact.cost) << "seed " << seed << ' ' << text(set);
          left -= problem.price(s, k);
          s = problem.apply(s, k);
        }
        tight += problem.bound(problem.initial()) > 0.8 * exact.cost;
      }
      ++problems;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(tight, 100);
}

// ---- what these rules allow

// Two ops apart: what the first makes is retained to save its store, and dropped since it is in the way.
TEST(GridFusionopsSearch, a_step_without_ops_drops_what_saved_a_store) {
  const Instance instance(squares(4, 128), {pointwise({0}, 1, 1000), pointwise({2}, 3, 1000)},
                          machine_of(2 * 128 * 128));
  const auto solution = oracle::solve_grid(instance, {.rules = {.set = RuleSet::fusionops}});
  EXPECT_DOUBLE_EQ(solution.latency, 2 * 1638.4);
  ASSERT_EQ(solution.plan.kernels.size(), 3U);
  EXPECT_THAT(solution.plan.kernels[0].retain, ElementsAre(1));
  EXPECT_THAT(solution.plan.kernels[1].ops, IsEmpty());
  EXPECT_THAT(solution.plan.kernels[2].ops, ElementsAre(1));
  const auto honest = oracle::solve_grid(instance, {.rules = {.set = RuleSet::fusionops_honest}});
  EXPECT_DOUBLE_EQ(honest.latency, 4 * 1638.4);
}

// A pointwise op and a matmul read tensor 0. Named last, the matmul makes it a right operand, which split
// over k takes less room than a tile.
TEST(GridFusionopsSearch, ops_are_named_in_the_order_that_cuts_best) {
  const Instance instance(squares(5, 128),
                          {matmul(1, 0, 2, 6000), pointwise({0, 2}, 3, 10), pointwise({3}, 4, 10)},
                          machine_of(128 * 128 * 9 / 4));
  const auto solution = oracle::solve_grid(instance, {.rules = {.set = RuleSet::fusionops_honest}});
  ASSERT_EQ(solution.plan.kernels.size(), 1U);
  EXPECT_THAT(solution.plan.kernels[0].ops, ElementsAre(1, 0, 2));
  EXPECT_LE(solution.latency, 7136);  // k = 32; with a tile of tensor 0 there must be two, and twice the work
}

}  // namespace
}  // namespace fuselage::grid
