// What an episode does beyond the recorded figures (replay_test): odd actions, the honest rule set, copies,
// batches, and numbers as Python prints them.

#include "fuselage/walk/episode.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "fuselage/core/error.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"

namespace fuselage::walk {
namespace {

const EpisodeContext& task(std::string_view name) {
  static std::map<std::string, EpisodeContext, std::less<>> contexts;
  const auto found = contexts.find(name);
  if (found != contexts.end()) return found->second;
  return contexts.emplace(std::string(name), make_task(*find_task(name))).first->second;
}

Action random_action(Dice& dice, int nodes) {
  Action action{
      .fuse_with_prev = dice.chance(70), .tile = dice.pick({32, 64, 128, 256, 77, 0, -5}), .retain = {}};
  for (int entries = dice.below(4); entries > 0; --entries)
    action.retain.push_back(dice.between(-2, nodes + 1));
  return action;
}

TEST(Episode, physical_has_none) {
  EXPECT_THROW(Episode(task("task1_chain"), {.rules = Rules::physical}), Error);
  EXPECT_THROW(Episode(task("task1_chain"), {.max_steps = -1}), Error);
}

TEST(Episode, odd_tiles_become_128_and_foreign_ids_are_dropped) {
  Episode episode(task("task1_chain"));
  episode.step(Action{.fuse_with_prev = true, .tile = 100, .retain = {-1, 0, 8, 0, 1'000'000}});
  EXPECT_EQ(episode.group().tile, 128);
  EXPECT_EQ(episode.group().retain, (std::vector<NodeId>{0, 0}));
}

TEST(Episode, steps_after_the_end_change_nothing) {
  Episode episode(task("task2_residual"));
  while (!episode.done()) episode.step(Action{});
  const double latency = episode.total_latency();
  const std::string text = episode.observation();
  const StepResult more = episode.step(Action{.fuse_with_prev = true, .tile = 32, .retain = {0}});
  EXPECT_TRUE(more.done);
  EXPECT_EQ(more.reward, 0);
  EXPECT_EQ(episode.total_latency(), latency);
  EXPECT_EQ(episode.observation(), text);
  EXPECT_EQ(episode.current_node(), -1);
}

TEST(Episode, honest_drops_what_is_not_there) {
  Episode episode(task("task4_mixed"), {.rules = Rules::seed_honest});
  episode.step(Action{.retain = {0, 20}});
  EXPECT_EQ(episode.group().retain, std::vector<NodeId>{0});
  EXPECT_EQ(episode.dropped().size(), 1u);
  EXPECT_EQ(episode.dropped()[0], 20);
  Episode seed(task("task4_mixed"));
  seed.step(Action{.retain = {0, 20}});
  EXPECT_EQ(seed.group().retain, (std::vector<NodeId>{0, 20}));
  EXPECT_TRUE(seed.dropped().empty());
}

// With nothing phantom in the lists the two rule sets are the same game.
TEST(Episode, honest_is_seed_for_honest_actions) {
  Dice dice(51);
  for (const TaskSpec& spec : tasks()) {
    for (int play = 0; play < 30; ++play) {
      Episode honest(task(spec.name), {.rules = Rules::seed_honest});
      Episode seed(task(spec.name));
      while (!honest.done()) {
        const NodeId node = honest.current_node();
        const Action action{
            .fuse_with_prev = dice.chance(60), .tile = dice.pick({32, 128, 256}), .retain = {node}};
        const StepResult a = honest.step(action);
        const StepResult b = seed.step(action);
        EXPECT_EQ(a.reward, b.reward);
        EXPECT_EQ(honest.observation(), seed.observation());
      }
      EXPECT_EQ(honest.total_latency(), seed.total_latency());
    }
  }
}

TEST(Episode, a_copy_and_a_reset_play_the_same) {
  Dice dice(52);
  Episode episode(task("task5_adversarial"));
  std::vector<Action> actions;
  while (!episode.done()) {
    actions.push_back(random_action(dice, 20));
    Episode copy = episode;
    const StepResult original = episode.step(actions.back());
    EXPECT_EQ(copy.step(actions.back()).reward, original.reward);
    EXPECT_EQ(copy.observation(), episode.observation());
  }
  Episode again = episode;
  again.reset();
  for (const Action& action : actions) again.step(action);
  EXPECT_EQ(again.observation(), episode.observation());
  EXPECT_EQ(again.total_latency(), episode.total_latency());
}

TEST(Episode, a_batch_is_its_episodes) {
  Dice dice(53);
  std::vector<Episode> batch;
  for (const TaskSpec& spec : tasks()) batch.emplace_back(task(spec.name));
  std::vector<Episode> alone = batch;
  for (int step = 0; step < 30; ++step) {
    std::vector<Action> actions;
    for (std::size_t i = 0; i < batch.size(); ++i) actions.push_back(random_action(dice, 8));
    const std::vector<ActionView> views(actions.begin(), actions.end());
    std::vector<StepResult> results(batch.size());
    step_batch(batch, views, results);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const StepResult want = alone[i].step(actions[i]);
      EXPECT_EQ(results[i].reward, want.reward);
      EXPECT_EQ(results[i].done, want.done);
      EXPECT_EQ(batch[i].observation(), alone[i].observation());
    }
  }
}

TEST(Episode, latencies_are_rounded_as_python_does) {
  const std::vector<std::pair<double, std::string>> cases = {{0, "0.0"},
                                                             {0.05, "0.1"},
                                                             {0.15, "0.1"},
                                                             {0.25, "0.2"},
                                                             {0.35, "0.3"},
                                                             {2.675, "2.7"},
                                                             {118360.32, "118360.3"},
                                                             {1e6, "1000000.0"},
                                                             {0.04, "0.0"},
                                                             {123456789.95, "123456790.0"},
                                                             {1e16, "1e+16"},
                                                             {1.5e15, "1500000000000000.0"},
                                                             {1e22, "1e+22"},
                                                             {9007199254740993.0, "9007199254740992.0"}};
  for (const auto& [value, want] : cases) {
    std::string text;
    append_rounded(text, value);
    EXPECT_EQ(text, want) << value;
  }
  // printf rounds correctly too, and within 15 digits repr prints what it rounded to.
  Dice dice(54);
  for (int i = 0; i < 200'000; ++i) {
    const double value = dice.below(1'000'000'000) / 1000.0 * (dice.chance(50) ? 1 : 0.05);
    char want[64];
    std::snprintf(want, sizeof want, "%.1f", value);
    std::string text;
    append_rounded(text, value);
    ASSERT_EQ(text, want) << value;
  }
}

}  // namespace
}  // namespace fuselage::walk
