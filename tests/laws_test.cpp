#include "laws.h"

#include <fmt/format.h>

#include "fuselage/core/error.h"
#include "fuselage/walk/problem.h"
#include "toy.h"

namespace fuselage {
namespace {

using walk::Order;
using walk::Rules;

TEST(Laws, toy) {
  Dice dice(1);
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    search::check_laws(search::ToyProblem(7, 3, seed), dice, fmt::format("toy {}", seed));
}

struct Variant {
  Rules rules;
  Order order = Order::fixed;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << walk::name(variant.rules) << ", " << walk::name(variant.order);
}
class WalkLaws : public ::testing::TestWithParam<Variant> {};

TEST_P(WalkLaws, hold_on_random_graphs) {
  Dice dice(41);
  for (int i = 0; i < 30; ++i) {
    const bool costly = dice.chance(20);
    const Workload w = random_workload(dice, {.nodes = dice.between(1, costly ? 4 : 7), .costly = costly});
    const walk::RunTable runs(w.graph, w.hardware);
    const walk::WalkProblem problem(w.graph, w.hardware, runs,
                                    {.rules = GetParam().rules, .order = GetParam().order});
    search::check_laws(problem, dice, fmt::format("{} graph {}", walk::name(GetParam().rules), i));
  }
}

INSTANTIATE_TEST_SUITE_P(rules, WalkLaws,
                         ::testing::Values(Variant{Rules::seed}, Variant{Rules::seed_honest},
                                           Variant{Rules::physical}, Variant{Rules::physical, Order::free}));

TEST(WalkProblem, free_order_needs_physical) {
  Dice dice(2);
  const Workload w = random_workload(dice, {});
  const walk::RunTable runs(w.graph, w.hardware);
  EXPECT_THROW(walk::WalkProblem(w.graph, w.hardware, runs, {.rules = Rules::seed, .order = Order::free}),
               Error);
}

}  // namespace
}  // namespace fuselage
