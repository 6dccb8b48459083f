// A law of every proven answer: who may do more never ends worse. Relaxing the order, the depth, the
// capacity, the launch, the bandwidth or the tiles of a problem leaves all its plans, at no higher a cost.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "brute_physical.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"
#include "wide_graphs.h"

namespace fuselage {
namespace {

using oracle::Engine;
using oracle::Solution;
using oracle::SolveOptions;
using walk::Order;
using walk::Rules;

struct Question {
  Workload workload;
  SolveOptions options;
};
struct Relaxation {
  std::string name;
  std::function<void(Question&)> relax;
};

const std::vector<Relaxation> relaxations = {
    {"depth", [](Question& q) { ++q.workload.hardware.max_fusion_depth; }},
    {"launch", [](Question& q) { q.workload.hardware.kernel_launch_cost /= 2; }},
    {"bandwidth", [](Question& q) { q.workload.hardware.slow_mem_bandwidth *= 1.5; }},
    {"tiles", [](Question& q) { q.options.only_tile.reset(); }},
    {"fusion", [](Question& q) { q.options.may_fuse = true; }},
    {"retention", [](Question& q) { q.options.may_retain = true; }},
};
const std::vector<Relaxation> of_physical = {
    {"order", [](Question& q) { q.options.order = Order::free; }},
    {"capacity", [](Question& q) { q.workload.hardware.fast_mem_capacity += q.workload.graph.bytes(0) / 2; }},
    {"much capacity", [](Question& q) { q.workload.hardware.fast_mem_capacity *= 3; }},
};

// Small graphs of all kinds, with restrictions now and then, so that there is something to relax.
Question draw(Dice& dice, int i, Rules rules) {
  Question q;
  q.options.rules = rules;
  q.options.budget.steps = 6000;
  q.options.engine = dice.pick({Engine::exact, Engine::exact, Engine::automatic});
  const int n = dice.between(3, 8);
  if (i % 3 == 0) {
    q.workload = random_workload(dice, {.nodes = n});
  } else if (i % 3 == 1) {
    q.workload = wide_workload(dice, n);
  } else {
    PythonRandom random(static_cast<std::uint64_t>(i));
    q.workload = walk::generate({.num_ops = std::max(n, 5),
                                 .difficulty = static_cast<walk::Difficulty>(dice.below(4)),
                                 .topology = static_cast<walk::Topology>(dice.below(6))},
                                random);
  }
  if (rules == Rules::physical && dice.chance(40)) q.options.order = Order::free;
  if (dice.chance(20)) q.options.only_tile = dice.pick({32, 64, 128, 256});
  if (dice.chance(15)) q.options.may_fuse = false;
  if (dice.chance(15)) q.options.may_retain = false;
  return q;
}

// None: refused, since nothing fits.
std::optional<Solution> solved(const Question& q) {
  try {
    return oracle::solve(q.workload, q.options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void expect_never_worse(Dice& dice, Rules rules, int graphs, std::vector<Relaxation> all) {
  int compared = 0;
  for (int i = 0; i < graphs; ++i) {
    const Question before = draw(dice, i, rules);
    const auto proven = solved(before);
    if (!proven || proven->proof == search::Proof::none) continue;
    for (const Relaxation& relaxation : all) {
      Question after = before;
      relaxation.relax(after);
      const auto relaxed = solved(after);
      ASSERT_TRUE(relaxed) << i << ' ' << relaxation.name;
      ASSERT_TRUE(relaxed->found) << i << ' ' << relaxation.name;
      if (relaxed->proof == search::Proof::none) continue;
      EXPECT_LE(relaxed->cost, proven->cost * (1 + 1e-9)) << i << ' ' << relaxation.name;
      EXPECT_LE(relaxed->lower_bound, proven->cost * (1 + 1e-9)) << i << ' ' << relaxation.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, graphs);
}

TEST(Relaxation, physical) {
  Dice dice(71);
  std::vector<Relaxation> all = relaxations;
  all.insert(all.end(), of_physical.begin(), of_physical.end());
  expect_never_worse(dice, Rules::physical, 150, all);
}
TEST(Relaxation, seed) {
  Dice dice(72);
  expect_never_worse(dice, Rules::seed, 120, relaxations);
}
TEST(Relaxation, seed_honest) {
  Dice dice(73);
  expect_never_worse(dice, Rules::seed_honest, 120, relaxations);
}

// What is said of kernels that are not listed: "optimal" is what brute force finds, also of wide graphs.
TEST(Relaxation, proven_optima_of_wide_graphs_are_those_of_brute_force) {
  Dice dice(74);
  int proven = 0;
  for (int i = 0; i < 60; ++i) {
    Question q;
    q.workload = wide_workload(dice, dice.between(3, 5));
    q.options = {
        .rules = Rules::physical, .order = i % 2 == 0 ? Order::free : Order::fixed, .engine = Engine::exact};
    const auto solution = solved(q);
    if (!solution) continue;
    const double optimum = walk::BrutePhysical(q.workload, q.options.order).optimum();
    ASSERT_EQ(solution->found, std::isfinite(optimum)) << i;
    if (!solution->found || solution->proof != search::Proof::optimal) continue;
    EXPECT_NEAR(solution->cost, optimum, 1e-9 * optimum) << i;
    ++proven;
  }
  EXPECT_GT(proven, 25);
}

// More tensors than have a choice each (w of them wait for one node), in either order, for every engine.
TEST(Relaxation, free_order_starts_from_the_plan_of_the_fixed_order) {
  for (const int width : {12, 28, 40})
    for (const double room : {0.6, 1.7}) {
      const Workload w = fan_in(width, room);
      const Solution fixed = oracle::solve(w, {.rules = Rules::physical, .budget = {.steps = 20'000}});
      ASSERT_TRUE(fixed.found);
      for (const Engine engine :
           {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local}) {
        const Solution free = oracle::solve(
            w,
            {.rules = Rules::physical, .order = Order::free, .engine = engine, .budget = {.steps = 40'000}});
        ASSERT_TRUE(free.found);
        EXPECT_LE(free.cost, fixed.cost * (1 + 1e-9)) << width << ' ' << room << ' ' << oracle::name(engine);
      }
    }
}

// Everything that a later kernel reads can be kept, however much it is.
TEST(Relaxation, many_residents_are_kept) {
  for (const Engine engine : {Engine::exact, Engine::beam, Engine::automatic}) {
    const Solution solution = oracle::solve(
        fan_in(28, 1.7), {.rules = Rules::physical, .engine = engine, .budget = {.steps = 50'000}});
    EXPECT_EQ(solution.proof, search::Proof::optimal) << oracle::name(engine);
    EXPECT_NEAR(solution.cost, 125'107.2, 0.01) << oracle::name(engine);
  }
}

// Stars have more sets of nodes than are listed: the larger depth lists those of the smaller one, and all
// that the fixed order has.
TEST(Relaxation, capped_spaces_are_nested) {
  const Workload w = star(40);
  const auto kernels_at = [&](int depth, std::int64_t capacity) {
    Workload deeper = w;
    deeper.hardware.max_fusion_depth = depth;
    deeper.hardware.fast_mem_capacity = capacity;
    const walk::RunTable runs(deeper.graph, deeper.hardware);
    const walk::WalkProblem problem(deeper.graph, deeper.hardware, runs,
                                    {.rules = Rules::physical, .order = Order::free, .tight_bounds = false});
    std::vector<walk::Kernel> kernels;
    problem.kernels(problem.initial(), kernels);
    std::set<std::pair<std::vector<int>, std::vector<NodeId>>> found;
    for (const walk::Kernel& k : kernels)
      found.insert({{k.nodes.begin(), k.nodes.end()}, {k.retain.begin(), k.retain.end()}});
    EXPECT_EQ(found.size(), kernels.size());
    EXPECT_LT(kernels.size(), 100'000U);
    return found;
  };
  const std::int64_t capacity = w.hardware.fast_mem_capacity;
  auto smaller = kernels_at(2, capacity);
  for (int depth = 3; depth <= 6; ++depth) {
    auto larger = kernels_at(depth, capacity);
    EXPECT_TRUE(std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end())) << depth;
    const auto roomier = kernels_at(depth, 2 * capacity);
    EXPECT_TRUE(std::includes(roomier.begin(), roomier.end(), larger.begin(), larger.end())) << depth;
    smaller = std::move(larger);
  }
}

}  // namespace
}  // namespace fuselage
