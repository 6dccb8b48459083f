// The laws of search problems for the grid family, under all its rule sets.

#include <fmt/format.h>

#include <random>

#include "fuselage/core/error.h"
#include "fuselage/grid/problem.h"
#include "grid_fusionops_random.h"
#include "laws.h"

namespace fuselage::grid {

void PrintTo(const Rules& rules, std::ostream* out) {
  *out << rule_set_names[static_cast<std::size_t>(rules.set)];
  if (rules.compute == Compute::native_k) *out << ", native-k";
  if (rules.co_consumers) *out << ", co-consumers";
}

namespace {

class GridLaws : public ::testing::TestWithParam<Rules> {
 protected:
  void check(unsigned first_seed, const RandomOptions& options, const SpaceOptions& space) {
    int problems = 0;
    for (unsigned seed = first_seed; problems < 60 && !HasFailure(); ++seed) {
      std::mt19937 random(seed);
      RandomOptions some = options;
      some.ops = 2 + static_cast<int>(seed % static_cast<unsigned>(options.ops - 1));
      Instance instance = random_instance(random, some);
      if (GetParam().set != RuleSet::mlsys) instance = random_outputs(random, instance);
      try {
        const GridProblem problem(instance, GetParam(), space);
        Dice dice(seed);
        search::check_laws(problem, dice, fmt::format("seed {}", seed));
        ++problems;
      } catch (const Error&) {
        continue;  // an op that fits fast memory at no granularity
      }
    }
  }
};

TEST_P(GridLaws, hold_on_random_problems) {
  check(0, {.ops = 4, .capacity = 1200}, {});
}
TEST_P(GridLaws, hold_where_memory_is_tight) {
  check(500, {.ops = 4, .capacity = 120, .bandwidth = 1, .sizes = {4, 8, 12}}, {});
}
TEST_P(GridLaws, hold_where_few_groups_are_declared) {
  check(900, {.ops = 6, .capacity = 1000}, {.groups_per_op = 3, .starts = 1, .whole_ops = 0});
}

INSTANTIATE_TEST_SUITE_P(rules, GridLaws,
                         ::testing::Values(Rules{.set = RuleSet::mlsys}, Rules{.compute = Compute::native_k},
                                           Rules{.co_consumers = true}, Rules{.set = RuleSet::fusionops},
                                           Rules{.set = RuleSet::fusionops_honest}));

}  // namespace
}  // namespace fuselage::grid
