// Q values: the least is the value of the state, taking its action keeps the promise, and an episode played
// by optimal actions ends at the optimum.

#include "fuselage/oracle/values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "brute_episode.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using namespace walk;

class Values : public ::testing::TestWithParam<Rules> {};

TEST_P(Values, the_least_q_is_the_value_and_each_q_is_brute_force) {
  Dice dice(31);
  for (int i = 0; i < 25; ++i) {
    const Workload w = random_workload(dice, {.nodes = 3});
    const EpisodeContext context(w);
    BruteEpisode brute(context);
    Played played{Episode(context, {.rules = GetParam()}), {}};
    while (!played.episode.done()) {
      const double value = value_to_go(played.episode).cycles;
      double least = std::numeric_limits<double>::infinity();
      for (const auto& [action, q] : q_values(played.episode)) {
        EXPECT_TRUE(q.proven);
        least = std::min(least, q.cycles);
        Played next = played;
        next.step(action);
        const double paid = next.episode.total_latency() - played.episode.total_latency();
        EXPECT_NEAR(q.cycles, paid + brute.value(next), 1e-9 * q.cycles) << "graph " << i;
      }
      EXPECT_NEAR(least, value, 1e-9 * value) << "graph " << i;
      played.step(
          {.fuse_with_prev = dice.chance(50), .tile = dice.pick({32, 128}), .retain = {dice.below(3)}});
    }
  }
}

TEST_P(Values, playing_optimal_actions_reaches_the_optimum) {
  for (const TaskSpec& task : tasks()) {
    const Workload w = make_task(task);
    const EpisodeContext context(w);
    const double optimum = oracle::solve(w, {.rules = GetParam()}).latency;
    Episode episode(context, {.rules = GetParam()});
    while (!episode.done()) {
      EXPECT_NEAR(episode.total_latency() + value_to_go(episode).cycles, optimum, 1e-9 * optimum)
          << task.name;
      episode.step(optimal_action(episode));
    }
    EXPECT_NEAR(episode.total_latency(), optimum, 1e-9 * optimum) << task.name;
  }
}

// An episode cut by max_steps is worth what can be done until then.
TEST_P(Values, cut_episodes) {
  Dice dice(32);
  for (int i = 0; i < 40; ++i) {
    const Workload w = random_workload(dice, {.nodes = 4});
    const EpisodeContext context(w);
    BruteEpisode brute(context);
    Played played{Episode(context, {.rules = GetParam(), .max_steps = dice.between(1, 3)}), {}};
    EXPECT_NEAR(value_to_go(played.episode).cycles, brute.value(played), 1e-6) << "graph " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(seed_rules, Values, ::testing::Values(Rules::seed, Rules::seed_honest));

TEST(Values, nothing_is_left_to_pay_at_the_end) {
  const EpisodeContext context(make_task(tasks()[0]));
  Episode episode(context);
  while (!episode.done()) episode.step(Action{});
  EXPECT_EQ(value_to_go(episode).cycles, 0);
  EXPECT_TRUE(canonical_actions(episode).empty());
}

}  // namespace
}  // namespace fuselage::oracle
