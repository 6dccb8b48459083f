// What a data set says of a state is what one search for each action says, and what playing on shows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "brute_episode.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/labelled_graph.h"
#include "fuselage/oracle/values.h"
#include "fuselage/walk/answer.h"
#include "fuselage/walk/memory_bound.h"
#include "fuselage/walk/tasks.h"
#include "golden_graph.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using namespace walk;

constexpr std::string_view all_policies =
    "optimal,eps0.5,random,greedy,heuristic,constant128,constant32,alone256";

LabelledGraph label(const Workload& workload, Rules rules, std::string_view mix = all_policies,
                    std::vector<PlayedEpisode> played = {}, int episodes = 6) {
  LabelOptions options{.rules = rules, .episodes = episodes, .seed = 7};
  if (!mix.empty()) options.mix = parse_policy_mix(mix, "mix");
  return label_walk(workload, options, played).value();
}

// The episode in which a state was met, up to the state.
Played played_to(const EpisodeContext& context, Rules rules, const LabelledGraph& graph,
                 const LabelledState& state) {
  Played played{Episode(context, {.rules = rules}), {}};
  const auto& answers = graph.episodes.at(state.episode).answers;
  for (int i = 0; i < state.step; ++i)
    played.step(parse_answer(answers.at(static_cast<std::size_t>(i))).value());
  return played;
}

class LabelWalk : public ::testing::TestWithParam<Rules> {};

TEST_P(LabelWalk, says_of_each_state_what_separate_searches_say) {
  Dice dice(61);
  for (int i = 0; i < 25; ++i) {
    const Workload w = random_workload(dice, {.nodes = 3 + i % 5});
    const EpisodeContext context(w);
    const LabelledGraph graph = label(w, GetParam());
    ASSERT_FALSE(graph.states.empty());
    for (const LabelledState& state : graph.states) {
      const Episode episode = played_to(context, GetParam(), graph, state).episode;
      EXPECT_EQ(state.observation, episode.observation());
      EXPECT_EQ(state.node, episode.current_node());
      EXPECT_EQ(state.spent, episode.total_latency());
      EXPECT_EQ(state.proof, search::Proof::optimal);
      const double value = value_to_go(episode).cycles;
      EXPECT_NEAR(state.value.cycles, value, 1e-9 * value);
      std::map<std::string, double> expected;
      double least = std::numeric_limits<double>::infinity();
      for (const auto& [action, q] : q_values(episode)) {
        expected[answer_text(action)] = q.cycles;
        least = std::min(least, q.cycles);
      }
      // All of them, but for one that is no better than others and that only a search would name.
      EXPECT_GE(state.answers.size() + 1, expected.size()) << "graph " << i;
      for (const LabelledAnswer& answer : state.answers) {
        ASSERT_TRUE(expected.contains(answer.text)) << answer.text;
        const double q = expected[answer.text];
        EXPECT_NEAR(answer.q.cycles, q, 1e-9 * q);
        EXPECT_EQ(answer.optimal, q - least <= 1e-9 * graph.optimum.cycles);
      }
      EXPECT_TRUE(state.answers.at(state.best).optimal);
    }
  }
}

// All continuations of tiny graphs, bad policies' states included; graph_values_test.cpp does 300 of them.
TEST_P(LabelWalk, says_what_brute_force_finds) {
  Dice dice(62);
  for (int i = 0; i < 40; ++i) {
    const Workload w = random_workload(dice, {.nodes = 3});
    const EpisodeContext context(w);
    BruteEpisode brute(context);
    const LabelledGraph graph = label(w, GetParam());
    for (const LabelledState& state : graph.states) {
      const Played at = played_to(context, GetParam(), graph, state);
      EXPECT_NEAR(state.value.cycles, brute.value(at), 1e-9 * graph.naive) << "graph " << i;
      for (const LabelledAnswer& answer : state.answers) {
        Played next = at;
        next.step(parse_answer(answer.text).value());
        const double paid = next.episode.total_latency() - at.episode.total_latency();
        EXPECT_NEAR(answer.q.cycles, paid + brute.value(next), 1e-9 * graph.naive) << "graph " << i;
      }
    }
  }
}

// Also where another episode was in a state that looks the same.
TEST_P(LabelWalk, regrets_add_up_to_what_the_episode_lost) {
  Dice dice(63);
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = 3 + i % 4});
    const EpisodeContext context(w);
    const LabelledGraph graph = label(w, GetParam(), "random,eps0.7", {}, 12);
    for (const LabelledEpisode& episode : graph.episodes) {
      Episode again(context, {.rules = GetParam()});
      for (const std::string& answer : episode.answers) again.step(parse_answer(answer).value());
      EXPECT_TRUE(again.done());
      EXPECT_EQ(episode.score, again.score());
      EXPECT_NEAR(episode.latency, again.total_latency(), 1e-9 * again.total_latency());
      double lost = 0;
      for (double regret : episode.regrets) lost += regret;
      EXPECT_NEAR(graph.optimum.cycles + lost, episode.latency, 1e-8 * episode.latency) << "graph " << i;
    }
  }
}

TEST_P(LabelWalk, optimal_answers_of_the_tasks_lead_to_the_optimum) {
  const std::vector<nlohmann::json> optima = read_lines(small_golden_dir() + "/optima_small.jsonl");
  for (const TaskSpec& task : tasks()) {
    const auto golden = std::find_if(optima.begin(), optima.end(),
                                     [&](const auto& row) { return row.at("name") == task.name; });
    ASSERT_NE(golden, optima.end());
    const double optimum =
        golden->at(GetParam() == Rules::seed ? "seed" : "seed-honest").at("optimum").get<double>();
    const Workload w = make_task(task);
    const EpisodeContext context(w);
    const LabelledGraph graph = label(w, GetParam(), "optimal", {}, 3);
    EXPECT_TRUE(graph.is_fixed_task);
    EXPECT_NEAR(graph.optimum.cycles, optimum, 1e-9 * optimum);
    for (const LabelledEpisode& episode : graph.episodes) {
      EXPECT_NEAR(episode.latency, optimum, 1e-9 * optimum) << task.name;
      for (double regret : episode.regrets) EXPECT_EQ(regret, 0);
    }
    // From every state of the data set, its own best answers (looked up by what is seen) lead there, too.
    Episode episode(context, {.rules = GetParam()});
    while (!episode.done()) {
      const std::string seen = episode.observation();
      const auto state = std::find_if(graph.states.begin(), graph.states.end(),
                                      [&](const LabelledState& s) { return s.observation == seen; });
      ASSERT_NE(state, graph.states.end()) << task.name;
      episode.step(parse_answer(state->answers[state->best].text).value());
    }
    EXPECT_NEAR(episode.total_latency(), optimum, 1e-9 * optimum) << task.name;
  }
}

TEST_P(LabelWalk, policies_do_as_they_are_called) {
  Dice dice(64);
  const Workload w = random_workload(dice, {.nodes = 12});
  const LabelledGraph fusing = label(w, GetParam(), "constant64", {}, 1);
  for (const std::string& answer : fusing.episodes.at(0).answers) EXPECT_EQ(parse_answer(answer)->tile, 64);
  const LabelledGraph alone = label(w, GetParam(), "alone32", {}, 1);
  for (const std::string& answer : alone.episodes.at(0).answers)
    EXPECT_EQ(parse_answer(answer), (Action{.fuse_with_prev = false, .tile = 32, .retain = {}}));
  const LabelledGraph erring = label(w, GetParam(), "eps0.3", {}, 40);
  int wrong = 0, all = 0;
  for (const LabelledEpisode& episode : erring.episodes)
    for (double regret : episode.regrets) {
      ++all;
      wrong += regret > 0;
    }
  EXPECT_GT(wrong, all / 20);
  EXPECT_LT(wrong, all * 2 / 5);
}

TEST_P(LabelWalk, is_the_same_again_and_other_with_another_seed) {
  Dice dice(65);
  const Workload w = random_workload(dice, {.nodes = 10});
  LabelOptions options{.rules = GetParam(), .mix = parse_policy_mix("random", "mix"), .seed = 1};
  const auto answers = [&] { return label_walk(w, options)->episodes.at(0).answers; };
  const auto first = answers();
  EXPECT_EQ(answers(), first);
  options.seed = 2;
  EXPECT_NE(answers(), first);
}

INSTANTIATE_TEST_SUITE_P(seed_rules, LabelWalk, ::testing::Values(Rules::seed, Rules::seed_honest));

// The environment's own texts, as it printed them.
TEST(LabelWalkText, is_the_environments) {
  std::map<int, nlohmann::json> texts;
  for (const auto& row : read_lines(small_golden_dir() + "/observations_small.jsonl"))
    texts[row.at("id").get<int>()] = row.at("observations");
  std::size_t states = 0;
  for (const auto& row : read_lines(small_golden_dir() + "/episodes_small.jsonl")) {
    const auto text = texts.find(row.at("id").get<int>());
    const Workload w = golden_workload(row.at("graph"));
    if (text == texts.end() || row.at("max_steps") < w.graph.size()) continue;
    PlayedEpisode played{.policy = "golden", .answers = {}};
    for (const auto& action : row.at("actions")) played.answers.push_back(action.dump());
    const LabelledGraph graph = label(w, Rules::seed, "", {played});
    ASSERT_EQ(graph.states.size(), static_cast<std::size_t>(w.graph.size()));
    for (std::size_t i = 0; i < graph.states.size(); ++i, ++states)
      EXPECT_EQ(graph.states[i].observation, text->second.at(i).get<std::string>());
  }
  EXPECT_GE(states, 6U);
}

TEST(LabelWalkPlayed, answers_that_cannot_be_read_use_no_step) {
  const Workload w = make_task(tasks()[0]);
  const PlayedEpisode played{
      .policy = "mine",
      .answers = {"[1]", R"({"tile": 64, "retain": [99, -3, 0]})", "{\"tile\": \"x\"}", "fuse: yes tile 32"}};
  const LabelledGraph graph = label(w, Rules::seed_honest, "", {played});
  ASSERT_EQ(graph.states.size(), 2U);
  ASSERT_EQ(graph.episodes.size(), 1U);
  const LabelledEpisode& episode = graph.episodes[0];
  EXPECT_EQ(episode.policy, "mine");
  EXPECT_EQ(episode.answers.size(), 2U);
  EXPECT_FALSE(episode.complete);
  EXPECT_GE(episode.latency, graph.optimum.cycles);
  EXPECT_EQ(graph.states[1].taken.text, R"({"fuse_with_prev": true, "tile": 32, "retain": []})");
}

TEST(LabelWalkPlayed, nothing_that_can_be_read_is_an_episode_without_states) {
  const LabelledGraph graph =
      label(make_task(tasks()[0]), Rules::seed_honest, "", {{.policy = "none", .answers = {"[]", "[]"}}});
  EXPECT_TRUE(graph.states.empty());
  ASSERT_EQ(graph.episodes.size(), 1U);
  EXPECT_TRUE(graph.episodes[0].answers.empty());
  EXPECT_FALSE(graph.episodes[0].complete);
}

// The list that an open kernel retains is not observed, yet it is worth something: the two episodes are in
// states that look the same after their first answers.
TEST(LabelWalkPlayed, states_that_look_the_same_are_told_apart) {
  Workload w{.name = "hidden",
             .graph = Graph({derived_node(Op::matmul, 256, 256, {}), derived_node(Op::relu, 256, 256, {0}),
                             derived_node(Op::add, 256, 256, {0, 1})}),
             .hardware = {.fast_mem_capacity = 4'194'304,
                          .slow_mem_bandwidth = 1,
                          .kernel_launch_cost = 100,
                          .max_fusion_depth = 1}};
  const std::string alone = R"({"fuse_with_prev": false, "tile": 128, "retain": []})";
  const std::string keep = R"({"fuse_with_prev": false, "tile": 128, "retain": [0]})";
  const LabelledGraph graph = label(w, Rules::seed_honest, "",
                                    {{.policy = "keeps", .answers = {keep, alone, alone}},
                                     {.policy = "drops", .answers = {alone, alone, alone}}});
  std::set<std::string> texts;
  for (const LabelledState& state : graph.states) texts.insert(state.observation);
  EXPECT_LT(texts.size(), graph.states.size());
  for (const LabelledEpisode& episode : graph.episodes) {
    double lost = 0;
    for (double regret : episode.regrets) lost += regret;
    EXPECT_NEAR(graph.optimum.cycles + lost, episode.latency, 1e-9 * episode.latency) << episode.policy;
  }
}

TEST(LabelWalkBudget, what_is_not_proven_is_said) {
  PythonRandom random(5);
  const Workload w = generate_memory_bound({}, random);
  LabelOptions options{.mix = parse_policy_mix("optimal,random", "mix"), .budget = {.steps = 5}};
  const LabelledGraph graph = label_walk(w, options).value();
  EXPECT_EQ(graph.proof, search::Proof::none);
  std::size_t unproven = 0;
  for (const LabelledState& state : graph.states) {
    unproven += state.proof == search::Proof::none;
    EXPECT_LE(state.value.lower_bound, state.value.cycles * (1 + 1e-12));
    for (const LabelledAnswer& answer : state.answers)
      EXPECT_LE(answer.q.lower_bound, answer.q.cycles * (1 + 1e-12));
  }
  EXPECT_GT(unproven, 0U);
  EXPECT_EQ(graph.episodes.at(0).proof, search::Proof::none);
}

TEST(LabelWalkBudget, cancelled_it_is_none) {
  const std::atomic<bool> cancel = true;
  LabelOptions options{.mix = parse_policy_mix("optimal", "mix")};
  options.budget.cancel = &cancel;
  EXPECT_FALSE(label_walk(make_task(tasks()[0]), options).has_value());
}

}  // namespace
}  // namespace fuselage::oracle
