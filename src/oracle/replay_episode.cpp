#include <array>
#include <limits>

#include "fuselage/core/error.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/walk/episode.h"
#include "replay_kinds.h"

namespace fuselage::oracle {
namespace {

constexpr std::array<std::string_view, 11> episode_fields = {
    "id",      "graph", "max_steps",     "topo_order",  "greedy_latency", "naive_latency",
    "actions", "steps", "final_latency", "final_score", "observations"};
constexpr std::array<std::string_view, 10> step_fields = {
    "reward",  "total_latency", "fast_mem", "fast_mem_used", "kernel_launches",
    "reloads", "current_group", "done",     "error",         "score"};
constexpr std::array<std::string_view, 2> observations_fields = {"id", "observations"};

// What an episode is played with.
struct Game {
  explicit Game(const JsonField& row)
      : context(read_graph(row.required("graph"), "episode")),
        max_steps(static_cast<int>(row.required("max_steps").integer(1, std::numeric_limits<int>::max()))),
        actions(read_recorded_actions(row.required("actions"))) {}

  walk::EpisodeContext context;
  int max_steps;
  std::vector<walk::Action> actions;
};

void expect_size(const JsonField& list, std::size_t size, std::string_view reason) {
  if (const std::size_t count = list.array_size(); count != size)
    list.refuse(fmt::format("its length is {}; expected {}, {}", count, size, reason));
}

void check_step(const JsonField& step, const walk::Episode& episode, const walk::StepResult& result,
                RowCheck& check) {
  step.only(step_fields);
  const walk::StepError& error = episode.error();
  const bool failed = error.kind != walk::StepError::Kind::none;
  const std::string message = failed ? to_string(error, episode.context().hardware()) : "";
  check.number(step.required("reward"), result.reward);
  check.number(step.required("total_latency"), episode.total_latency());
  check.ids(step.required("fast_mem"), episode.fast_mem());
  check.integer(step.required("fast_mem_used"), episode.fast_mem_used());
  check.integer(step.required("kernel_launches"), episode.kernel_launches());
  check.integer(step.required("reloads"), episode.reloads());
  check.ids(step.required("current_group"), episode.group_nodes());
  check.flag(step.required("done"), result.done);
  check.text_or_null(step.required("error"),
                     failed ? std::optional<std::string_view>(message) : std::nullopt);
  check.number_or_null(step.required("score"), result.done ? std::optional(episode.score()) : std::nullopt);
}

}  // namespace

void replay_episode(const JsonField& row, RowCheck& check) {
  row.only(episode_fields);
  const Game game(row);
  const JsonField steps = row.required("steps");
  expect_size(steps, game.actions.size(), "one for each action");
  const auto observations = row.optional("observations");
  if (observations)
    expect_size(*observations, game.actions.size() + 1, "one before each action and one at the end");

  check.ids(row.required("topo_order"), game.context.graph().order());
  check.number(row.required("greedy_latency"), game.context.greedy_latency());
  check.number(row.required("naive_latency"), game.context.naive_latency());
  walk::Episode episode(game.context, {.rules = walk::Rules::seed, .max_steps = game.max_steps});
  if (observations) check.text(observations->element(0), episode.observation());
  for (std::size_t i = 0; i < game.actions.size(); ++i) {
    const walk::StepResult result = episode.step(game.actions[i]);
    check_step(steps.element(i), episode, result, check);
    if (observations) check.text(observations->element(i + 1), episode.observation());
  }
  check.number(row.required("final_latency"), episode.total_latency());
  check.number(row.required("final_score"), episode.score());
}

void replay_observations(const JsonField& row, const JsonField& episode_row, RowCheck& check) {
  row.only(observations_fields);
  const Game game(episode_row);
  const JsonField observations = row.required("observations");
  expect_size(
      observations, game.actions.size() + 1,
      fmt::format("one before each action of the episode at {} and one at the end", episode_row.source()));
  walk::Episode episode(game.context, {.rules = walk::Rules::seed, .max_steps = game.max_steps});
  check.text(observations.element(0), episode.observation());
  for (std::size_t i = 0; i < game.actions.size(); ++i) {
    episode.step(game.actions[i]);
    check.text(observations.element(i + 1), episode.observation());
  }
}

}  // namespace fuselage::oracle
