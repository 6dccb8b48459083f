// Regrets of an episode add up to what it lost, and an optimal one has none.

#include "fuselage/oracle/regret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>

#include "fuselage/oracle/solve.h"
#include "fuselage/walk/answer.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using namespace walk;

std::vector<std::string> texts_of(std::span<const Action> actions) {
  std::vector<std::string> texts;
  for (const Action& action : actions) texts.push_back(answer_text(action));
  return texts;
}

EpisodeRegret regret_on(const Workload& workload, Rules rules, std::span<const std::string> answers) {
  const EpisodeContext context(workload);
  GraphValues values(context, rules);
  return regret_of(values, context, rules, answers);
}

class RegretUnder : public ::testing::TestWithParam<Rules> {};
INSTANTIATE_TEST_SUITE_P(both, RegretUnder, ::testing::Values(Rules::seed, Rules::seed_honest));

TEST_P(RegretUnder, an_optimal_transcript_is_zero) {
  for (const TaskSpec& task : tasks()) {
    const Workload w = make_task(task);
    const Solution best = solve(w, {.rules = GetParam()});
    const EpisodeRegret regret = regret_on(w, GetParam(), texts_of(actions_of(best.plan)));
    EXPECT_EQ(regret.regret.total(), 0) << task.name;
    EXPECT_TRUE(regret.complete);
    EXPECT_TRUE(regret.proven);
    EXPECT_NEAR(regret.latency, best.latency, 1e-9 * best.latency);
    EXPECT_NEAR(regret.steps.back().gap, 0, 1e-9);
  }
}

// What a model may say: good actions, duplicates, ids of no node, odd tiles, prose, and what can't be read.
std::string hostile_answer(Dice& dice, int nodes) {
  constexpr std::array unread = {
      "[1, 2]", "null", R"({"tile": NaN})", R"({"tile": 1e999})", R"({"retain": ["a"]})", R"({"retain": 7})"};
  constexpr std::array prose = {"",
                                "[1, 2",
                                "fuse: yes, tile = 64",
                                "```\n{\"fuse_with_prev\": 1}\n```",
                                "\xff\xfe retain [0, 0, 1]",
                                R"({"fuse_with_prev": "no", "tile": "32"})"};
  if (dice.chance(10)) return unread[static_cast<std::size_t>(dice.below(unread.size()))];
  if (dice.chance(10)) return prose[static_cast<std::size_t>(dice.below(prose.size()))];
  Action action{
      .fuse_with_prev = dice.chance(60), .tile = dice.pick({32, 64, 128, 256, 100, -1}), .retain = {}};
  for (int k = dice.below(4); k > 0; --k) action.retain.push_back(dice.below(nodes + 1));
  if (!action.retain.empty() && dice.chance(10)) action.retain.push_back(action.retain.front());
  return answer_text(action);
}

void expect_sum(const EpisodeRegret& regret, const std::string& what) {
  EXPECT_NEAR(regret.regret.total(), regret.latency - regret.optimum, 1e-9 * regret.latency) << what;
  double sum = 0, rewards = regret.unread * parse_error_reward;
  for (const StepRegret& step : regret.steps) {
    for (double cause : step.regret.by_cause) EXPECT_GE(cause, 0) << what;
    EXPECT_EQ(step.regret[Cause::retain_missed] > 0 && step.missed.empty() && step.needless.empty(), false)
        << what;
    EXPECT_EQ(step.regret[Cause::retain_needless] > 0, !step.needless.empty()) << what;
    EXPECT_EQ(step.regret.tile() > 0, step.right_tile != step.taken.tile) << what;
    if (step.regret.total() == 0) {
      EXPECT_EQ(step.best, step.taken) << what;
    }
    sum += step.regret.total();
    rewards += step.reward;
    if (regret.optimum > 0) {
      EXPECT_NEAR(step.gap, sum / regret.optimum, 1e-8 * (1 + step.gap)) << what;
    }
  }
  if (std::isfinite(rewards))  // where greedy is free, an improvement is infinite
    EXPECT_NEAR(rewards, regret.episode_return, 1e-9) << what;
  else
    EXPECT_FALSE(std::isfinite(regret.episode_return)) << what;
}

TEST_P(RegretUnder, adds_up_to_what_was_lost) {
  Dice dice(61);
  for (int i = 0; i < 400; ++i) {
    const Workload w = random_workload(dice, {.nodes = 1 + i % 10});
    std::vector<std::string> answers;
    for (int k = dice.below(2 * w.graph.size() + 3); k > 0; --k)
      answers.push_back(hostile_answer(dice, w.graph.size()));
    const EpisodeRegret regret = regret_on(w, GetParam(), answers);
    expect_sum(regret, fmt::format("graph {}", i));
    EXPECT_EQ(static_cast<std::size_t>(regret.played + regret.unread + regret.unused), answers.size());
    EXPECT_EQ(regret.complete, regret.played == w.graph.size());
    const double optimum = solve(w, {.rules = GetParam()}).latency;
    EXPECT_NEAR(regret.optimum, optimum, 1e-9 * optimum);
  }
}

TEST(Regret, says_which_decision_it_is_owed_to) {
  // A chain of three ops that is cheapest as one kernel: launches are dear, and nothing else is.
  const EpisodeContext context(make_task(*find_task("task1_chain")));
  GraphValues values(context, Rules::seed_honest);
  const auto n = static_cast<std::size_t>(context.graph().size());
  const std::vector<std::string> alone(n, R"({"fuse_with_prev": false, "tile": 128, "retain": []})");
  const EpisodeRegret regret = regret_of(values, context, Rules::seed_honest, alone);
  EXPECT_GT(regret.regret.fuse(), 0);
  EXPECT_GT(regret.regret.fuse(), regret.regret.tile());
  EXPECT_EQ(regret.regret[Cause::fusion_broken], regret.regret.fuse());
}

// Two matmuls and a reader of both: the first is read again after the second, and there is room for it.
Workload skip(std::int64_t capacity) {
  std::vector<Node> nodes = {derived_node(Op::matmul, 128, 128, {}), derived_node(Op::matmul, 128, 128, {}),
                             derived_node(Op::relu, 128, 128, {1}), derived_node(Op::add, 128, 128, {0, 2})};
  return {.name = "skip",
          .graph = Graph(std::move(nodes)),
          .hardware = {.fast_mem_capacity = capacity,
                       .slow_mem_bandwidth = 0.25,
                       .kernel_launch_cost = 1000,
                       .max_fusion_depth = 1}};
}

TEST(Regret, names_the_tensor_that_should_have_been_retained) {
  const Workload w = skip(std::int64_t{1} << 30);
  std::vector<Action> actions(4, {.fuse_with_prev = false, .tile = 128, .retain = {}});
  EpisodeRegret regret = regret_on(w, Rules::seed_honest, texts_of(actions));
  EXPECT_GT(regret.regret[Cause::retain_missed], 0);
  EXPECT_EQ(regret.regret[Cause::retain_needless], 0);
  ASSERT_EQ(regret.steps[0].missed.size(), 1U);
  EXPECT_EQ(regret.steps[0].missed[0].tensor, 0);
  EXPECT_NEAR(regret.steps[0].missed[0].cycles, regret.steps[0].regret.retain(), 1);
  EXPECT_EQ(regret.steps[0].best.retain, std::vector<NodeId>{0});
  for (int i = 0; i < 4; ++i) actions[static_cast<std::size_t>(i)].retain = {i};
  EXPECT_EQ(regret_on(w, Rules::seed_honest, texts_of(actions)).regret.total(), 0);
}

TEST(Regret, names_the_tensor_that_was_retained_needlessly) {
  // While node 0 is resident there is no room for both slices of node 2 at the tile that is cheapest for it.
  Workload w = skip(2 * 128 * 128 * 4);
  std::vector<Node> nodes(w.graph.nodes().begin(), w.graph.nodes().end());
  nodes[2] = derived_node(Op::matmul, 128, 128, {1});
  w.graph = Graph(std::move(nodes));
  w.hardware.slow_mem_bandwidth = 1000;
  std::vector<Action> actions(4, {.fuse_with_prev = false, .tile = 128, .retain = {}});
  actions[0].retain = {0};
  actions[2].tile = actions[3].tile = 64;
  const EpisodeRegret regret = regret_on(w, Rules::seed_honest, texts_of(actions));
  EXPECT_GT(regret.regret[Cause::retain_needless], 10'000);
  EXPECT_EQ(regret.regret[Cause::retain_needless], regret.steps[0].regret.total());
  EXPECT_EQ(regret.regret[Cause::retain_missed], 0);
  ASSERT_EQ(regret.steps[0].needless.size(), 1U);
  EXPECT_EQ(regret.steps[0].needless[0].tensor, 0);
  EXPECT_EQ(regret.steps[0].best.retain, std::vector<NodeId>{});
  actions[0].retain.clear();
  actions[2].tile = 128;
  EXPECT_EQ(regret_on(w, Rules::seed_honest, texts_of(actions)).regret.total(), 0);
}

TEST(Regret, tells_fusion_that_was_refused_from_fusion_that_was_not_asked_for) {
  // Two matmuls of 256x256 that fuse at tile 32, but not at 256.
  std::vector<Node> nodes = {derived_node(Op::relu, 256, 256, {}), derived_node(Op::relu, 256, 256, {0})};
  const Workload w{.name = "pair",
                   .graph = Graph(std::move(nodes)),
                   .hardware = {.fast_mem_capacity = 200'000,
                                .slow_mem_bandwidth = 10,
                                .kernel_launch_cost = 5000,
                                .max_fusion_depth = 4}};
  std::vector<Action> actions = {{.fuse_with_prev = false, .tile = 32, .retain = {}},
                                 {.fuse_with_prev = true, .tile = 256, .retain = {}}};
  EpisodeRegret regret = regret_on(w, Rules::seed_honest, texts_of(actions));
  EXPECT_GT(regret.regret[Cause::fusion_refused], 0);
  EXPECT_EQ(regret.regret[Cause::fusion_broken], 0);
  EXPECT_FALSE(regret.steps[1].taken.fuse_with_prev);
  EXPECT_TRUE(regret.steps[1].best.fuse_with_prev);
  actions[1] = {.fuse_with_prev = false, .tile = 32, .retain = {}};
  regret = regret_on(w, Rules::seed_honest, texts_of(actions));
  EXPECT_GT(regret.regret[Cause::fusion_broken], 0);
  EXPECT_EQ(regret.regret[Cause::fusion_refused], 0);
}

TEST(Regret, pays_what_the_environment_pays) {
  // The reward of an answer that can't be read counts, and what is said after the end doesn't.
  const Workload w = make_task(tasks()[0]);
  std::vector<std::string> answers(8, "{}");
  const double plain = regret_on(w, Rules::seed, answers).episode_return;
  answers.insert(answers.begin() + 3, "[]");
  answers.emplace_back("[]");
  const EpisodeRegret regret = regret_on(w, Rules::seed, answers);
  EXPECT_NEAR(regret.episode_return, plain - 0.1, 1e-12);
  EXPECT_EQ(regret.unread, 1);
  EXPECT_EQ(regret.unused, 1);
}

TEST(Regret, of_answers_that_end_early_or_go_on) {
  const EpisodeContext context(make_task(tasks()[0]));
  GraphValues values(context, Rules::seed_honest);
  const auto n = static_cast<std::size_t>(context.graph().size());
  std::vector<std::string> answers(n + 2, "{}");
  EpisodeRegret regret = regret_of(values, context, Rules::seed_honest, answers);
  EXPECT_TRUE(regret.complete);
  EXPECT_EQ(regret.unused, 2);
  answers.resize(1);
  regret = regret_of(values, context, Rules::seed_honest, answers);
  EXPECT_FALSE(regret.complete);
  EXPECT_EQ(regret.steps.size(), 1U);
  EXPECT_NEAR(regret.regret.total(), regret.latency - regret.optimum, 1e-9 * regret.latency);
}

}  // namespace
}  // namespace fuselage::oracle
