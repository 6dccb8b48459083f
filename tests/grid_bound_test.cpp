// Lower bounds of the grid family against the optimum.

#include <gtest/gtest.h>

#include <random>

#include "brute_grid.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/generator.h"
#include "fuselage/grid/problem.h"
#include "fuselage/search/exact.h"
#include "grid_problems.h"
#include "grid_random.h"

namespace fuselage::grid {
namespace {

// Sizes, capacity and bandwidth so that memory binds, K needs several k-steps, and either side can dominate.
RandomOptions tiny(std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  return {.ops = 2 + static_cast<int>(below(3)),
          .capacity = 30 + static_cast<std::int64_t>(below(400)),
          .bandwidth = 0.2 * static_cast<double>(1 + below(20)),
          .sizes = {2, 4, 6, 9, 16},
          .native = 4,
          .base_cost = 30};
}

TEST(GridBound, never_exceeds_the_optimum) {
  int problems = 0;
  int tight = 0;
  for (unsigned seed = 0; problems < 150; ++seed) {
    std::mt19937 random(seed);
    const Instance instance = random_instance(random, tiny(random));
    const Rules rules{.compute = seed % 2 == 0 ? Compute::k : Compute::native_k,
                      .co_consumers = seed % 5 == 0};
    const double optimum = BruteGrid(instance, rules).optimum();
    if (!std::isfinite(optimum)) continue;
    ++problems;
    const GridProblem problem(instance, rules);
    const double bound = problem.bound(problem.initial());
    EXPECT_LE(bound, optimum * (1 + 1e-9)) << "seed " << seed;
    tight += bound > 0.8 * optimum;
    // What exact search finds in the declared space is a schedule, so no better than the best of all.
    const auto found = search::exact(problem);
    ASSERT_TRUE(found.found) << "seed " << seed;
    EXPECT_GE(found.cost, optimum * (1 - 1e-9)) << "seed " << seed;
  }
  EXPECT_GT(tight, problems / 2);
}

// The optimum is this one kernel, and the bound doesn't exceed it.
void expect_bounded(const Instance& instance, const Kernel& kernel, double optimum) {
  for (const Compute compute : {Compute::k, Compute::native_k}) {
    const Rules rules{.compute = compute};
    const Evaluation judged = evaluate(instance, rules, {{kernel}});
    ASSERT_TRUE(judged.valid()) << judged.violation->message;
    EXPECT_EQ(judged.latency, optimum);
    EXPECT_EQ(BruteGrid(instance, rules).optimum(), optimum);
    const GridProblem problem(instance, rules);
    EXPECT_LE(problem.bound(problem.initial()), optimum);
    EXPECT_GT(problem.bound(problem.initial()), 0.75 * optimum);
  }
}

// One op that makes slices for two others of a kernel. No base costs and a bandwidth of 1, so that a latency
// is what is moved; all else that is moved counts in full in the bound, and the tensor between the ops has no
// room in fast memory.
//
// The first op makes the LHS of two matmuls: of a root for every k-step a column, of an upstream one all of
// it. For the latter it holds its RHS (tensor 1) whole, so that the columns are held too: it is loaded once,
// not for each of the four tiles.
TEST(GridBound, an_operand_that_another_demand_holds_whole_is_loaded_once) {
  const Instance instance({{.width = 1, .height = 4},
                           {.width = 6, .height = 1},
                           {.width = 6, .height = 4},
                           {.width = 6, .height = 6},
                           {.width = 6, .height = 4},
                           {.width = 1, .height = 6},
                           {.width = 1, .height = 4},
                           {.width = 1, .height = 6},
                           {.width = 1, .height = 4}},
                          {matmul(0, 1, 2, 0), matmul(2, 3, 4, 0), matmul(4, 5, 6, 0), matmul(2, 7, 8, 0)},
                          {.capacity = 18, .bandwidth = 1, .native_width = 1, .native_height = 1});
  expect_bounded(instance, kernel_of({0, 1, 2, 3}, {.w = 1, .h = 1, .k = 1}), 211);
}

// The first op is a root, since a pointwise root reads it, and makes columns for a matmul too. For these it
// holds its LHS (tensor 0) whole, so that the slices of its own k-steps are held too: it is loaded once, not
// for each of the five tiles.
TEST(GridBound, a_root_that_another_demand_reads_loads_its_operands_once) {
  const Instance instance({{.width = 3, .height = 20},
                           {.width = 10, .height = 3},
                           {.width = 10, .height = 20},
                           {.width = 10, .height = 20},
                           {.width = 10, .height = 10},
                           {.width = 10, .height = 20}},
                          {matmul(0, 1, 2, 0), pointwise({2}, 3, 0), matmul(2, 4, 5, 0)},
                          {.capacity = 167, .bandwidth = 1, .native_width = 2, .native_height = 20});
  expect_bounded(instance, kernel_of({0, 1, 2}, {.w = 2, .h = 20, .k = 1}), 760);
}

// One round over the ops of a large problem takes long: it ends between two ops, not only between rounds.
TEST(GridBound, may_be_stopped_at_any_op) {
  constexpr int ops = 60;
  const Instance instance = generate({.ops = ops, .seed = 3});
  const SpaceOptions alone{.most_ops = 1};  // no groups grow
  int asked = 0;
  const auto bound_stopped_after = [&](int times) {
    asked = 0;
    const GridProblem problem(instance, {}, alone, [&] { return ++asked > times; });
    return problem.bound(problem.initial());
  };
  const double whole = bound_stopped_after(1 << 20);
  EXPECT_GE(asked, ops);
  const double stopped = bound_stopped_after(ops / 2);
  EXPECT_EQ(asked, ops / 2 + 1);
  EXPECT_GT(stopped, 0);
  EXPECT_LE(stopped, whole);
}

}  // namespace
}  // namespace fuselage::grid
