// Objectives with a price, limits on traffic and restricted spaces: the engine's optimum against brute force,
// and its claims against what the independent check charges the plan.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "brute_physical.h"
#include "brute_plans.h"
#include "error_of.h"
#include "fuselage/oracle/objective.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Variant {
  Rules rules;
  Order order = Order::fixed;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << name(variant.rules) << ", " << name(variant.order);
}

void expect_close(double got, double want, const std::string& what) {
  if (got == want) return;
  EXPECT_LE(std::abs(got - want), 1e-9 * std::max(1.0, std::abs(want)))
      << what << ": got " << got << ", expected " << want;
}

Price random_price(Dice& dice) {
  return {.traffic = dice.pick({0.0, 0.01, 0.3, 20.0}),
          .launch = dice.pick({0.0, 700.0, 2e6}),
          .residency = dice.pick({0.0, 0.0, 1e-3, 0.1, 5.0})};
}

Space random_space(Dice& dice) {
  Space space{.price = random_price(dice)};
  if (dice.chance(15)) space.may_fuse = false;
  if (dice.chance(15)) space.may_retain = false;
  if (dice.chance(30)) space.only_tile = dice.pick({32, 64, 128, 256});
  return space;
}

ProblemOptions options_of(const Variant& variant, const Space& space) {
  return {.rules = variant.rules,
          .order = variant.order,
          .price = space.price,
          .most_traffic = {},
          .may_fuse = space.may_fuse,
          .may_retain = space.may_retain,
          .only_tile = space.only_tile};
}

std::string described(const Workload& w, const Space& space, const std::string& name) {
  return fmt::format("{} ({} nodes; traffic {}, launch {}, residency {}; fuse {}, retain {}, tile {})", name,
                     w.graph.size(), space.price.traffic, space.price.launch, space.price.residency,
                     space.may_fuse, space.may_retain, space.only_tile.value_or(0));
}

// Does the plan keep to the space, and cost what the search says?
void check_plan(const Workload& w, const ProblemOptions& options, const Plan& plan, double claimed,
                const std::string& name) {
  const auto checked =
      oracle::simulate(w.graph, w.hardware, plan, {.rules = options.rules, .order = options.order});
  ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
  const auto charges = oracle::charges(w.graph, checked);
  expect_close(oracle::objective(charges, options.price), claimed, name + " simulated");
  EXPECT_LE(charges.bytes_moved, options.most_traffic.value_or(charges.bytes_moved)) << name;
  for (const PlanKernel& kernel : plan) {
    EXPECT_TRUE(options.may_fuse || kernel.nodes.size() == 1) << name;
    EXPECT_TRUE(options.may_retain || kernel.retain.empty()) << name;
    EXPECT_EQ(kernel.tile, options.only_tile.value_or(kernel.tile)) << name;
  }
}

class Priced {
 public:
  Priced(const Variant& variant, std::uint64_t seed) : variant_(variant), dice_(seed) {}

  void compare(int graphs, int nodes, bool costly = false) {
    for (int i = 0; i < graphs && !::testing::Test::HasFailure(); ++i) {
      const Workload w = random_workload(dice_, {.nodes = nodes, .costly = costly});
      const Space space = random_space(dice_);
      compare_one(w, space, fmt::format("graph {}", i));
    }
  }
  int proven = 0;
  int unproven = 0;

 private:
  Front brute(const Workload& w, const Space& space) const {
    if (variant_.rules == Rules::physical) return BrutePhysical(w, variant_.order, space).front();
    return BrutePlans(w, variant_.rules, space).front();
  }

  void compare_one(const Workload& w, const Space& space, const std::string& graph) {
    const std::string name = described(w, space, graph);
    const RunTable runs(w.graph, w.hardware);
    const Front front = brute(w, space);
    ProblemOptions options = options_of(variant_, space);
    solve(w, runs, options, front.least(), name);
    if (front.points().empty()) return;
    for (int i = 0; i < 3; ++i) {
      const auto& points = front.points();
      const auto& point = points[static_cast<std::size_t>(dice_.below(static_cast<int>(points.size())))];
      options.most_traffic = point.bytes - dice_.below(3) / 2;
      solve(w, runs, options, front.least(*options.most_traffic),
            fmt::format("{} limited to {}", name, *options.most_traffic));
    }
    options.most_traffic = points_end(front) - 1;
    solve(w, runs, options, infinity, name + " limited too far");
  }
  static std::int64_t points_end(const Front& front) { return front.points().back().bytes; }

  void solve(const Workload& w, const RunTable& runs, const ProblemOptions& options, double want,
             const std::string& name) {
    const WalkProblem problem(w.graph, w.hardware, runs, options);
    const auto outcome = search::exact(problem);
    if (want == infinity) {
      EXPECT_FALSE(outcome.found) << name;
      EXPECT_TRUE(outcome.infeasible) << name;
      return;
    }
    ASSERT_TRUE(outcome.found) << name;
    EXPECT_LE(problem.bound(problem.initial()), want * (1 + 1e-9) + 1e-6) << name;
    (outcome.proof == search::Proof::optimal ? proven : unproven) += 1;
    if (outcome.proof == search::Proof::optimal) expect_close(outcome.cost, want, name);
    EXPECT_GE(outcome.cost, want * (1 - 1e-9) - 1e-6) << name;
    check_plan(w, options, problem.plan_of(outcome.plan), outcome.cost, name);
  }

  Variant variant_;
  Dice dice_;
};

class BruteForcePriced : public ::testing::TestWithParam<Variant> {};

TEST_P(BruteForcePriced, optima_are_equal) {
  Priced priced(GetParam(), 61);
  for (int nodes = 1; nodes <= 4; ++nodes) priced.compare(150, nodes);
  EXPECT_EQ(priced.unproven, 0);
  priced.compare(30, 5);
  if (GetParam().rules != Rules::physical) priced.compare(60, 3, true);
  EXPECT_GT(priced.proven, 1000);
  EXPECT_LE(priced.unproven, 2);
}

INSTANTIATE_TEST_SUITE_P(rules, BruteForcePriced,
                         ::testing::Values(Variant{Rules::seed}, Variant{Rules::seed_honest},
                                           Variant{Rules::physical}, Variant{Rules::physical, Order::free}));

}  // namespace
}  // namespace fuselage::walk
