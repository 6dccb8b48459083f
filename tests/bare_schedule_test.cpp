// Whether there is a schedule under `physical` is settled before a search: against brute force, for every
// engine, with little to spend; and a node that can never run is named at once.

#include <gtest/gtest.h>

#include <cmath>

#include "brute_physical.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/solve.h"
#include "random_graphs.h"
#include "wide_graphs.h"

namespace fuselage {
namespace {

using oracle::Engine;
using oracle::Solution;
using walk::Order;
using walk::Rules;

constexpr Engine searches[] = {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local};

// None: refused, since no kernel at all fits.
std::optional<Solution> solved(const Workload& w, Order order, Engine engine, std::uint64_t steps) {
  try {
    return oracle::solve(
        w, {.rules = Rules::physical, .order = order, .engine = engine, .budget = {.steps = steps}});
  } catch (const Error&) {
    return std::nullopt;
  }
}

TEST(BareSchedule, a_plan_is_found_in_fixed_order_if_there_is_one) {
  Dice dice(81);
  int infeasible = 0;
  int feasible = 0;
  int stuck_baselines = 0;
  for (int i = 0; i < 250; ++i) {
    const int n = dice.between(2, 6);
    Workload w = i % 2 == 0 ? random_workload(dice, {.nodes = n}) : wide_workload(dice, n);
    w.hardware.fast_mem_capacity = 4096 * dice.between(1, 5) + dice.between(0, 100);
    const bool exists = std::isfinite(walk::BrutePhysical(w, Order::fixed).optimum());
    for (const Engine engine : searches) {
      const auto solution = solved(w, Order::fixed, engine, static_cast<std::uint64_t>(8 * n));
      if (!solution) {
        EXPECT_FALSE(exists) << i;
        continue;
      }
      EXPECT_EQ(solution->found, exists) << i << ' ' << oracle::name(engine);
      EXPECT_EQ(solution->infeasible.has_value(), !exists) << i << ' ' << oracle::name(engine);
      if (solution->infeasible) {
        EXPECT_GT(solution->infeasible->smallest_working_set, solution->infeasible->capacity) << i;
      }
    }
    for (const Engine engine : {Engine::greedy, Engine::naive}) {
      const auto solution = solved(w, Order::fixed, engine, 1);
      if (!solution) continue;
      EXPECT_EQ(solution->infeasible.has_value(), !exists) << i << ' ' << oracle::name(engine);
      stuck_baselines += exists && !solution->found;
    }
    ++(exists ? feasible : infeasible);
  }
  EXPECT_GT(feasible, 60);
  EXPECT_GT(infeasible, 40);
  EXPECT_GT(stuck_baselines, 0);
}

TEST(BareSchedule, free_order_has_a_plan_where_the_fixed_order_has_one_and_calls_no_graph_stuck_that_is_not) {
  Dice dice(82);
  int told = 0;
  for (int i = 0; i < 150; ++i) {
    const int n = dice.between(2, 5);
    Workload w = i % 2 == 0 ? random_workload(dice, {.nodes = n}) : wide_workload(dice, n);
    w.hardware.fast_mem_capacity = 4096 * dice.between(1, 4) + dice.between(0, 100);
    const bool in_fixed = std::isfinite(walk::BrutePhysical(w, Order::fixed).optimum());
    const bool exists = std::isfinite(walk::BrutePhysical(w, Order::free).optimum());
    for (const Engine engine : searches) {
      const auto solution = solved(w, Order::free, engine, 1);
      ASSERT_TRUE(solution) << i;
      if (in_fixed) EXPECT_TRUE(solution->found) << i << ' ' << oracle::name(engine);
      if (solution->infeasible) EXPECT_FALSE(exists) << i << ' ' << oracle::name(engine);
      told += solution->infeasible.has_value();
    }
  }
  EXPECT_GT(told, 100);
}

// An add of too many inputs, behind anything and at any depth that can't fuse enough of them: no search.
TEST(BareSchedule, a_node_that_can_never_run_is_named_at_once) {
  for (const int depth : {1, 5, 300})
    for (const Order order : {Order::fixed, Order::free}) {
      Workload w = fan_in(200, 0.24);
      w.hardware.max_fusion_depth = depth;
      for (const Engine engine : {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local,
                                  Engine::greedy, Engine::naive}) {
        const auto solution = solved(w, order, engine, 1'000'000'000);
        ASSERT_TRUE(solution);
        ASSERT_TRUE(solution->infeasible) << depth << ' ' << oracle::name(engine);
        EXPECT_EQ(solution->steps, 0U);
        EXPECT_EQ(solution->infeasible->node, 200);
        EXPECT_EQ(solution->infeasible->smallest_working_set, 201 * 4096);
        EXPECT_EQ(solution->infeasible->capacity, w.hardware.fast_mem_capacity);
      }
    }
}

// What would be needed to fuse the inputs away is a schedule, if the depth allows it.
TEST(BareSchedule, inputs_that_can_be_fused_away_are_no_dead_end) {
  std::vector<Node> nodes = {derived_node(Op::matmul, 64, 64, {})};
  std::vector<NodeId> all;
  for (NodeId v = 1; v <= 20; ++v) {
    nodes.push_back(derived_node(Op::relu, 64, 64, {0}));
    all.push_back(v);
  }
  nodes.push_back(derived_node(Op::add, 64, 64, all));
  Workload w = {"fan_out_and_in", Graph(std::move(nodes)), {}};
  w.hardware.fast_mem_capacity = 10 * 4096;
  w.hardware.max_fusion_depth = 22;
  for (const Order order : {Order::fixed, Order::free}) {
    const auto solution = solved(w, order, Engine::beam, 1000);
    ASSERT_TRUE(solution && solution->found);
  }
  w.hardware.max_fusion_depth = 6;
  for (const Order order : {Order::fixed, Order::free}) {
    const auto solution = solved(w, order, Engine::beam, 1000);
    ASSERT_TRUE(solution && solution->infeasible);
    EXPECT_EQ(solution->infeasible->node, 21);
  }
}

}  // namespace
}  // namespace fuselage
