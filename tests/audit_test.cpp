// The games that ship: what is known of them, the audit finds by itself.
#include "fuselage/oracle/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/oracle/audit_games.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle::audit {
namespace {

constexpr Options options = {.seed = 0, .steps = 60'000, .entries = 100};

std::unique_ptr<Game> walk_game(const char* task, walk::Rules rules = walk::Rules::seed) {
  return make_walk_game(walk::make_task(*walk::find_task(task)), rules);
}
std::unique_ptr<Game> grid_game(const char* name, grid::RuleSet rules = grid::RuleSet::fusionops) {
  const grid::FusionopsTask& task = *grid::find_fusionops_task(name);
  return make_grid_game({.name = name, .instance = task.instance, .max_steps = task.max_steps}, rules);
}

const Finding* find(const Report& report, const std::string& law, const std::string& judge = {},
                    const std::string& code = {}) {
  for (const Finding& finding : report.findings)
    if (finding.law == law && finding.judge == judge && (code.empty() || finding.code == code))
      return &finding;
  return nullptr;
}

void expect_replays(const Game& game, const Report& report) {
  for (const Finding& finding : report.findings) {
    const Play& example = finding.example;
    const Play again = play(game, example.moves, example.max_steps);
    EXPECT_EQ(again.moves, example.moves) << finding.law;
    EXPECT_EQ(again.end.latency, example.end.latency) << finding.law;
    EXPECT_EQ(again.end.score, example.end.score) << finding.law;
    EXPECT_EQ(again.return_sum, example.return_sum) << finding.law;
    EXPECT_GT(finding.gain, 0) << finding.law;
  }
}

TEST(Audit, task5_pays_most_for_its_worst_schedules) {
  const auto game = walk_game("task5_adversarial");
  const Report report = audit(*game, options);
  expect_replays(*game, report);
  const Finding* bounded = find(report, "bounded");
  ASSERT_NE(bounded, nullptr);
  EXPECT_NEAR(bounded->gain, 0.99, 1e-9);  // 0.01 for each of 99 more entries
  EXPECT_THAT(bounded->what, testing::HasSubstr("pays 0.01"));
  const Finding* worst = find(report, "worst");
  ASSERT_NE(worst, nullptr);
  EXPECT_EQ(worst->example.end.score, -1);
  EXPECT_TRUE(worst->example.end.complete);
  EXPECT_GT(worst->example.return_sum, 15);
  const Finding* order = find(report, "order");
  ASSERT_NE(order, nullptr);
  EXPECT_LT(order->example.end.score, report.fastest.end.score);
  const Finding* cut = find(report, "early end");
  ASSERT_NE(cut, nullptr);
  EXPECT_EQ(cut->example.end.score, 1);
  EXPECT_LT(cut->example.end.work, game->ops());
}

// An action without anything but 200 entries, and one more: what an entry pays does not fade.
TEST(Audit, repeated_entries_pay_without_limit) {
  const auto game = walk_game("task1_chain");
  const Report report = audit(*game, {.seed = 0, .steps = 2'000, .entries = 400});
  const Finding* bounded = find(report, "bounded");
  ASSERT_NE(bounded, nullptr);
  EXPECT_NEAR(bounded->gain, 3.99, 1e-9);
  int asking = 0;
  for (const Move& move : bounded->example.moves) asking += move == game->plain() ? 0 : 1;
  EXPECT_EQ(asking, 1);
}

TEST(Audit, seed_retains_what_is_not_there) {
  const auto game = walk_game("task4_mixed");
  const Report report = audit(*game, options);
  expect_replays(*game, report);
  const Finding* reachable = find(report, "reachable", "seed-honest", "RETAIN");
  ASSERT_NE(reachable, nullptr);
  EXPECT_NEAR(reachable->gain, 2184.53, 0.01);
  EXPECT_NEAR(reachable->example.end.latency, 3283789.12, 0.01);
  EXPECT_NEAR(reachable->reference, 3285973.65, 0.01);
  EXPECT_NE(find(report, "accepted", "physical", "RETAIN"), nullptr);
}

TEST(Audit, the_accounting_of_seed_honest_has_no_better_schedule_than_its_own) {
  const auto game = walk_game("task4_mixed", walk::Rules::seed_honest);
  const Report report = audit(*game, {.seed = 0, .steps = 30'000, .entries = 100});
  EXPECT_EQ(find(report, "reachable", "seed-honest"), nullptr);
  EXPECT_EQ(find(report, "price", "seed-honest"), nullptr);
  EXPECT_EQ(find(report, "accepted", "seed-honest"), nullptr);
  EXPECT_NE(find(report, "bounded"), nullptr);  // it keeps the rewards, though
}

TEST(Audit, fusionops_stores_no_outputs_and_loads_what_nobody_stored) {
  const auto game = grid_game("task3_matmul");
  const Report report = audit(*game, options);
  expect_replays(*game, report);
  const Finding* output = find(report, "reachable", "fusionops-honest", "OUTPUT_NOT_STORED");
  ASSERT_NE(output, nullptr);
  EXPECT_NEAR(output->example.end.latency, 7776.8, 1e-6);
  EXPECT_NEAR(output->gain, 776.8, 1e-6);
  const Finding* lost = find(report, "accepted", "fusionops-honest", "NOT_AVAILABLE");
  ASSERT_NE(lost, nullptr);
  EXPECT_GT(lost->example.end.score, 0);
  EXPECT_THAT(lost->what, testing::HasSubstr("neither stored nor retained"));
  EXPECT_EQ(find(report, "price", "native tiles"), nullptr);  // tensors are one native tile
}

TEST(Audit, fusionops_pays_for_running_the_same_again) {
  const auto game = grid_game("task1_linear");
  const Report report = audit(*game, options);
  const Finding* idle = find(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_NEAR(idle->gain, 0.1132, 5e-5);  // five of six ops once more: 0.02 + 4 x 0.05 - 0.1068
  const Finding* end = find(report, "early end");
  ASSERT_NE(end, nullptr);
  EXPECT_FALSE(end->example.end.complete);
}

// Two ops on tensors of 16 native tiles.
grid::Instance large() {
  return {std::vector<grid::Tensor>(3, {.width = 256, .height = 256}),
          {{.inputs = {0}, .outputs = {1}, .base_cost = 4000},
           {.inputs = {1}, .outputs = {2}, .base_cost = 4000}},
          {.capacity = 200'000, .bandwidth = 100, .native_width = 64, .native_height = 64}};
}

TEST(Audit, fusionops_takes_a_tile_of_any_size_for_a_native_one) {
  const auto game = make_grid_game({.name = "large", .instance = large()}, grid::RuleSet::fusionops_honest);
  const Report report = audit(*game, options);
  expect_replays(*game, report);
  const Finding* price = find(report, "price", "native tiles");
  ASSERT_NE(price, nullptr);
  // Both ops in one kernel of one tile, which takes 16 times as long on native ones.
  EXPECT_EQ(price->example.end.latency, 8000);
  EXPECT_EQ(price->reference, 128'000);
}

TEST(Audit, is_the_same_for_the_same_seed) {
  const auto game = walk_game("task1_chain");
  const Options few = {.seed = 7, .steps = 10'000, .entries = 30};
  const Report a = audit(*game, few), b = audit(*game, few);
  ASSERT_EQ(a.findings.size(), b.findings.size());
  EXPECT_EQ(a.steps, b.steps);
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    EXPECT_EQ(a.findings[i].example.moves, b.findings[i].example.moves);
    EXPECT_EQ(a.findings[i].what, b.findings[i].what);
  }
}

TEST(Audit, refuses_rules_without_episodes) {
  EXPECT_THAT(error_of([] { walk_game("task1_chain", walk::Rules::physical); }),
              testing::HasSubstr("physical has no episodes"));
  EXPECT_THAT(error_of([] { grid_game("task1_linear", grid::RuleSet::mlsys); }),
              testing::HasSubstr("mlsys has no episodes"));
}

}  // namespace
}  // namespace fuselage::oracle::audit
