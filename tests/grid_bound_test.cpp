// Lower bounds of the grid family against the optimum.

#include <gtest/gtest.h>

#include <random>

#include "brute_grid.h"
#include "fuselage/grid/problem.h"
#include "fuselage/search/exact.h"
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

}  // namespace
}  // namespace fuselage::grid
