// The engine's optimum against brute force. Episodes are stepped with every action (brute_episode.h);
// `physical` is enumerated here from its rules, kernel by kernel.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "brute_episode.h"
#include "brute_physical.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/values.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"

namespace fuselage::walk {
namespace {

using oracle::Value;
using oracle::value_to_go;

void expect_close(double got, double want, const std::string& what) {
  EXPECT_LE(std::abs(got - want), 1e-9 * std::max(1.0, std::abs(want)))
      << what << ": got " << got << ", brute force " << want;
}

struct Batch {
  std::uint64_t seed;
  int graphs;
  int nodes;
  bool costly = false;
};

void PrintTo(const Batch& batch, std::ostream* out) {
  *out << batch.graphs << (batch.costly ? " costly" : "") << " graphs of " << batch.nodes << " nodes";
}

// Optimum from the start, and from states that a careless policy reaches.
void compare_with_episodes(Rules rules, const Batch& batch) {
  Dice dice(batch.seed);
  for (int i = 0; i < batch.graphs; ++i) {
    const Workload w = random_workload(dice, {.nodes = batch.nodes, .costly = batch.costly});
    const EpisodeContext context(w);
    BruteEpisode brute(context);
    Played played{Episode(context, {.rules = rules}), {}};
    const std::string name = fmt::format("seed {} graph {}", batch.seed, i);
    const WalkProblem problem(context.graph(), context.hardware(), context.runs(), {.rules = rules});
    const auto outcome = search::exact(problem);
    ASSERT_EQ(outcome.proof, search::Proof::optimal) << name;
    expect_close(outcome.cost, brute.value(played), name);
    expect_close(search::exact(problem, {.wide_layer = 1}).cost, outcome.cost,
                 name + " with an early incumbent");

    const Plan plan = problem.plan_of(outcome.plan);
    const auto checked = oracle::simulate(w.graph, w.hardware, plan, {.rules = rules});
    ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
    expect_close(checked.latency, outcome.cost, name + " simulated");
    Episode replayed(context, {.rules = rules});
    for (const Action& action : actions_of(plan)) replayed.step(action);
    ASSERT_TRUE(replayed.done()) << name;
    EXPECT_EQ(replayed.total_latency(), checked.latency) << name << " replayed";

    while (!played.episode.done()) {
      std::vector<NodeId> retain;
      for (NodeId x = 0; x < w.graph.size(); ++x)
        if (dice.chance(25)) retain.insert(retain.end(), static_cast<std::size_t>(dice.between(1, 2)), x);
      played.step(
          {.fuse_with_prev = dice.chance(60), .tile = dice.pick({32, 64, 128, 256}), .retain = retain});
      const Value value = value_to_go(played.episode);
      ASSERT_TRUE(value.proven) << name;
      expect_close(value.cycles, brute.value(played),
                   fmt::format("{} after {} steps", name, played.episode.steps()));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

class BruteForceEpisodes : public ::testing::TestWithParam<std::tuple<Rules, Batch>> {};
TEST_P(BruteForceEpisodes, optimum_and_values_are_equal) {
  compare_with_episodes(std::get<0>(GetParam()), std::get<1>(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(
    seed_rules, BruteForceEpisodes,
    ::testing::Combine(::testing::Values(Rules::seed, Rules::seed_honest),
                       ::testing::Values(Batch{1, 40, 1}, Batch{2, 80, 2}, Batch{3, 160, 3}, Batch{4, 140, 4},
                                         Batch{5, 40, 5}, Batch{6, 40, 5}, Batch{7, 6, 6}, Batch{8, 6, 6},
                                         Batch{9, 60, 3, true}, Batch{10, 40, 4, true},
                                         Batch{11, 8, 5, true})));

void compare_physical(Order order, const Batch& batch) {
  Dice dice(batch.seed);
  int infeasible = 0;
  for (int i = 0; i < batch.graphs; ++i) {
    const Workload w = random_workload(dice, {.nodes = batch.nodes});
    const std::string name = fmt::format("seed {} graph {}", batch.seed, i);
    const RunTable runs(w.graph, w.hardware);
    const WalkProblem problem(w.graph, w.hardware, runs, {.rules = Rules::physical, .order = order});
    const auto outcome = search::exact(problem);
    const double optimum = BrutePhysical(w, order).optimum();
    if (optimum == std::numeric_limits<double>::infinity()) {
      ++infeasible;
      EXPECT_TRUE(outcome.infeasible) << name;
      continue;
    }
    ASSERT_EQ(outcome.proof, search::Proof::optimal) << name;
    expect_close(outcome.cost, optimum, name);
    expect_close(search::exact(problem, {.wide_layer = 1}).cost, optimum, name + " with an early incumbent");
    const auto checked = oracle::simulate(w.graph, w.hardware, problem.plan_of(outcome.plan),
                                          {.rules = Rules::physical, .order = order});
    ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
    EXPECT_EQ(checked.latency, outcome.cost) << name;
  }
  EXPECT_LT(infeasible, batch.graphs);
}

class BruteForcePhysical : public ::testing::TestWithParam<std::tuple<Order, Batch>> {};
TEST_P(BruteForcePhysical, optimum_is_equal) {
  compare_physical(std::get<0>(GetParam()), std::get<1>(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(physical, BruteForcePhysical,
                         ::testing::Combine(::testing::Values(Order::fixed, Order::free),
                                            ::testing::Values(Batch{21, 40, 1}, Batch{22, 80, 2},
                                                              Batch{23, 120, 3}, Batch{24, 160, 4},
                                                              Batch{25, 100, 5}, Batch{26, 30, 6})));

}  // namespace
}  // namespace fuselage::walk
