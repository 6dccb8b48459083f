// Costs of twelve digits and more, whose differences are single cycles: what counts as the same is said in
// one place, engines find the optimum to the last digit all the same, and a proof and its bound belong
// together.
#include "fuselage/core/cost.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "brute_physical.h"
#include "brute_plans.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/pareto.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/portfolio.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"
#include "toy.h"

namespace fuselage {
namespace {

using oracle::Engine;
using oracle::Solution;
using oracle::solve;
using oracle::SolveOptions;
using search::Proof;
using walk::Order;
using walk::Rules;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Cost, what_is_the_same_is_said_within_a_billionth) {
  EXPECT_TRUE(meets(1e12 - 999, 1e12));
  EXPECT_FALSE(meets(1e12 - 1001, 1e12));
  EXPECT_TRUE(meets(1e12 + 1, 1e12));
  EXPECT_TRUE(meets(0, 0));
  EXPECT_FALSE(meets(0, 1e-300));
  EXPECT_FALSE(meets(1e300, infinity)) << "no plan is no proof";
  EXPECT_FALSE(meets(std::nan(""), 1));
  EXPECT_TRUE(agree(1e12, 1e12 - 999));
  EXPECT_TRUE(agree(1e12 - 999, 1e12));
  EXPECT_FALSE(agree(1e12, 1e12 - 1001));
  EXPECT_FALSE(agree(1, infinity));
  EXPECT_FALSE(agree(1, std::nan("")));
}

TEST(Cost, a_cycle_is_no_rounding) {
  EXPECT_LT(1e12, unbeatable_from(1e12 + 1, 100));
  EXPECT_LT(1e14, unbeatable_from(1e14 + 1, 10));
  EXPECT_EQ(unbeatable_from(infinity, 10), infinity);
  // The same prices in two orders.
  Dice dice(1);
  for (int n = 1; n <= 300; ++n) {
    std::vector<double> prices;
    for (int i = 0; i < n; ++i) prices.push_back(1e9 / dice.between(1, 1000));
    double forward = 0;
    double backward = 0;
    for (int i = 0; i < n; ++i) {
      forward += prices[static_cast<std::size_t>(i)];
      backward += prices[static_cast<std::size_t>(n - 1 - i)];
    }
    EXPECT_GE(forward, unbeatable_from(backward, static_cast<std::size_t>(n))) << n;
    EXPECT_GE(backward, unbeatable_from(forward, static_cast<std::size_t>(n))) << n;
  }
}

// ---- engines on a toy whose costs have thirteen digits

constexpr double column_cost = 1e12;

class DearToy : public search::ToyProblem {
 public:
  DearToy(int length, int rows, std::uint64_t seed) : ToyProblem(length, rows, seed), length_(length) {}
  double price(const State& s, const Kernel& k) const {
    return ToyProblem::price(s, k) + column_cost * k.columns;
  }
  double bound(const State& s) const { return ToyProblem::bound(s) + column_cost * (length_ - s.column); }
  double optimum() const { return ToyProblem::optimum() + column_cost * length_; }

 private:
  int length_;
};

TEST(Cost, engines_find_the_optimum_of_a_toy_to_the_last_digit) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const DearToy toy(3 + static_cast<int>(seed % 10), 5, seed);
    const double optimum = toy.optimum();
    if (optimum == infinity) continue;
    const auto expect = [&](const auto& outcome, const char* engine) {
      EXPECT_EQ(outcome.cost, optimum) << engine << ' ' << seed;
      EXPECT_EQ(outcome.lower_bound, optimum) << engine << ' ' << seed;
      EXPECT_EQ(outcome.proof, Proof::optimal) << engine << ' ' << seed;
    };
    expect(search::exact(toy), "exact");
    expect(search::exact(toy, {.wide_layer = 4, .threads = 2}), "exact that looks ahead");
    expect(search::beam(toy, {.width = search::unlimited}), "beam");
    expect(search::mcts(toy, {.seed = seed}), "mcts");
    expect(search::mcts(toy, {.seed = seed, .threads = 3}), "mcts of three trees");
    search::KeepAll guide;
    expect(search::Portfolio(toy, guide, {.seed = seed, .first_steps = 64, .round_steps = 64}, toy.initial())
               .run(),
           "auto");
  }
}

TEST(Cost, a_cheaper_plan_is_news_however_little_it_saves) {
  std::vector<double> heard;
  search::Monitor monitor([&](const search::Event& event) { heard.push_back(event.cost); });
  monitor.found("a", 1e12 + 2);
  monitor.found("b", 1e12 + 1);
  monitor.found("c", 1e12 + 1);
  EXPECT_EQ(heard, (std::vector<double>{1e12 + 2, 1e12 + 1}));
}

// ---- the walk family

struct RuleSet {
  Rules rules = Rules::seed_honest;
  Order order = Order::fixed;
};
constexpr RuleSet rule_sets[] = {
    {Rules::seed}, {Rules::seed_honest}, {Rules::physical}, {Rules::physical, Order::free}};

// Every op takes `cycles` and a little, launches take one, and traffic is hidden or takes as long.
Workload dear(const Workload& like, double cycles, Dice& dice) {
  std::vector<Node> nodes(like.graph.nodes().begin(), like.graph.nodes().end());
  for (Node& node : nodes) node.flops = cycles + dice.below(3);
  Hardware hardware = like.hardware;
  hardware.kernel_launch_cost = 1;
  hardware.slow_mem_bandwidth = dice.chance(50) ? 262144 : dice.between(1, 9) * 65536 / cycles;
  return {like.name, Graph(std::move(nodes)), hardware};
}

double brute_optimum(const Workload& w, const RuleSet& set) {
  const walk::Space space = {.fronts = false};
  if (set.rules == Rules::physical) return walk::BrutePhysical(w, set.order, space).optimum();
  return walk::BrutePlans(w, set.rules, space).front().least();
}

void expect_consistent(const Solution& solution, const std::string& what) {
  EXPECT_LE(solution.lower_bound, solution.cost) << what;
  EXPECT_EQ(solution.proof == Proof::optimal, meets(solution.lower_bound, solution.cost))
      << what << ": " << search::name(solution.proof) << ", gap " << solution.gap();
}

TEST(Cost, engines_agree_with_brute_force_to_the_last_digit) {
  Dice dice(12);
  int large = 0;
  for (int i = 0; i < 400; ++i) {
    const RuleSet& set = rule_sets[i % 4];
    const Workload w = dear(random_workload(dice, {.nodes = 1 + i / 4 % 5}),
                            dice.pick({1e11, 1e12, 1e13, 123456789012.0}), dice);
    const double optimum = brute_optimum(w, set);
    if (optimum == infinity) continue;
    large += optimum > 1e11;
    for (const Engine engine : {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts}) {
      const SolveOptions options = {
          .rules = set.rules, .order = set.order, .engine = engine, .width = search::unlimited};
      const std::string what =
          fmt::format("graph {}: {} {} {}", i, name(engine), name(set.rules), name(set.order));
      const Solution solution = solve(w, options);
      ASSERT_TRUE(solution.found) << what;
      const double rounding = rounding_of(static_cast<std::size_t>(w.graph.size())) * optimum;
      EXPECT_NEAR(solution.cost, optimum, rounding) << what;
      EXPECT_LE(solution.lower_bound, optimum + rounding) << what;
      EXPECT_EQ(solution.proof, Proof::optimal) << what;
      expect_consistent(solution, what);
    }
  }
  EXPECT_GT(large, 200);
}

// As reported: one kernel takes a cycle less than two, which is nothing beside 2e11.
TEST(Cost, one_launch_less_is_found) {
  for (const double flops : {1e11, 1e12, 1e13})
    for (const RuleSet& set : rule_sets) {
      std::vector<Node> nodes = {derived_node(Op::relu, 256, 256, {}), derived_node(Op::relu, 256, 256, {0})};
      for (Node& node : nodes) node.flops = flops;
      const Workload w{"two", Graph(std::move(nodes)), {400'000, 262144, 1, 2}};
      double costs[2] = {};
      for (const Engine engine : {Engine::automatic, Engine::exact}) {
        const Solution solution = solve(w, {.rules = set.rules, .order = set.order, .engine = engine});
        costs[engine == Engine::exact] = solution.cost;
        EXPECT_EQ(solution.proof, Proof::optimal);
        EXPECT_LE(solution.lower_bound, solution.cost);
      }
      EXPECT_EQ(costs[0], costs[1]) << flops << ' ' << name(set.rules);
    }
}

TEST(Cost, engines_agree_on_larger_graphs_to_the_last_digit) {
  Dice dice(5);
  for (int i = 0; i < 18; ++i) {
    const RuleSet& set = rule_sets[1 + i % 2];
    PythonRandom random(static_cast<std::uint64_t>(i));
    const Workload w =
        dear(walk::generate({.num_ops = 8 + i, .difficulty = static_cast<walk::Difficulty>(i % 4)}, random),
             1e11, dice);
    const Solution exact = solve(w, {.rules = set.rules, .order = set.order, .engine = Engine::exact});
    ASSERT_EQ(exact.proof, Proof::optimal);
    const double rounding = rounding_of(static_cast<std::size_t>(w.graph.size())) * exact.cost;
    for (const Engine engine : {Engine::automatic, Engine::beam}) {
      const Solution solution =
          solve(w, {.rules = set.rules, .order = set.order, .engine = engine, .width = search::unlimited});
      EXPECT_NEAR(solution.cost, exact.cost, rounding) << i << ' ' << name(engine);
      expect_consistent(solution, fmt::format("{} {}", i, name(engine)));
    }
  }
}

// Whoever found the two: a search that ends before it knows, or one that leaves states out.
TEST(Cost, a_plan_is_optimal_if_and_only_if_its_bound_meets_it) {
  Dice dice(77);
  int proven = 0;
  int open = 0;
  for (int i = 0; i < 120; ++i) {
    const RuleSet& set = rule_sets[i % 4];
    PythonRandom random(static_cast<std::uint64_t>(i));
    const Workload w = walk::generate(
        {.num_ops = 4 + i % 9, .difficulty = static_cast<walk::Difficulty>(i / 4 % 4)}, random);
    for (const Engine engine : {Engine::automatic, Engine::exact, Engine::beam, Engine::mcts, Engine::local,
                                Engine::greedy, Engine::naive})
      for (const std::uint64_t steps : {1U, 30U, 2000U}) {
        const SolveOptions options = {.rules = set.rules,
                                      .order = set.order,
                                      .engine = engine,
                                      .budget = {.steps = steps},
                                      .width = static_cast<std::size_t>(dice.pick({1, 2, 8}))};
        const Solution solution = solve(w, options);
        if (!solution.found) continue;
        expect_consistent(solution, fmt::format("graph {}: {}, {} steps", i, name(engine), steps));
        (solution.proof == Proof::optimal ? proven : open) += 1;
      }
  }
  EXPECT_GT(proven, 200);
  EXPECT_GT(open, 200);
}

TEST(Cost, a_narrow_beam_that_meets_the_bound_has_proven_its_plan) {
  for (const walk::TaskSpec& task : walk::tasks()) {
    const Solution solution =
        solve(walk::make_task(task), {.rules = Rules::physical, .engine = Engine::beam, .width = 1});
    expect_consistent(solution, std::string(task.name));
    if (task.name == "task4_mixed") {
      EXPECT_EQ(solution.proof, Proof::optimal);
    }
  }
}

// A bound of its own stays what it is: it is not the cost for being close to it.
TEST(Cost, a_bound_is_never_raised_to_the_cost) {
  double bound = 1e12 - 5;
  Proof proof = Proof::none;
  search::settle_proof(1e12, bound, proof);
  EXPECT_EQ(bound, 1e12 - 5);
  EXPECT_EQ(proof, Proof::optimal);
  bound = 1e12 - 5000;
  proof = Proof::none;
  search::settle_proof(1e12, bound, proof);
  EXPECT_EQ(bound, 1e12 - 5000);
  EXPECT_EQ(proof, Proof::none);
}

TEST(Cost, a_front_has_every_point_that_is_faster_by_a_cycle) {
  Dice dice(8);
  for (int i = 0; i < 60; ++i) {
    const Rules rules = rule_sets[i % 3].rules;
    const Workload w = dear(random_workload(dice, {.nodes = 2 + i / 3 % 3}), 1e11, dice);
    const double optimum = brute_optimum(w, {rules});
    if (optimum == infinity) continue;
    const oracle::ParetoFront front = oracle::pareto_traffic(w, {.rules = rules});
    ASSERT_FALSE(front.points.empty());
    EXPECT_NEAR(front.points.front().latency, optimum, rounding_of(8) * optimum) << i;
    for (std::size_t p = 0; p + 1 < front.points.size(); ++p)
      EXPECT_LT(front.points[p].latency, front.points[p + 1].latency) << i;
  }
}

}  // namespace
}  // namespace fuselage
