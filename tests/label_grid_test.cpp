// Labels of the grid family: the tasks' figures through the judge, values against trying everything,
// agreement of all figures of a problem with each other, and what is observed.
#include "fuselage/oracle/label_grid.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "brute_fusionops_search.h"
#include "brute_grid.h"
#include "error_of.h"
#include "fuselage/core/error.h"
#include "fuselage/grid/episode.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/problem.h"
#include "fuselage/oracle/data_rows.h"
#include "fuselage/oracle/grid_decisions.h"
#include "fuselage/oracle/grid_solve.h"
#include "grid_fusionops_random.h"
#include "grid_problems.h"

namespace fuselage::oracle {
namespace {

using grid::Instance;
using grid::RuleSet;
using ::testing::HasSubstr;

constexpr double tolerance = 1e-9;

LabelledGraph labelled(const Instance& instance, RuleSet set, const std::string& mix, int episodes = 3,
                       std::uint64_t steps = 3'000) {
  const GridLabelOptions options = {
      .mix = parse_grid_policy_mix(mix, "mix"), .episodes = episodes, .seed = 5, .steps = steps};
  return label_grid("problem", instance, {.set = set}, options).value();
}

grid::Plan plan_of(const Instance& instance, const std::vector<std::string>& answers) {
  grid::Plan plan;
  for (const std::string& answer : answers)
    plan.kernels.push_back(grid::parse_step(answer, instance.machine()).value());
  return plan;
}

// The state in which an episode read so many answers.
const LabelledState* find_state(const LabelledGraph& graph, std::size_t episode, int step) {
  for (const LabelledState& state : graph.states)
    if (state.episode == episode && state.step == step) return &state;
  return nullptr;
}

struct Figure {
  std::string_view task;
  double honest = 0;
  double loose = 0;
};
constexpr std::array<Figure, 4> best_known = {
    Figure{"task1_linear", 3900, 3900}, Figure{"task2_diamond", 6600, 6600},
    Figure{"task3_matmul", 8553.6, 7776.8}, Figure{"task4_multistage", 9534.4, 9296}};

TEST(LabelGrid, best_answers_of_the_tasks_lead_to_the_best_figures_known) {
  for (const Figure& figure : best_known)
    for (const RuleSet set : {RuleSet::fusionops, RuleSet::fusionops_honest}) {
      const std::string text = fmt::format("{} {}", figure.task, name(set));
      const grid::FusionopsTask& task = *grid::find_fusionops_task(figure.task);
      const LabelledGraph graph = labelled(task.instance, set, "optimal", 1);
      const double expected = set == RuleSet::fusionops ? figure.loose : figure.honest;
      EXPECT_TRUE(graph.is_fixed_task);
      EXPECT_NE(graph.proof, search::Proof::none) << text;
      EXPECT_NEAR(graph.optimum.cycles, expected, tolerance * expected) << text;
      // By the answers that a data set shows, not by those that were played.
      std::vector<std::string> answers;
      grid::Episode episode(task.instance, {.rules = set, .max_steps = task.max_steps});
      while (!episode.done()) {
        const LabelledState* state = find_state(graph, 0, static_cast<int>(answers.size()));
        ASSERT_NE(state, nullptr) << text;
        EXPECT_EQ(state->observation, episode.observation(false)) << text;
        EXPECT_NEAR(state->spent + state->answers[state->best].q.cycles, expected, tolerance * expected);
        answers.push_back(state->answers[state->best].text);
        episode.step(answers.back());
      }
      EXPECT_TRUE(episode.complete()) << text;
      EXPECT_NEAR(episode.total_latency(), expected, tolerance * expected) << text;
      EXPECT_DOUBLE_EQ(graph.optimum_score, episode.score()) << text;
      const grid::Evaluation judged =
          grid::evaluate(task.instance, {.set = set}, plan_of(task.instance, answers));
      ASSERT_TRUE(judged.valid()) << text;
      EXPECT_NEAR(judged.latency, expected, tolerance * expected) << text;
    }
}

TEST(LabelGrid, finds_what_search_finds) {
  const GridSample sample = draw_grid({.min_ops = 14, .max_ops = 14, .honest = true}, 3);
  const LabelledGraph graph = labelled(sample.instance, sample.rules.set, "optimal", 1, 1'000);
  const GridSolution solution =
      solve_grid(sample.instance, {.rules = sample.rules, .budget = {.steps = first_share * 1'000}});
  EXPECT_LE(graph.optimum.cycles, solution.latency * (1 + tolerance));
}

// Every answer that was read is legal, observations are the environment's, and figures add up.
void expect_consistent(const LabelledGraph& graph, const Instance& instance, RuleSet set,
                       const std::string& text) {
  const double near = tolerance * graph.optimum.cycles;
  for (std::size_t i = 0; i < graph.episodes.size(); ++i) {
    const LabelledEpisode& played = graph.episodes[i];
    double sum = graph.optimum.cycles;
    for (double regret : played.regrets) {
      EXPECT_GE(regret, 0) << text;
      sum += regret;
    }
    EXPECT_NEAR(sum, played.latency, near) << text << ' ' << played.policy;
    const grid::Evaluation judged = grid::evaluate(instance, {.set = set}, plan_of(instance, played.answers));
    if (played.complete) {
      ASSERT_TRUE(judged.valid()) << text << ' ' << judged.violation->message;
      EXPECT_NEAR(judged.latency, played.latency, near) << text;
    }
    if (set == RuleSet::mlsys) continue;
    grid::Episode episode(instance, {.rules = set, .max_steps = grid_max_steps(instance, {.set = set})});
    for (std::size_t step = 0; step < played.answers.size(); ++step) {
      if (const LabelledState* state = find_state(graph, i, static_cast<int>(step))) {
        EXPECT_EQ(state->observation, episode.observation(false)) << text;
        EXPECT_NEAR(state->spent, episode.total_latency(), near) << text;
      }
      EXPECT_FALSE(episode.step(played.answers[step]).error) << text << ' ' << played.answers[step];
    }
    EXPECT_EQ(episode.complete(), played.complete) << text;
  }
  for (const LabelledState& state : graph.states) {
    ASSERT_FALSE(state.answers.empty()) << text;
    EXPECT_TRUE(state.answers[state.best].optimal) << text;
    EXPECT_NEAR(state.answers[state.best].q.cycles, state.value.cycles, near) << text;
    EXPECT_LE(state.value.lower_bound, state.value.cycles) << text;
    for (const LabelledAnswer& answer : state.answers) {
      EXPECT_GE(answer.q.cycles, state.value.cycles - near) << text;
      EXPECT_EQ(answer.optimal, answer.q.cycles <= state.value.cycles + near) << text;
      EXPECT_LE(answer.q.lower_bound, answer.q.cycles) << text;
    }
    EXPECT_FALSE(state.taken.text.empty()) << text;
  }
}

TEST(LabelGrid, all_figures_of_a_problem_agree) {
  for (const RuleSet set : {RuleSet::fusionops, RuleSet::fusionops_honest, RuleSet::mlsys})
    for (const std::uint64_t seed : {1U, 2U}) {
      const GridSample sample =
          draw_grid({.min_ops = 10, .max_ops = 13, .honest = set != RuleSet::mlsys}, seed);
      const LabelledGraph graph =
          labelled(sample.instance, set, "optimal,eps0.5,random,greedy,naive", 6, 300);
      EXPECT_EQ(graph.episodes.size(), 6U);
      expect_consistent(graph, sample.instance, set, fmt::format("{} {}", sample.name, name(set)));
    }
}

TEST(LabelGrid, the_tasks_figures_agree_too) {
  for (const grid::FusionopsTask& task : grid::fusionops_tasks())
    for (const RuleSet set : {RuleSet::fusionops, RuleSet::fusionops_honest})
      expect_consistent(labelled(task.instance, set, "random,eps0.5", 4, 300), task.instance, set,
                        std::string(task.name));
}

// Small enough that every granularity is declared.
Instance tiny(std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  return grid::random_outputs(
      random, grid::random_instance(random, {.ops = 2 + static_cast<int>(below(3)),
                                             .capacity = 6 + static_cast<std::int64_t>(below(30)),
                                             .bandwidth = 0.01 * static_cast<double>(1 + below(15)),
                                             .sizes = {1, 2, 3}}));
}

// Every answer's value against what it costs and the cheapest way to go on that there is. Returns how many of
// the values are proven, in the declared space at least, which holds all that counts in problems as small.
int expect_as_brute_force(const LabelledGraph& graph, const Instance& instance, RuleSet set,
                          const std::string& text) {
  grid::BruteFusionopsSearch brute(instance, set == RuleSet::fusionops_honest);
  const double near = tolerance * graph.optimum.cycles;
  const double optimum = brute.optimum();
  EXPECT_GE(graph.optimum.cycles, optimum - near) << text;
  EXPECT_LE(graph.optimum.lower_bound, optimum + near) << text;
  if (graph.proof != search::Proof::none) {
    EXPECT_NEAR(graph.optimum.cycles, optimum, near) << text;
  }
  int proven = 0;
  for (const LabelledState& state : graph.states) {
    const std::vector<std::string>& played = graph.episodes[state.episode].answers;
    const std::vector<grid::Kernel> steps =
        plan_of(instance, {played.begin(), played.begin() + state.step}).kernels;
    const double left = brute.optimum(steps);
    EXPECT_GE(state.value.cycles, left - near) << text;
    EXPECT_LE(state.value.lower_bound, left + near) << text;
    for (const LabelledAnswer& answer : state.answers) {
      grid::Episode episode(instance, {.rules = set, .max_steps = 1'000});
      for (const grid::Kernel& step : steps) episode.step(step);
      const double before = episode.total_latency();
      episode.step(answer.text);
      std::vector<grid::Kernel> after = steps;
      after.push_back(plan_of(instance, {answer.text}).kernels.front());
      const double least = episode.total_latency() - before + brute.optimum(after);
      EXPECT_GE(answer.q.cycles, least - near) << text << ' ' << answer.text;
      EXPECT_LE(answer.q.lower_bound, least + near) << text << ' ' << answer.text;
      if (state.proof == search::Proof::none && !answer.q.proven) continue;
      ++proven;
      EXPECT_NEAR(answer.q.cycles, least, near) << text << ' ' << answer.text;
    }
  }
  return proven;
}

TEST(LabelGrid, values_are_what_trying_everything_finds) {
  int problems = 0;
  int proven = 0;
  for (unsigned seed = 0; problems < 24; ++seed) {
    std::mt19937 random(seed);
    const Instance instance = tiny(random);
    for (const RuleSet set : {RuleSet::fusionops, RuleSet::fusionops_honest}) {
      const std::string text = fmt::format("seed {} {}", seed, name(set));
      try {
        const LabelledGraph graph = labelled(instance, set, "optimal,random", 2);
        proven += expect_as_brute_force(graph, instance, set, text);
        expect_consistent(graph, instance, set, text);
        ++problems;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("at no granularity"));
      }
    }
  }
  EXPECT_GT(proven, 100);
}

TEST(LabelGrid, no_mlsys_value_is_below_what_trying_everything_finds) {
  int problems = 0;
  for (unsigned seed = 0; problems < 15; ++seed) {
    std::mt19937 random(seed);
    const Instance instance = grid::random_instance(random, {.ops = 2 + static_cast<int>(seed % 3),
                                                             .capacity = 200,
                                                             .bandwidth = 2,
                                                             .sizes = {2, 4, 6, 9},
                                                             .native = 4,
                                                             .base_cost = 30});
    const double brute = grid::BruteGrid(instance, {}).optimum();
    if (!std::isfinite(brute)) continue;
    ++problems;
    const std::string text = fmt::format("seed {}", seed);
    const LabelledGraph graph = labelled(instance, RuleSet::mlsys, "optimal,random", 2);
    expect_consistent(graph, instance, RuleSet::mlsys, text);
    for (const LabelledState& state : graph.states)
      for (const LabelledAnswer& answer : state.answers)
        EXPECT_GE(state.spent + answer.q.cycles, brute * (1 - tolerance)) << text;
    EXPECT_LE(graph.optimum.lower_bound, brute * (1 + tolerance)) << text;
  }
}

// Two ops apart: what the first makes is retained to save its store, and dropped since it is in the way.
TEST(LabelGrid, a_kernel_that_pays_only_after_a_step_without_ops_takes_two_answers) {
  const Instance instance(grid::squares(4, 128),
                          {grid::pointwise({0}, 1, 1000), grid::pointwise({2}, 3, 1000)},
                          grid::machine_of(2 * 128 * 128));
  const LabelledGraph graph = labelled(instance, RuleSet::fusionops, "optimal", 1);
  EXPECT_DOUBLE_EQ(graph.optimum.cycles, 2 * 1638.4);
  ASSERT_EQ(graph.episodes[0].answers.size(), 3U);
  EXPECT_EQ(graph.episodes[0].answers[1], "SCHEDULE ops=[] config=[128,128,1] retain=[]");
  EXPECT_DOUBLE_EQ(graph.episodes[0].latency, 2 * 1638.4);
  const LabelledState& before = *find_state(graph, 0, 1);
  const LabelledState& between = *find_state(graph, 0, 2);
  EXPECT_EQ(before.answers[before.best].text, graph.episodes[0].answers[1]);
  EXPECT_EQ(before.answers[before.best].q.cycles, between.value.cycles);
  EXPECT_EQ(between.spent, before.spent);
  expect_consistent(graph, instance, RuleSet::fusionops, "two apart");
}

TEST(LabelGrid, the_same_options_give_the_same_rows) {
  const GridSample sample = draw_grid({.min_ops = 12, .max_ops = 12}, 4);
  std::array<std::string, 2> rows;
  for (std::string& text : rows)
    append_rows(RowFormat::raw, labelled(sample.instance, RuleSet::mlsys, "eps0.3,random", 3, 300), 0,
                {.rules = "mlsys"}, text);
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_THAT(
      rows[0],
      HasSubstr(R"(\"step\": 0, \"ops_done\": [], \"stored\": [], \"resident\": [], \"latency\": 0.0)"));
}

TEST(LabelGrid, the_observation_of_mlsys_says_what_ran_and_where_tensors_are) {
  const Instance instance(grid::squares(3, 128),
                          {grid::pointwise({0}, 1, 1000), grid::pointwise({1}, 2, 1000)},
                          grid::machine_of(3 * 128 * 128));
  const LabelledGraph graph = labelled(instance, RuleSet::mlsys, "naive", 1);
  ASSERT_EQ(graph.states.size(), 2U);
  EXPECT_THAT(graph.states[1].observation,
              HasSubstr(R"({"step": 1, "ops_done": [0], "stored": [1], "resident": [], "latency": 3276.8, )"
                        R"("problem": {"widths":[128,128,128],)"));
  EXPECT_DOUBLE_EQ(graph.naive, 2 * 3276.8);
  EXPECT_DOUBLE_EQ(graph.optimum_score, (graph.naive - graph.optimum.cycles) / graph.naive);
}

TEST(LabelGrid, a_task_is_known_whatever_its_machine) {
  const grid::FusionopsTask& task = grid::fusionops_tasks()[1];
  grid::Machine machine = task.instance.machine();
  machine.capacity *= 2;
  const Instance other({task.instance.tensors().begin(), task.instance.tensors().end()},
                       {task.instance.ops().begin(), task.instance.ops().end()}, machine);
  EXPECT_TRUE(is_grid_task(other));
  EXPECT_EQ(grid_max_steps(task.instance, {.set = RuleSet::fusionops}), task.max_steps);
  EXPECT_EQ(grid_max_steps(other, {.set = RuleSet::fusionops}), 20);
  EXPECT_FALSE(is_grid_task(draw_grid({}, 1).instance));
}

TEST(LabelGrid, ends_when_it_is_cancelled) {
  const std::atomic<bool> cancel = true;
  const GridSample sample = draw_grid({.min_ops = 30, .max_ops = 30}, 4);
  EXPECT_FALSE(label_grid("problem", sample.instance, sample.rules,
                          {.mix = parse_grid_policy_mix("optimal", "mix"), .cancel = &cancel}));
}

TEST(LabelGrid, an_op_that_does_not_fit_and_policies_of_the_other_family_are_refused) {
  const Instance instance(grid::squares(2, 128), {grid::pointwise({0}, 1, 1000)}, grid::machine_of(1));
  EXPECT_THAT(error_of([&] { labelled(instance, RuleSet::mlsys, "optimal"); }),
              HasSubstr("at no granularity"));
  EXPECT_THAT(error_of([] { parse_grid_policy_mix("optimal,heuristic", "--policy"); }),
              HasSubstr("--policy: \"heuristic\" is no policy; expected of grid problems: optimal, epsP"));
}

}  // namespace
}  // namespace fuselage::oracle
