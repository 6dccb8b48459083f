// Lower bounds: never above the optimum, from the start and from states met on the way; and, at the start,
// close enough to it to be worth their name.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "fuselage/search/exact.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/problem.h"
#include "heads.h"
#include "random_graphs.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct RuleSet {
  Rules rules = Rules::seed_honest;
  Order order = Order::fixed;
};
void PrintTo(const RuleSet& set, std::ostream* out) {
  *out << name(set.rules) << (set.order == Order::free ? ", order free" : "");
}

// The cheapest completion; nothing if that takes too long to prove.
std::optional<double> cost_to_go(const WalkProblem& problem, const State& s) {
  const auto outcome = search::exact(problem, {.budget = {.steps = 100'000}}, std::optional(s));
  if (outcome.infeasible) return infinity;
  if (outcome.proof == search::Proof::none) return std::nullopt;
  return outcome.cost;
}

// A slow link, on which kernels wait for memory: what a bound from compute alone misses.
Workload memory_bound(int i, int ops) {
  constexpr Topology topologies[] = {Topology::long_skip, Topology::adversarial, Topology::mixed};
  PythonRandom random(static_cast<std::uint64_t>(5000 + i));
  Workload w = generate(
      {.num_ops = ops, .difficulty = static_cast<Difficulty>(i / 3 % 4), .topology = topologies[i % 3]},
      random);
  w.hardware.slow_mem_bandwidth = 0.5 + 0.1 * (i % 16);
  return w;
}

Workload generated(int i, int ops) {
  PythonRandom random(static_cast<std::uint64_t>(1000 + i));
  return generate({.num_ops = ops,
                   .difficulty = static_cast<Difficulty>(i % 4),
                   .topology = static_cast<Topology>(i / 4 % 6)},
                  random);
}

class Bounds : public ::testing::TestWithParam<RuleSet> {
 protected:
  void compare(const Workload& w, const ProblemOptions& options, Dice& dice, const std::string& name) {
    const RunTable runs(w.graph, w.hardware);
    const WalkProblem problem(w.graph, w.hardware, runs, options);
    const auto proven = search::exact(problem, {.budget = {.steps = 100'000}});
    if (proven.infeasible) return;
    if (proven.proof == search::Proof::none) {
      ++unproven_;
      return;
    }
    ++compared_;
    // What is left of an optimal plan is optimal from where it is.
    State s = problem.initial();
    double left = proven.cost;
    for (std::size_t i = 0; i < proven.plan.size(); ++i) {
      ASSERT_LE(problem.bound(s), left + 1e-9 * proven.cost) << name << ": after " << i << " kernels";
      left -= problem.price(s, proven.plan[i]);
      s = problem.apply(s, proven.plan[i]);
    }
    EXPECT_EQ(problem.bound(s), 0) << name;
    wander(problem, dice, name);
  }

 private:
  // Any kernels at all, priced or not worth it; the bound is asked at two places of the way.
  void wander(const WalkProblem& problem, Dice& dice, const std::string& name) {
    State s = problem.initial();
    std::vector<Kernel> kernels;
    const int first = dice.below(problem.horizon());
    int looks = 2;
    while (problem.progress(s) < problem.horizon()) {
      if (problem.progress(s) >= first && looks > 0) {
        --looks;
        const auto least = cost_to_go(problem, s);
        ++met_;
        if (least) {
          ASSERT_LE(problem.bound(s), *least * (1 + 1e-9)) << name << ": at " << problem.progress(s);
        }
      }
      problem.kernels(s, kernels);
      if (kernels.empty()) return;
      const Kernel& k = kernels[static_cast<std::size_t>(dice.below(static_cast<int>(kernels.size())))];
      if (problem.price(s, k) == infinity) return;
      s = problem.apply(s, k);
    }
  }

 protected:
  int compared_ = 0;
  int unproven_ = 0;
  int met_ = 0;
};

// 2,000 graphs under each rule set.
TEST_P(Bounds, never_exceed_the_optimum) {
  Dice dice(42);
  const ProblemOptions options = {.rules = GetParam().rules, .order = GetParam().order};
  for (int i = 0; i < 1400 && !HasFailure(); ++i)
    compare(random_workload(dice, {.nodes = dice.between(1, 8), .costly = i % 20 == 0}), options, dice,
            fmt::format("random graph {}", i));
  for (int i = 0; i < 400 && !HasFailure(); ++i)
    compare(generated(i, dice.between(4, 12)), options, dice, fmt::format("generated graph {}", i));
  for (int i = 0; i < 200 && !HasFailure(); ++i)
    compare(memory_bound(i, dice.between(6, 14)), options, dice, fmt::format("memory-bound graph {}", i));
  EXPECT_GT(compared_, 1700);
  EXPECT_GT(met_, 2000);
  EXPECT_LT(unproven_, 20);
}

TEST_P(Bounds, never_exceed_the_optimum_of_a_price_or_a_restricted_space) {
  Dice dice(43);
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    ProblemOptions options = {.rules = GetParam().rules, .order = GetParam().order};
    options.price = {.traffic = dice.pick({0.0, 0.01, 0.3}),
                     .launch = dice.pick({0.0, 700.0}),
                     .residency = dice.pick({0.0, 0.0, 1e-3, 0.1})};
    options.may_fuse = !dice.chance(20);
    options.may_retain = !dice.chance(20);
    if (dice.chance(30)) options.only_tile = dice.pick({32, 64, 128, 256});
    const Workload w =
        i % 3 == 0 ? memory_bound(i, 10) : random_workload(dice, {.nodes = dice.between(1, 6)});
    compare(w, options, dice, fmt::format("graph {}", i));
  }
  EXPECT_GT(compared_, 200);
}

INSTANTIATE_TEST_SUITE_P(rules, Bounds,
                         ::testing::Values(RuleSet{Rules::seed}, RuleSet{Rules::seed_honest},
                                           RuleSet{Rules::physical}, RuleSet{Rules::physical, Order::free}));

// ---- how close

// Mean of bound / optimum at the start.
template <class Draw>
double mean_share(Rules rules, int graphs, const Draw& draw) {
  double sum = 0;
  for (int i = 0; i < graphs; ++i) {
    const Workload w = draw(i, 8 + i * 42 / (graphs - 1));
    const RunTable runs(w.graph, w.hardware);
    const WalkProblem problem(w.graph, w.hardware, runs, {.rules = rules});
    const auto proven = search::exact(problem);
    EXPECT_EQ(proven.proof, search::Proof::optimal) << w.name;
    const double bound = problem.bound(problem.initial());
    EXPECT_LE(bound, proven.cost * (1 + 1e-9)) << w.name;
    sum += bound / proven.cost;
  }
  return sum / graphs;
}

class RootBounds : public ::testing::TestWithParam<Rules> {};

// The bars: 85 % on average over graphs of 8 to 50 nodes, 80 % where memory binds.
TEST_P(RootBounds, are_close_to_the_optimum) {
  const double share = mean_share(GetParam(), 120, generated);
  EXPECT_GE(share, 0.85);
  RecordProperty("share", fmt::format("{:.4f}", share));
}
TEST_P(RootBounds, are_close_to_the_optimum_where_memory_binds) {
  const double share = mean_share(GetParam(), 120, memory_bound);
  EXPECT_GE(share, 0.80);
  RecordProperty("share", fmt::format("{:.4f}", share));
}

INSTANTIATE_TEST_SUITE_P(rules, RootBounds, ::testing::Values(Rules::seed_honest, Rules::physical));

// Free order bounds no more than fixed order: what is proven of the one must not be said of the other.
TEST(RootBounds, order_free_stays_below_its_own_optimum_on_heads) {
  for (const std::int64_t capacity : {20'000, 48'000, 100'000, 400'000})
    for (const double bandwidth : {0.5, 2.0, 8.0}) {
      HeadsOptions options = {.heads = 2};
      options.hardware.fast_mem_capacity = capacity;
      options.hardware.slow_mem_bandwidth = bandwidth;
      const Workload w = heads_workload(options);
      const RunTable runs(w.graph, w.hardware);
      const WalkProblem problem(w.graph, w.hardware, runs, {.rules = Rules::physical, .order = Order::free});
      const auto proven = search::exact(problem, {.budget = {.steps = 3'000'000}});
      EXPECT_EQ(proven.proof, search::Proof::optimal) << capacity << ' ' << bandwidth;
      EXPECT_LE(problem.bound(problem.initial()), proven.cost * (1 + 1e-9)) << capacity << ' ' << bandwidth;
      EXPECT_GE(problem.bound(problem.initial()), 0.5 * proven.cost) << capacity << ' ' << bandwidth;
    }
}

}  // namespace
}  // namespace fuselage::walk
