// The front of latency against bytes moved: against brute force, against weighted sums, and under budgets.

#include "fuselage/oracle/pareto.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "brute_physical.h"
#include "brute_plans.h"
#include "fuselage/oracle/objective.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/problem.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using walk::Order;
using walk::Rules;

struct Variant {
  Rules rules;
  Order order = Order::fixed;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << walk::name(variant.rules) << ", " << walk::name(variant.order);
}

int unsupported(const ParetoFront& front) {
  const std::vector<bool> hull = on_convex_hull(front.points);
  return static_cast<int>(std::count(hull.begin(), hull.end(), false));
}

class ParetoOf : public ::testing::TestWithParam<Variant> {
 protected:
  ParetoFront front_of(const Workload& w, const Budget& budget = {}) const {
    return pareto_traffic(w, {.rules = GetParam().rules, .order = GetParam().order, .budget = budget});
  }
  std::vector<walk::FrontPoint> brute(const Workload& w) const {
    std::vector<walk::FrontPoint> points;
    const auto all = GetParam().rules == Rules::physical
                         ? walk::BrutePhysical(w, GetParam().order, {}).front()
                         : walk::BrutePlans(w, GetParam().rules, {}).front();
    for (const walk::FrontPoint& p : all.points()) {  // equal but for the order in which they were summed
      if (!points.empty() && points.back().cost >= p.cost * (1 - 1e-11)) points.pop_back();
      points.push_back(p);
    }
    return points;
  }
};

// Where kernels compute for longer than they load, traffic is saved at the price of small tiles.
Workload busy_workload(Dice& dice, int n) {
  const Workload drawn = random_workload(dice, {.nodes = n});
  std::vector<Node> nodes(drawn.graph.nodes().begin(), drawn.graph.nodes().end());
  for (Node& node : nodes) {
    const Op op = dice.pick({Op::matmul, Op::conv2d, Op::matmul, Op::relu});
    node = derived_node(op, node.height, node.width, node.inputs);
  }
  Hardware hardware = drawn.hardware;
  hardware.slow_mem_bandwidth = dice.pick({4.0, 16.0, 64.0});
  hardware.kernel_launch_cost = dice.pick({0.0, 0.0, 500.0});
  return {"busy", Graph(std::move(nodes)), hardware};
}

TEST_P(ParetoOf, tiny_graphs_equals_brute_force) {
  Dice dice(71);
  int several = 0;
  int not_on_hull = 0;
  for (int i = 0; i < 400; ++i) {
    const int n = dice.between(1, GetParam().rules == Rules::seed ? 5 : 6);
    const Workload w = dice.chance(60) ? busy_workload(dice, n) : random_workload(dice, {.nodes = n});
    const ParetoFront front = front_of(w);
    const auto want = brute(w);
    EXPECT_EQ(front.proof, search::Proof::optimal) << i;
    ASSERT_EQ(front.points.size(), want.size()) << i;
    for (std::size_t p = 0; p < want.size(); ++p) {
      EXPECT_EQ(front.points[p].bytes_moved, want[p].bytes) << i;
      EXPECT_NEAR(front.points[p].latency, want[p].cost, 1e-9 * std::max(1.0, want[p].cost)) << i;
    }
    several += front.points.size() > 1;
    not_on_hull += unsupported(front);
  }
  EXPECT_GE(several, 5);
  // No weighted sum would find these.
  EXPECT_GE(not_on_hull, GetParam().rules == Rules::physical ? 0 : 3);
}

// Under `physical` it takes more nodes until speed and traffic are at odds in such a way.
TEST(Pareto, physical_has_points_off_the_hull) {
  Dice dice(9);
  int not_on_hull = 0;
  for (int i = 0; i < 40; ++i)
    not_on_hull +=
        unsupported(pareto_traffic(random_workload(dice, {.nodes = 12}), {.rules = Rules::physical}));
  EXPECT_GE(not_on_hull, 1);
}

TEST_P(ParetoOf, tasks_is_proven_and_holds_every_weighted_optimum) {
  for (const walk::TaskSpec& spec : walk::tasks()) {
    const Workload w = walk::make_task(spec);
    const ParetoFront front = front_of(w);
    ASSERT_FALSE(front.points.empty()) << spec.name;
    EXPECT_EQ(front.proof, search::Proof::optimal) << spec.name;
    for (std::size_t p = 0; p + 1 < front.points.size(); ++p) {
      EXPECT_LT(front.points[p].latency, front.points[p + 1].latency);
      EXPECT_GT(front.points[p].bytes_moved, front.points[p + 1].bytes_moved);
    }
    const walk::RunTable runs(w.graph, w.hardware);
    for (double weight : {0.0, 0.001, 0.03, 0.1, 0.5, 3.0}) {
      const walk::WalkProblem problem(
          w.graph, w.hardware, runs,
          {.rules = GetParam().rules, .order = GetParam().order, .price = {.traffic = weight}});
      const auto sum = search::exact(problem);
      ASSERT_EQ(sum.proof, search::Proof::optimal) << spec.name << " " << weight;
      double best = std::numeric_limits<double>::infinity();
      for (const ParetoPoint& point : front.points)
        best = std::min(best, point.latency + weight * static_cast<double>(point.bytes_moved));
      EXPECT_NEAR(best, sum.cost, 1e-9 * best) << spec.name << " " << weight;
    }
  }
}

TEST_P(ParetoOf, a_spent_budget_is_said) {
  const Workload w = walk::make_task(walk::tasks()[3]);
  const ParetoFront whole = front_of(w);
  const ParetoFront front = front_of(w, {.steps = 1});
  EXPECT_EQ(front.proof, search::Proof::none);
  EXPECT_EQ(front.stop, StopReason::steps);
  ASSERT_FALSE(front.points.empty());
  for (const ParetoPoint& point : front.points) {
    EXPECT_LE(point.lower_bound, point.latency);
    // Nothing beats the proven front.
    EXPECT_TRUE(std::any_of(whole.points.begin(), whole.points.end(), [&](const ParetoPoint& p) {
      return p.latency <= point.latency * (1 + 1e-9) && p.bytes_moved <= point.bytes_moved;
    }));
  }
}

INSTANTIATE_TEST_SUITE_P(rules, ParetoOf,
                         ::testing::Values(Variant{Rules::seed}, Variant{Rules::seed_honest},
                                           Variant{Rules::physical}, Variant{Rules::physical, Order::free}));

TEST(Pareto, task3_has_points_off_the_hull) {
  const Workload w = walk::make_task(walk::tasks()[2]);
  const ParetoFront front = pareto_traffic(w, {.rules = Rules::seed_honest});
  EXPECT_EQ(front.points.size(), 12U);
  EXPECT_EQ(unsupported(front), 4);
  EXPECT_NEAR(front.points.front().latency, 3922488.32, 1e-3);
  for (const ParetoPoint& point : front.points) {
    const auto checked = simulate(w.graph, w.hardware, point.plan, {.rules = Rules::seed_honest});
    ASSERT_TRUE(checked.legal());
    EXPECT_EQ(charges(w.graph, checked).bytes_moved, point.bytes_moved);
  }
}

TEST(Pareto, a_graph_without_a_schedule_has_an_empty_front) {
  std::vector<Node> nodes(1);
  nodes[0] = derived_node(Op::relu, 256, 256, {});
  const Workload w{"large", Graph(nodes), {.fast_mem_capacity = 1000, .slow_mem_bandwidth = 1}};
  const ParetoFront front = pareto_traffic(w, {.rules = Rules::physical});
  EXPECT_TRUE(front.points.empty());
  EXPECT_EQ(front.proof, search::Proof::optimal);
}

TEST(Pareto, hull) {
  const auto at = [](double latency, std::int64_t bytes) {
    ParetoPoint point;
    point.latency = latency;
    point.bytes_moved = bytes;
    return point;
  };
  EXPECT_EQ(on_convex_hull({}), std::vector<bool>{});
  EXPECT_EQ(on_convex_hull({at(1, 9)}), std::vector<bool>{true});
  EXPECT_EQ(on_convex_hull({at(1, 9), at(2, 8), at(3, 1)}), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(on_convex_hull({at(1, 9), at(2, 3), at(3, 1)}), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(on_convex_hull({at(1, 9), at(2, 6), at(3, 3)}), (std::vector<bool>{true, true, true}));
}

}  // namespace
}  // namespace fuselage::oracle
