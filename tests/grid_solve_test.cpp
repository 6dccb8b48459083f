// oracle::solve_grid: whatever the engine, the rules and the budget, the judge accepts the plan, and no bound
// is above a plan that somebody found.

#include "fuselage/oracle/grid_solve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/generator.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/problem_json.h"
#include "grid_problems.h"
#include "grid_random.h"

namespace fuselage::oracle {
namespace {

constexpr Engine engines[] = {Engine::automatic, Engine::exact,  Engine::beam, Engine::mcts,
                              Engine::local,     Engine::greedy, Engine::naive};

const std::vector<grid::Rules>& all_rules() {
  static const std::vector<grid::Rules> rules = {
      {.set = grid::RuleSet::mlsys},
      {.set = grid::RuleSet::mlsys, .compute = grid::Compute::native_k},
      {.set = grid::RuleSet::mlsys, .co_consumers = true},
      {.set = grid::RuleSet::fusionops},
      {.set = grid::RuleSet::fusionops_honest}};
  return rules;
}

Budget steps(std::uint64_t count) {
  return {.steps = count};
}

std::string describe(const grid::Instance& instance, const GridSolveOptions& options) {
  return fmt::format("{} engine {} {}", grid::problem_to_json(instance), name(options.engine),
                     grid::rules_text(options.rules));
}

// What must hold of any answer.
void expect_sound(const grid::Instance& instance, const GridSolveOptions& options,
                  const GridSolution& solution) {
  const grid::Evaluation judged = grid::evaluate(instance, options.rules, solution.plan);
  ASSERT_TRUE(judged.valid()) << judged.violation->message << describe(instance, options);
  EXPECT_EQ(judged.latency, solution.latency);
  EXPECT_EQ(judged.kernels.size(), solution.plan.kernels.size());
  EXPECT_LE(solution.lower_bound, solution.latency) << describe(instance, options);
  EXPECT_GT(solution.lower_bound, 0);
  EXPECT_EQ(solution.proof == search::Proof::optimal, solution.gap() == 0);
  if (options.engine != Engine::automatic && options.engine != Engine::local) return;
  const double start = std::min(solution.greedy_latency, solution.naive_latency);
  EXPECT_LE(solution.latency, start * (1 + 1e-9)) << describe(instance, options);
}

TEST(GridSolve, every_engine_gives_a_plan_that_the_judge_accepts_and_no_bound_is_above_it) {
  std::mt19937 random(11);
  for (int i = 0; i < 12; ++i) {
    const grid::Instance instance = grid::random_instance(random, {.ops = 2 + i % 7});
    for (const grid::Rules& rules : all_rules()) {
      double best = std::numeric_limits<double>::infinity();
      double bound = 0;
      for (const Engine engine : engines) {
        GridSolveOptions options{.rules = rules, .engine = engine, .budget = steps(3'000), .patience = 50};
        const GridSolution solution = solve_grid(instance, options);
        expect_sound(instance, options, solution);
        best = std::min(best, solution.latency);
        bound = std::max(bound, solution.lower_bound);
      }
      EXPECT_LE(bound, best * (1 + 1e-9)) << describe(instance, {.rules = rules});
    }
  }
}

// Latencies of the best plans that anyone knows, by an exhaustive search over 16 tiles an axis, three
// traversals and three retained tensors.
struct Known {
  const char* task;
  double honest;
  double as_allowed;
};
constexpr Known known[] = {{"task1_linear", 3900, 3900},
                           {"task2_diamond", 6600, 6600},
                           {"task3_matmul", 8553.6, 7776.8},
                           {"task4_multistage", 9534.4, 9296}};

TEST(GridSolve, the_tasks_of_fusionops_are_solved_as_well_as_is_known) {
  for (const Known& one : known) {
    const grid::Instance& instance = grid::find_fusionops_task(one.task)->instance;
    for (const auto& [set, latency] : {std::pair(grid::RuleSet::fusionops_honest, one.honest),
                                       std::pair(grid::RuleSet::fusionops, one.as_allowed)}) {
      const GridSolveOptions options{.rules = {.set = set}, .budget = steps(200'000)};
      const GridSolution solution = solve_grid(instance, options);
      expect_sound(instance, options, solution);
      EXPECT_LE(solution.latency, latency * (1 + 1e-9)) << one.task << " " << name(set);
      EXPECT_LE(solution.lower_bound, latency * (1 + 1e-9)) << one.task << " " << name(set);
    }
  }
}

TEST(GridSolve, the_tasks_are_problems_of_the_contest_too) {
  for (const grid::FusionopsTask& task : grid::fusionops_tasks()) {
    const GridSolveOptions options{.budget = steps(20'000)};
    expect_sound(task.instance, options, solve_grid(task.instance, options));
  }
}

// A chain of pointwise ops in one kernel: its input is loaded and its output stored, or all are computed.
TEST(GridSolve, a_chain_that_fits_is_one_kernel) {
  const grid::Instance chain(
      grid::squares(4, 128),
      {grid::pointwise({0}, 1, 100), grid::pointwise({1}, 2, 200), grid::pointwise({2}, 3, 300)},
      grid::machine_of(40'000));
  for (const Engine engine : {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local}) {
    const GridSolution solution = solve_grid(chain, {.engine = engine, .budget = steps(10'000)});
    EXPECT_EQ(solution.plan.kernels.size(), 1U) << name(engine);
    EXPECT_DOUBLE_EQ(solution.latency, 2 * 128 * 128 / 10.0) << name(engine);
    EXPECT_EQ(solution.proof, search::Proof::optimal) << name(engine);
  }
}

TEST(GridSolve, seed_threads_and_steps_give_the_same_plan_twice) {
  std::mt19937 random(5);
  const grid::Instance instance = grid::random_instance(random, {.ops = 24});
  for (const grid::Rules& rules : {all_rules().front(), all_rules().back()})
    for (const Engine engine : engines)
      for (const int threads : {1, 2}) {
        const GridSolveOptions options{
            .rules = rules, .engine = engine, .budget = steps(8'000), .seed = 3, .threads = threads};
        const GridSolution first = solve_grid(instance, options);
        const GridSolution second = solve_grid(instance, options);
        EXPECT_EQ(first.plan, second.plan) << describe(instance, options);
        EXPECT_EQ(first.lower_bound, second.lower_bound);
        EXPECT_EQ(first.steps, second.steps);
      }
}

TEST(GridSolve, more_steps_never_give_a_worse_plan) {
  std::mt19937 random(29);
  for (int i = 0; i < 4; ++i) {
    const grid::Instance instance = grid::random_instance(random, {.ops = 10 + 5 * i});
    for (const grid::Rules& rules : {all_rules().front(), all_rules().back()})
      for (const Engine engine :
           {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local}) {
        double before = std::numeric_limits<double>::infinity();
        for (const std::uint64_t count : {1, 10, 100, 1'000, 5'000, 20'000}) {
          const GridSolveOptions options{.rules = rules, .engine = engine, .budget = steps(count)};
          const double latency = solve_grid(instance, options).latency;
          EXPECT_LE(latency, before * (1 + 1e-12)) << count << " steps, " << describe(instance, options);
          before = latency;
        }
      }
  }
}

TEST(GridSolve, a_budget_that_has_ended_gives_a_plan_all_the_same) {
  std::mt19937 random(2);
  const grid::Instance instance = grid::random_instance(random, {.ops = 30});
  const std::atomic<bool> cancelled = true;
  for (const Budget& budget :
       {Budget{.steps = 1}, Budget{.wall_seconds = 1e-6}, Budget{.cancel = &cancelled}})
    for (const grid::Rules& rules : all_rules())
      for (const Engine engine : engines) {
        const GridSolveOptions options{.rules = rules, .engine = engine, .budget = budget};
        expect_sound(instance, options, solve_grid(instance, options));
      }
}

// Thousands of ops: the groups to choose from grow no longer than a third of the time.
TEST(GridSolve, large_networks_have_a_plan_soon_and_a_bound) {
  for (const grid::Network network : {grid::Network::transformer, grid::Network::cnn}) {
    const grid::Instance instance = grid::generate({.network = network, .ops = 3'000, .seed = 11});
    for (const double seconds : {0.02, 1.5}) {
      const GridSolveOptions options{.budget = {.wall_seconds = seconds}};
      const GridSolution solution = solve_grid(instance, options);
      expect_sound(instance, options, solution);
      EXPECT_LE(solution.latency, solution.naive_latency * (1 + 1e-9));
    }
  }
}

TEST(GridSolve, greedy_beats_naive_on_large_networks) {
  for (const grid::Network network : {grid::Network::transformer, grid::Network::cnn}) {
    const grid::Instance instance = grid::generate({.network = network, .ops = 400, .seed = 7});
    const GridSolution solution = solve_grid(instance, {.engine = Engine::greedy});
    EXPECT_LT(solution.latency, solution.naive_latency);
  }
}

// Whether a tensor is still wanted is asked of every way through the kernel that made it: here 2^40 of them.
TEST(GridSolve, long_chains_of_residuals_end_in_one_kernel) {
  constexpr int blocks = 40;
  std::vector<grid::Op> ops;
  for (grid::TensorId x = 0; x < 2 * blocks; x += 2) {
    ops.push_back(grid::pointwise({x}, x + 1, 1));
    ops.push_back(grid::pointwise({x, x + 1}, x + 2, 1));
  }
  const grid::Instance instance(grid::squares(2 * blocks + 1, 128), ops, grid::machine_of(100'000));
  GridSolveOptions options{.engine = Engine::greedy};
  options.space.most_ops = 2 * blocks;
  const GridSolution solution = solve_grid(instance, options);
  expect_sound(instance, options, solution);
  EXPECT_EQ(solution.plan.kernels.size(), 1U);
}

// One row and one column at a time: the least that fast memory must hold.
TEST(GridSolve, tiles_of_one_element_are_found) {
  const grid::Instance instance(
      grid::squares(3, 100), {grid::pointwise({0}, 1, 1), grid::pointwise({1}, 2, 1)}, grid::machine_of(2));
  const GridSolveOptions options{.rules = {.set = grid::RuleSet::mlsys}, .engine = Engine::naive};
  expect_sound(instance, options, solve_grid(instance, options));
}

TEST(GridSolve, an_op_that_fits_nowhere_is_refused) {
  const grid::Instance instance(
      grid::squares(3, 128), {grid::pointwise({0}, 1, 1), grid::pointwise({1}, 2, 1)}, grid::machine_of(1));
  for (const grid::Rules& rules : all_rules()) EXPECT_THROW(solve_grid(instance, {.rules = rules}), Error);
}

}  // namespace
}  // namespace fuselage::oracle
