// Regrets of an episode add up to what it lost, and an optimal one has none.

#include "fuselage/oracle/regret.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "fuselage/oracle/solve.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using namespace walk;

std::string text_of(const Action& action) {
  return fmt::format(R"({{"fuse_with_prev": {}, "tile": {}, "retain": [{}]}})", action.fuse_with_prev,
                     action.tile, fmt::join(action.retain, ", "));
}

TEST(Regret, of_an_optimal_transcript_is_zero) {
  for (const TaskSpec& task : tasks()) {
    const Workload w = make_task(task);
    const EpisodeContext context(w);
    const Solution best = solve(w, {.rules = Rules::seed_honest});
    std::vector<std::string> answers;
    for (const Action& action : actions_of(best.plan)) answers.push_back(text_of(action));
    GraphValues values(context, Rules::seed_honest);
    const EpisodeRegret regret = regret_of(values, context, Rules::seed_honest, answers);
    EXPECT_EQ(regret.regret.total(), 0) << task.name;
    EXPECT_TRUE(regret.complete);
    EXPECT_TRUE(regret.proven);
    EXPECT_NEAR(regret.latency, best.latency, 1e-9 * best.latency);
    EXPECT_NEAR(regret.steps.back().gap, 0, 1e-9);
  }
}

class RegretSums : public ::testing::TestWithParam<Rules> {};

TEST_P(RegretSums, add_up_to_what_was_lost) {
  Dice dice(61);
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = 3 + i % 8});
    const EpisodeContext context(w);
    GraphValues values(context, GetParam());
    std::vector<std::string> answers;
    for (int at = 0; at < w.graph.size(); ++at) {
      Action action{.fuse_with_prev = dice.chance(60), .tile = dice.pick({32, 64, 100, 256}), .retain = {}};
      for (int k = dice.below(4); k > 0; --k) action.retain.push_back(dice.below(w.graph.size()));
      answers.push_back(text_of(action));
      if (dice.chance(10)) answers.push_back("[1, 2");   // text in which nothing matches: the default action
      if (dice.chance(10)) answers.push_back("[1, 2]");  // can't be read
    }
    const EpisodeRegret regret = regret_of(values, context, GetParam(), answers);
    ASSERT_TRUE(regret.complete);
    EXPECT_NEAR(regret.regret.total(), regret.latency - regret.optimum, 1e-9 * regret.latency)
        << "graph " << i;
    const double optimum = solve(w, {.rules = GetParam()}).latency;
    EXPECT_NEAR(regret.optimum, optimum, 1e-9 * optimum);
    double sum = 0;
    for (const StepRegret& step : regret.steps) {
      EXPECT_GE(step.regret.fuse, 0);
      EXPECT_GE(step.regret.tile, 0);
      EXPECT_GE(step.regret.retain, 0);
      sum += step.regret.total();
      if (regret.optimum > 0) {
        EXPECT_NEAR(step.gap, sum / regret.optimum, 1e-8 * (1 + step.gap));
      }
      if (step.regret.total() == 0) {
        EXPECT_EQ(step.best.fuse_with_prev, step.taken.fuse_with_prev);
      }
    }
    EXPECT_EQ(regret.steps.size(), static_cast<std::size_t>(w.graph.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(seed_rules, RegretSums, ::testing::Values(Rules::seed, Rules::seed_honest));

TEST(Regret, says_which_decision_it_is_owed_to) {
  // A chain of three ops that is cheapest as one kernel: launches are dear, and nothing else is.
  const EpisodeContext context(make_task(*find_task("task1_chain")));
  GraphValues values(context, Rules::seed_honest);
  const auto n = static_cast<std::size_t>(context.graph().size());
  const std::vector<std::string> alone(n, R"({"fuse_with_prev": false, "tile": 128, "retain": []})");
  const EpisodeRegret regret = regret_of(values, context, Rules::seed_honest, alone);
  EXPECT_GT(regret.regret.fuse, 0);
  EXPECT_GT(regret.regret.fuse, regret.regret.tile);
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
