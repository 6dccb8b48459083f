// The exact engine on the toy problem, and what it does when its budget ends.

#include "fuselage/search/exact.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "fuselage/core/error.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"
#include "toy.h"

namespace fuselage::search {
namespace {

TEST(Exact, toy_optimum) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ToyProblem toy(1 + static_cast<int>(seed % 12), 1 + static_cast<int>(seed % 5), seed);
    for (std::size_t wide :
         {std::size_t{1}, std::size_t{256}}) {  // with and without an incumbent to prune by
      const auto outcome = exact(toy, {.wide_layer = wide});
      const double optimum = toy.optimum();
      if (optimum == std::numeric_limits<double>::infinity()) {
        EXPECT_TRUE(outcome.infeasible) << seed;
        continue;
      }
      EXPECT_EQ(outcome.proof, Proof::optimal) << seed;
      EXPECT_EQ(outcome.cost, optimum) << seed;
      EXPECT_EQ(outcome.lower_bound, optimum) << seed;
      double cost = 0;
      auto s = toy.initial();
      for (const auto& k : outcome.plan) {
        cost += toy.price(s, k);
        s = toy.apply(s, k);
      }
      EXPECT_EQ(cost, outcome.cost) << seed;
      EXPECT_EQ(toy.progress(s), toy.horizon()) << seed;
    }
  }
}

TEST(Exact, a_complete_state_needs_nothing) {
  const ToyProblem toy(3, 2, 1);
  const auto outcome = exact(toy, {}, std::optional(ToyProblem::State{.column = 3, .row = 1}));
  EXPECT_TRUE(outcome.found);
  EXPECT_EQ(outcome.cost, 0);
  EXPECT_TRUE(outcome.plan.empty());
}

// Each node reads several of those just before it: many live tensors, so many resident sets.
Workload dense_graph(int nodes) {
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
           .slow_mem_bandwidth = 1,
           .kernel_launch_cost = 1000,
           .max_fusion_depth = 4}};
}

class Budgets : public ::testing::TestWithParam<walk::Rules> {};

TEST_P(Budgets, a_spent_budget_gives_a_plan_and_a_bound) {
  const Workload w = dense_graph(40);
  const walk::RunTable runs(w.graph, w.hardware);
  const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = GetParam()});
  double best_bound = 0;
  for (std::uint64_t steps : {1, 100, 2000, 20000}) {
    const auto outcome = exact(problem, {.budget = {.steps = steps}});
    ASSERT_TRUE(outcome.found) << steps;
    EXPECT_EQ(outcome.proof, Proof::none) << steps;
    EXPECT_EQ(outcome.stop, StopReason::steps) << steps;
    EXPECT_LE(outcome.lower_bound, outcome.cost) << steps;
    EXPECT_GT(outcome.lower_bound, 0) << steps;
    best_bound = std::max(best_bound, outcome.lower_bound);
    const auto checked =
        oracle::simulate(w.graph, w.hardware, problem.plan_of(outcome.plan), {.rules = GetParam()});
    EXPECT_TRUE(checked.legal()) << steps << ": " << checked.fault->message;
    EXPECT_NEAR(checked.latency, outcome.cost, 1e-9 * outcome.cost);
    EXPECT_GE(outcome.cost, best_bound) << steps << ": a plan below a lower bound";
  }
}

TEST_P(Budgets, memory_time_and_cancel_end_it_too) {
  const Workload w = dense_graph(40);
  const walk::RunTable runs(w.graph, w.hardware);
  const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = GetParam()});
  const auto by_memory = exact(problem, {.budget = {.bytes = 64 << 10}});
  EXPECT_TRUE(by_memory.found);
  EXPECT_EQ(by_memory.stop, StopReason::memory);
  const auto by_time = exact(problem, {.budget = {.wall_seconds = 0}});
  EXPECT_TRUE(by_time.found);
  EXPECT_EQ(by_time.stop, StopReason::time);
  const std::atomic<bool> cancelled = true;
  const auto by_hand = exact(problem, {.budget = {.cancel = &cancelled}});
  EXPECT_TRUE(by_hand.found);
  EXPECT_EQ(by_hand.stop, StopReason::cancelled);
}

INSTANTIATE_TEST_SUITE_P(rules, Budgets,
                         ::testing::Values(walk::Rules::seed, walk::Rules::seed_honest,
                                           walk::Rules::physical));

TEST(Exact, same_search_twice_is_the_same) {
  PythonRandom random(5);
  const Workload w = walk::generate({.num_ops = 40, .difficulty = walk::Difficulty::hard}, random);
  const walk::RunTable runs(w.graph, w.hardware);
  for (walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest, walk::Rules::physical}) {
    const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = rules});
    const auto first = exact(problem);
    const auto second = exact(problem);
    EXPECT_EQ(problem.plan_of(first.plan), problem.plan_of(second.plan));
    EXPECT_EQ(first.states, second.states);
    EXPECT_EQ(first.steps, second.steps);
  }
}

// More than 64 nodes, and an incumbent does not change an optimum.
TEST(Exact, pruning_by_an_incumbent_keeps_the_optimum) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    PythonRandom random(seed);
    const Workload w =
        walk::generate({.num_ops = 90, .difficulty = static_cast<walk::Difficulty>(seed % 4)}, random);
    const walk::RunTable runs(w.graph, w.hardware);
    for (walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest, walk::Rules::physical}) {
      const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = rules});
      const auto plain = exact(problem, {.wide_layer = std::numeric_limits<std::size_t>::max()});
      const auto pruned = exact(problem, {.wide_layer = 1});
      EXPECT_EQ(plain.proof, Proof::optimal);
      EXPECT_EQ(pruned.proof, Proof::optimal);
      EXPECT_NEAR(plain.cost, pruned.cost, 1e-9 * plain.cost) << seed;
    }
  }
}

// A free machine has optimum 0, which no incumbent may prune away.
TEST(Exact, nothing_costs_anything) {
  std::vector<Node> list(
      14, Node{.op = Op::relu, .height = 32, .width = 32, .inputs = {}, .flops = 0, .output_bytes = 4096});
  const Workload w{
      "free", Graph(list), {.fast_mem_capacity = 1 << 20, .slow_mem_bandwidth = 0, .max_fusion_depth = 2}};
  const walk::RunTable runs(w.graph, w.hardware);
  for (walk::Order order : {walk::Order::fixed, walk::Order::free}) {
    const walk::WalkProblem problem(w.graph, w.hardware, runs,
                                    {.rules = walk::Rules::physical, .order = order});
    const auto outcome = exact(problem, {.wide_layer = 1});
    EXPECT_EQ(outcome.proof, Proof::optimal);
    EXPECT_EQ(outcome.cost, 0);
  }
}

// Stars: one tensor that many read, or many that one reads. Resident sets explode, the search must not.
TEST(Exact, stars_end_within_their_budget) {
  for (int leaves : {13, 30, 60}) {
    for (bool out : {true, false}) {
      std::vector<Node> list;
      std::vector<NodeId> all;
      for (NodeId id = 0; id < leaves; ++id) {
        list.push_back(
            derived_node(Op::relu, 32, 32, out && id > 0 ? std::vector<NodeId>{0} : std::vector<NodeId>{}));
        all.push_back(id);
      }
      if (!out) list.push_back(derived_node(Op::add, 32, 32, all));
      const Workload w{"star",
                       Graph(list),
                       {.fast_mem_capacity = 1 << 30,
                        .slow_mem_bandwidth = 8,
                        .kernel_launch_cost = 1000,
                        .max_fusion_depth = 5}};
      const walk::RunTable runs(w.graph, w.hardware);
      for (walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest, walk::Rules::physical}) {
        const walk::WalkProblem problem(w.graph, w.hardware, runs, {.rules = rules});
        const auto outcome = exact(problem, {.budget = {.steps = 30'000}});
        EXPECT_TRUE(outcome.found);
        EXPECT_LE(outcome.lower_bound, outcome.cost);
      }
    }
  }
}

// A kernel may fit where none of its nodes fits alone.
TEST(Solve, fused_nodes_may_need_less_than_each_alone) {
  std::vector<Node> list = {derived_node(Op::relu, 32, 32, {}), derived_node(Op::reduce, 32, 32, {0})};
  list[1].output_bytes = 100;
  const Workload w{
      "small",
      Graph(list),
      {.fast_mem_capacity = 1000, .slow_mem_bandwidth = 8, .kernel_launch_cost = 100, .max_fusion_depth = 4}};
  for (walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest, walk::Rules::physical}) {
    const auto solution = oracle::solve(w, {.rules = rules});
    EXPECT_EQ(solution.proof, Proof::optimal);
    EXPECT_EQ(solution.plan.size(), 1u);
  }
  Workload tiny = w;
  tiny.hardware.fast_mem_capacity = 99;
  EXPECT_THROW(oracle::solve(tiny, {}), Error);
}

TEST(Solve, hopeless_depths_and_sizes_are_refused) {
  std::vector<Node> chain = {derived_node(Op::relu, 32, 32, {})};
  for (NodeId id = 1; id < 5000; ++id) chain.push_back(derived_node(Op::relu, 32, 32, {id - 1}));
  const Graph graph(chain);
  EXPECT_THROW(walk::RunTable(graph, {.fast_mem_capacity = 1 << 20, .max_fusion_depth = 1'000'000'000}),
               Error);
  Node huge = derived_node(Op::relu, 32, 32, {});
  huge.output_bytes = std::int64_t{1} << 60;
  EXPECT_THROW(Graph({huge, huge, huge}), Error);
}

}  // namespace
}  // namespace fuselage::search
