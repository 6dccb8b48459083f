// Plans as kernels: they cost what the plan costs, and what the rules would refuse is refused.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "error_of.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/local.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"

namespace fuselage {
namespace {

using walk::Order;
using walk::Plan;
using walk::Rules;
using walk::WalkProblem;

double full_price(const WalkProblem& p, const std::vector<walk::Kernel>& plan) {
  auto s = p.initial();
  double cost = 0;
  for (const auto& k : plan) {
    cost += p.price(s, k);
    s = p.apply(s, k);
  }
  EXPECT_EQ(p.progress(s), p.horizon());
  return cost;
}

void expect_close(double got, double want, const std::string& name) {
  EXPECT_LE(std::abs(got - want), 1e-9 * want) << name << ": " << got << ", " << want << " expected";
}

struct Variant {
  Rules rules;
  Order order = Order::fixed;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << walk::name(variant.rules) << ", " << walk::name(variant.order);
}
class KernelsOf : public ::testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(rules, KernelsOf,
                         ::testing::Values(Variant{Rules::seed}, Variant{Rules::seed_honest},
                                           Variant{Rules::physical}, Variant{Rules::physical, Order::free}));

TEST_P(KernelsOf, a_solution_cost_what_it_does) {
  const auto [rules, order] = GetParam();
  Dice dice(55);
  int plans = 0;
  for (int i = 0; i < 80; ++i) {
    const bool costly = dice.chance(20);
    Workload w = random_workload(dice, {.nodes = dice.between(1, costly ? 5 : 12), .costly = costly});
    w.hardware.fast_mem_capacity += 20'000;  // so that something fits
    const walk::RunTable runs(w.graph, w.hardware);
    const WalkProblem p(w.graph, w.hardware, runs, {.rules = rules, .order = order});
    for (const auto engine : {oracle::Engine::exact, oracle::Engine::greedy, oracle::Engine::naive}) {
      const auto solution = oracle::solve(w, {.rules = rules, .order = order, .engine = engine});
      if (!solution.found) continue;
      const std::string name = fmt::format("graph {} {}", i, oracle::name(engine));
      const auto kernels = p.kernels_of(solution.plan);
      expect_close(full_price(p, kernels), solution.latency, name);
      const auto checked =
          oracle::simulate(w.graph, w.hardware, p.plan_of(kernels), {.rules = rules, .order = order});
      ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
      expect_close(checked.latency, solution.latency, name + " as a plan again");
      ++plans;
    }
  }
  EXPECT_GT(plans, 100);
}

// Whatever an agent does is a plan, with useless, duplicate and phantom entries.
TEST(PlanKernels, any_episode) {
  Dice dice(56);
  for (const Rules rules : {Rules::seed, Rules::seed_honest}) {
    int fallbacks = 0;
    for (int i = 0; i < 300; ++i) {
      const Workload w = random_workload(dice, {.nodes = dice.between(1, 10), .costly = dice.chance(20)});
      const walk::EpisodeContext context(w);
      std::vector<walk::Action> actions;
      for (int step = 0; step < w.graph.size(); ++step) {
        walk::Action action{
            .fuse_with_prev = dice.chance(60), .tile = dice.pick({32, 64, 128, 256}), .retain = {}};
        for (NodeId x = -1; x <= w.graph.size(); ++x)
          if (dice.chance(25))
            action.retain.insert(action.retain.end(), static_cast<std::size_t>(dice.between(1, 3)), x);
        actions.push_back(action);
      }
      const Plan plan = oracle::play(context, rules, actions);
      walk::Episode episode(context, {.rules = rules});
      for (const walk::Action& action : actions) episode.step(action);
      const WalkProblem p(context.graph(), context.hardware(), context.runs(), {.rules = rules});
      const auto kernels = p.kernels_of(plan);
      for (const walk::Kernel& k : kernels) fallbacks += k.fallback;
      const std::string name = fmt::format("{} {}", walk::name(rules), i);
      expect_close(full_price(p, kernels), episode.total_latency(), name);
      const auto improved = search::local(p, kernels, {.budget = {.steps = 200}});
      const auto checked = oracle::simulate(w.graph, w.hardware, p.plan_of(improved.plan), {.rules = rules});
      ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
      expect_close(checked.latency, improved.cost, name + " improved");
    }
    EXPECT_GT(fallbacks, 100);
  }
}

// The rest of an episode starts inside its open group.
TEST(PlanKernels, the_rest_of_an_episode) {
  Dice dice(57);
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = 9});
    const walk::EpisodeContext context(w);
    walk::Episode episode(context, {.rules = Rules::seed_honest});
    for (int step = 0; step < 4; ++step)
      episode.step(walk::Action{.fuse_with_prev = dice.chance(70), .tile = 64, .retain = {}});
    const WalkProblem p(episode);
    const auto optimum = search::exact(p);
    const auto kernels = p.kernels_of(p.plan_of(optimum.plan));
    EXPECT_NEAR(full_price(p, kernels), optimum.cost, 1e-9 * optimum.cost) << i;
    const auto again = search::local(p, kernels, {.budget = {.steps = 500}});
    EXPECT_NEAR(again.cost, optimum.cost, 1e-9 * optimum.cost) << i;
  }
}

TEST(PlanKernels, refuses_illegal_plans) {
  std::vector<Node> nodes;
  for (int i = 0; i < 4; ++i)
    nodes.push_back(
        derived_node(Op::relu, 64, 64, i > 0 ? std::vector<NodeId>{i - 1} : std::vector<NodeId>{}));
  const Graph graph(std::move(nodes));
  const Hardware hardware{.fast_mem_capacity = 40'000, .slow_mem_bandwidth = 1, .max_fusion_depth = 2};
  const walk::RunTable runs(graph, hardware);
  const WalkProblem honest(graph, hardware, runs, {.rules = Rules::seed_honest});
  const WalkProblem physical(graph, hardware, runs, {.rules = Rules::physical});
  const WalkProblem free(graph, hardware, runs, {.rules = Rules::physical, .order = Order::free});
  const auto kernel = [](std::vector<NodeId> members, std::vector<NodeId> retain = {}, int tile = 128) {
    return walk::PlanKernel{.nodes = std::move(members), .tile = tile, .retain = std::move(retain)};
  };
  const auto refused = [](const WalkProblem& p, const Plan& plan) {
    return error_of([&] { p.kernels_of(plan); });
  };
  EXPECT_EQ(refused(honest, {kernel({0, 1}), kernel({2}, {}, 100)}),
            "plan: kernel 1: tile: 100; expected 32, 64, 128 or 256");
  EXPECT_EQ(refused(honest, {kernel({0, 1}, {7})}),
            "plan: kernel 0: retain: 7 is not in the graph, whose ids are 0 to 3");
  EXPECT_EQ(refused(honest, {kernel({0}), kernel({2})}), "plan: kernel 1: nodes: 2 where the order has 1");
  EXPECT_EQ(
      refused(honest, {kernel({0, 1, 2}), kernel({3})}),
      "plan: kernel 0: nodes: 3 nodes from node 0; connected and within max_fusion_depth 2 are at most 2");
  EXPECT_EQ(refused(honest, {kernel({0}, {3})}),
            "plan: kernel 0: retain: 3 is neither a member, an input nor resident");
  EXPECT_EQ(refused(honest, {kernel({0, 1})}), "plan: its 1 kernels run 2 of 4 nodes; expected all");
  EXPECT_EQ(refused(honest, {kernel({0, 1}), kernel({})}),
            "plan: kernel 1: nodes: none; expected at least one");
  EXPECT_EQ(refused(honest, {kernel({0, 1}, {0, 1})}),
            "plan: kernel 0: does not fit in fast_mem_capacity 40000 B while it is fused");
  EXPECT_EQ(refused(physical, {kernel({0}, {0}), kernel({1, 2}, {1, 0, 2})}),
            "plan: kernel 1: working set 49152 B exceeds fast_mem_capacity 40000 B");
  EXPECT_EQ(refused(physical, {kernel({0}), kernel({1}, {3})}),
            "plan: kernel 1: retain: 3 is neither a member, an input nor resident");
  EXPECT_EQ(refused(free, {kernel({0}), kernel({2})}), "plan: kernel 1: nodes: 2 runs before its input 1");
  EXPECT_EQ(refused(free, {kernel({0}), kernel({0})}),
            "plan: kernel 1: nodes: 1 nodes that are done already, not connected, or more than "
            "max_fusion_depth 2");
}

}  // namespace
}  // namespace fuselage
