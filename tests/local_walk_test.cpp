// Local improvement of plans of the walk family: what a move is said to cost is what the whole plan costs, a
// larger budget never ends worse, and on small graphs the optimum is found.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/local.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"

namespace fuselage {
namespace {

using search::LocalSearch;
using walk::Order;
using walk::Plan;
using walk::Rules;
using walk::WalkProblem;

double full_price(const WalkProblem& p, const std::vector<walk::Kernel>& plan) {
  auto s = p.initial();
  double cost = 0;
  for (const walk::Kernel& k : plan) {
    cost += p.price(s, k);
    s = p.apply(s, k);
  }
  EXPECT_EQ(p.progress(s), p.horizon());
  return cost;
}

struct Variant {
  Rules rules;
  Order order = Order::fixed;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << walk::name(variant.rules) << ", " << walk::name(variant.order);
}

class LocalWalk : public ::testing::TestWithParam<Variant> {
 protected:
  Rules rules() const { return GetParam().rules; }
  Order order() const { return GetParam().order; }
  walk::ProblemOptions problem() const { return {.rules = rules(), .order = order()}; }

  void expect_priced(const Workload& w, const WalkProblem& p, const std::vector<walk::Kernel>& plan,
                     double cost, const std::string& name) const {
    const auto checked =
        oracle::simulate(w.graph, w.hardware, p.plan_of(plan), {.rules = rules(), .order = order()});
    ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
    ASSERT_LE(std::abs(checked.latency - cost), 1e-9 * cost) << name << ": claimed " << cost;
  }
  std::optional<Plan> played(const Workload& w, oracle::Engine engine) const {
    const auto solution = oracle::solve(w, {.rules = rules(), .order = order(), .engine = engine});
    return solution.found ? std::optional(solution.plan) : std::nullopt;
  }
};

INSTANTIATE_TEST_SUITE_P(rules, LocalWalk,
                         ::testing::Values(Variant{Rules::seed}, Variant{Rules::seed_honest},
                                           Variant{Rules::physical}, Variant{Rules::physical, Order::free}));

bool something_fits(const Workload& w, const walk::RunTable& runs) {
  for (int at = 0; at < w.graph.size(); ++at)
    for (const walk::Run& run : runs.from(at))
      if (run.slices[0] <= w.hardware.fast_mem_capacity) return true;
  return false;
}

// A plan in which one move was made and everything behind it refitted, or nothing.
std::vector<walk::Kernel> moved(const WalkProblem& p, const std::vector<walk::Kernel>& plan,
                                const search::Move<walk::Kernel>& move) {
  std::vector<walk::Kernel> wanted(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(move.first));
  wanted.insert(wanted.end(), move.added.begin(), move.added.end());
  wanted.insert(wanted.end(), plan.begin() + static_cast<std::ptrdiff_t>(move.first + move.removed),
                plan.end());
  std::vector<walk::Kernel> result;
  auto s = p.initial();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto fitted = i < move.first ? std::optional(wanted[i]) : p.refit(s, wanted[i]);
    if (!fitted) return {};
    result.push_back(*fitted);
    s = p.apply(s, *fitted);
  }
  return result;
}

// Random moves from the exact engine's own kernels (under seed with what they buy) and from played plans.
TEST_P(LocalWalk, moves_cost_what_the_check_says) {
  Dice dice(51);
  int made = 0;
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 12), .costly = dice.chance(10)});
    const walk::RunTable runs(w.graph, w.hardware);
    if (!something_fits(w, runs)) continue;
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    const auto optimum = search::exact(p, {.budget = {.steps = 20'000}});
    if (!optimum.found) continue;
    std::vector<walk::Kernel> plan = optimum.plan;
    std::vector<search::Move<walk::Kernel>> moves;
    for (int round = 0; round < 60; ++round) {
      std::vector<walk::State> trail = {p.initial()};
      for (const walk::Kernel& k : plan) trail.push_back(p.apply(trail.back(), k));
      const int at = dice.below(static_cast<int>(plan.size()));
      p.neighbours(trail, plan, static_cast<std::size_t>(at), moves);
      if (moves.empty()) continue;
      const auto& move = moves[static_cast<std::size_t>(dice.below(static_cast<int>(moves.size())))];
      EXPECT_GE(move.first, static_cast<std::size_t>(at));
      EXPECT_LE(move.first + move.removed, plan.size());
      auto next = moved(p, plan, move);
      if (next.empty()) continue;
      ++made;
      plan = std::move(next);
      expect_priced(w, p, plan, full_price(p, plan), fmt::format("graph {} round {}", i, round));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(made, 1000);
}

// The objective by the independent check's reports.
double charged(const oracle::Simulation& checked, const Workload& w, const walk::Price& price) {
  double total = checked.latency;
  for (const oracle::KernelReport& k : checked.kernels) {
    total += price.launch * k.launches;
    for (const auto* ids : {&k.loads, &k.writes})
      for (NodeId x : *ids) total += price.traffic * static_cast<double>(w.graph.bytes(x));
    for (NodeId x : k.resident_after)
      total += price.residency * static_cast<double>(w.graph.bytes(x)) * k.launches;
  }
  return total;
}

std::int64_t moved_bytes(const oracle::Simulation& checked, const Workload& w) {
  std::int64_t total = 0;
  for (const oracle::KernelReport& k : checked.kernels)
    for (const auto* ids : {&k.loads, &k.writes})
      for (NodeId x : *ids) total += w.graph.bytes(x);
  return total;
}

TEST_P(LocalWalk, options_are_kept) {
  Dice dice(58);
  int plans = 0;
  for (int i = 0; i < 120; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 8)});
    const walk::RunTable runs(w.graph, w.hardware);
    walk::ProblemOptions options = problem();
    options.price = {.traffic = dice.pick({0.0, 0.1, 2.0}),
                     .launch = dice.pick({0.0, 700.0}),
                     .residency = dice.pick({0.0, 0.05})};
    options.may_fuse = !dice.chance(25);
    options.may_retain = !dice.chance(25);
    if (dice.chance(40)) options.only_tile = dice.pick({32, 64, 128, 256});
    const auto unlimited = search::exact(WalkProblem(w.graph, w.hardware, runs, options));
    if (!unlimited.found) continue;
    const auto best = oracle::simulate(
        w.graph, w.hardware, WalkProblem(w.graph, w.hardware, runs, options).plan_of(unlimited.plan),
        {.rules = rules(), .order = order()});
    // A node that runs out of memory reports no traffic.
    const bool runs_out =
        std::any_of(best.kernels.begin(), best.kernels.end(), [](const auto& k) { return k.fallback; });
    if (!runs_out && dice.chance(30)) options.most_traffic = moved_bytes(best, w);
    const WalkProblem p(w.graph, w.hardware, runs, options);
    const std::string name = fmt::format("graph {}", i);

    // From the first declared kernel of every state, if that leads anywhere.
    std::vector<walk::Kernel> start;
    std::vector<walk::Kernel> kernels;
    auto s = p.initial();
    while (p.progress(s) < p.horizon()) {
      p.kernels(s, kernels);
      const auto legal = std::find_if(kernels.begin(), kernels.end(),
                                      [&](const auto& k) { return std::isfinite(p.price(s, k)); });
      if (legal == kernels.end()) break;
      start.push_back(*legal);
      s = p.apply(s, *legal);
    }
    if (p.progress(s) < p.horizon()) start = unlimited.plan;
    const auto outcome = search::local(p, start, {.budget = {.steps = 1500}});
    EXPECT_GE(outcome.cost, unlimited.cost * (1 - 1e-9)) << name;
    const Plan plan = p.plan_of(outcome.plan);
    const auto checked = oracle::simulate(w.graph, w.hardware, plan, {.rules = rules(), .order = order()});
    ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
    const bool oom =
        std::any_of(checked.kernels.begin(), checked.kernels.end(), [](const auto& k) { return k.fallback; });
    if (!oom) {
      EXPECT_NEAR(charged(checked, w, options.price), outcome.cost, 1e-9 * outcome.cost) << name;
      EXPECT_LE(moved_bytes(checked, w), options.most_traffic.value_or(Graph::max_total_bytes)) << name;
    }
    for (const walk::PlanKernel& k : plan) {
      EXPECT_TRUE(options.may_fuse || k.nodes.size() == 1) << name;
      EXPECT_TRUE(options.may_retain || k.retain.empty()) << name;
      EXPECT_EQ(k.tile, options.only_tile.value_or(k.tile)) << name;
    }
    EXPECT_NEAR(full_price(p, p.kernels_of(plan)), outcome.cost, 1e-9 * outcome.cost) << name;
    ++plans;
  }
  EXPECT_GT(plans, 60);
}

TEST_P(LocalWalk, refitting_twice_changes_nothing) {
  Dice dice(52);
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 10)});
    const walk::RunTable runs(w.graph, w.hardware);
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    auto s = p.initial();
    std::vector<walk::Kernel> kernels;
    while (p.progress(s) < p.horizon()) {
      p.kernels(s, kernels);
      if (kernels.empty()) break;
      const auto& k = kernels[static_cast<std::size_t>(dice.below(static_cast<int>(kernels.size())))];
      const auto once = p.refit(s, k);
      ASSERT_TRUE(once) << i;
      const auto twice = p.refit(s, *once);
      ASSERT_TRUE(twice) << i;
      EXPECT_EQ(p.price(s, *once), p.price(s, *twice)) << i;
      EXPECT_TRUE(p.apply(s, *once) == p.apply(s, *twice)) << i;
      if (!k.fallback) {
        EXPECT_LE(p.price(s, *once), p.price(s, k) * (1 + 1e-12)) << i;
      }
      s = p.apply(s, *once);
    }
  }
}

// The search stops every few steps; what it holds then is priced anew.
TEST_P(LocalWalk, cost_is_that_of_the_plan) {
  Dice dice(53);
  for (int i = 0; i < 25; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 40), .costly = dice.chance(10)});
    const walk::RunTable runs(w.graph, w.hardware);
    if (!something_fits(w, runs)) continue;
    const auto start = played(w, oracle::Engine::greedy);
    if (!start) continue;
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    LocalSearch<WalkProblem> search(p, p.kernels_of(*start),
                                    {.seed = static_cast<std::uint64_t>(i), .stretch = 6});
    double before = std::numeric_limits<double>::infinity();
    for (std::uint64_t steps : {1, 30, 100, 300, 1000, 2000}) {
      Meter meter({.steps = steps});
      search.run(meter);
      EXPECT_LE(search.best().cost, before);
      before = search.best().cost;
      expect_priced(w, p, search.best().plan, before, fmt::format("graph {} at {}", i, steps));
      if (HasFatalFailure()) return;
    }
  }
}

// One trajectory, stopped at 20 places: costs never rise, and a search that goes on is where one that never
// stopped is.
TEST_P(LocalWalk, a_larger_budget_goes_on) {
  const Workload w = walk::generate_seeded({.num_ops = 40, .difficulty = walk::Difficulty::expert}, "7");
  const walk::RunTable runs(w.graph, w.hardware);
  const WalkProblem p(w.graph, w.hardware, runs, problem());
  const auto start = p.kernels_of(*played(w, oracle::Engine::naive));
  LocalSearch<WalkProblem> resumed(p, start, {.seed = 3});
  Meter meter(Budget{});
  double before = full_price(p, start);
  for (std::uint64_t steps = 100; steps <= 2000; steps += 100) {
    const auto outcome = search::local(p, start, {.budget = {.steps = steps}, .seed = 3});
    EXPECT_LE(outcome.cost, before) << steps;
    EXPECT_GE(outcome.steps, steps);
    before = outcome.cost;
    Meter slice({.steps = steps - std::min(steps, meter.steps())});
    resumed.run(slice);
    meter.charge(slice.steps());
    EXPECT_EQ(meter.steps(), outcome.steps);
    EXPECT_EQ(resumed.best().cost, outcome.cost) << steps;
    EXPECT_EQ(p.plan_of(resumed.best().plan), p.plan_of(outcome.plan)) << steps;
  }
  EXPECT_LT(before, 0.95 * full_price(p, start));
}

TEST_P(LocalWalk, small_graphs_are_solved) {
  Dice dice(54);
  int graphs = 0;
  int solved = 0;
  for (int i = 0; i < 60; ++i) {
    Workload w = random_workload(dice, {.nodes = dice.between(3, 8)});
    w.hardware.fast_mem_capacity += 20'000;
    const walk::RunTable runs(w.graph, w.hardware);
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    for (const auto engine : {oracle::Engine::naive, oracle::Engine::greedy}) {
      const auto start = played(w, engine);
      if (!start) continue;
      const auto outcome = search::local(p, p.kernels_of(*start), {.budget = {.steps = 5000}, .seed = 1});
      const double optimum = search::exact(p).cost;
      EXPECT_GE(outcome.cost, optimum * (1 - 1e-9)) << i;
      ++graphs;
      solved += outcome.cost <= optimum * (1 + 1e-9);
    }
  }
  RecordProperty("graphs", graphs);
  RecordProperty("solved", solved);
  EXPECT_GE(solved * 100, graphs * 90) << solved << " of " << graphs;
}

}  // namespace
}  // namespace fuselage
