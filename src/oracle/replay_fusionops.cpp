#include <array>
#include <limits>

#include "fuselage/core/error.h"
#include "fuselage/grid/episode.h"
#include "fuselage/grid/problem_json.h"
#include "replay_kinds.h"

namespace fuselage::oracle {
namespace {

using grid::Episode;
using grid::StepResult;

constexpr std::array<std::string_view, 8> row_fields = {
    "id", "task", "problem", "max_steps", "allow_recomputation", "naive_latency", "steps", "final"};
constexpr std::array<std::string_view, 16> step_fields = {
    "command", "ops",           "config",       "retain", "traversal",   "valid",
    "latency", "working_set",   "n_tile_steps", "error",  "error_class", "reward",
    "done",    "total_latency", "scheduled",    "fast"};
constexpr std::array<std::string_view, 10> unread_fields = {
    "command", "parsed",  "valid",       "error", "error_class",
    "reward",  "latency", "working_set", "done",  "counts_as_step"};
constexpr std::array<std::string_view, 6> final_fields = {"total_latency", "covered",      "done",
                                                          "score",         "readme_score", "return_sum"};

void check_integers(const JsonField& expected, std::span<const std::int64_t> got, RowCheck& check) {
  const std::size_t count = expected.array_size();
  check.expect(count == got.size(), expected, fmt::format("expected {} integers, got {}", count, got.size()));
  for (std::size_t i = 0; i < count; ++i)
    check.integer(expected.element(i), i < got.size() ? got[i] : std::numeric_limits<std::int64_t>::min());
}

// What the command was read as.
void check_action(const JsonField& step, const grid::Kernel& action, RowCheck& check) {
  check.ids(step.required("ops"), action.ops);
  const auto [w, h, k] = action.granularity;
  check_integers(step.required("config"), std::array{w, h, k}, check);
  check.ids(step.required("retain"), action.retain);
  const JsonField traversal = step.required("traversal");
  check.expect(traversal.is_null() != action.traversal.has_value(), traversal,
               action.traversal ? "expected none, got a list" : "expected a list, got none");
  if (!traversal.is_null())
    check_integers(traversal, action.traversal.value_or(std::vector<std::int64_t>{}), check);
}

// What every step has, whether its command could be read or not.
void check_result(const JsonField& step, const StepResult& result, RowCheck& check) {
  const auto& [reward, done, counted, cost, error] = result;
  check.flag(step.required("valid"), cost.has_value());
  check.text_or_null(step.required("error"),
                     error ? std::optional<std::string_view>(error->message) : std::nullopt);
  check.text_or_null(step.required("error_class"),
                     error ? std::optional(grid::step_error_class_name(grid::step_error_class(error->fault)))
                           : std::nullopt);
  check.number(step.required("reward"), reward);
  check.flag(step.required("done"), done);
  check.number_or_null(step.required("latency"), cost ? std::optional(cost->latency) : std::nullopt);
  check.number_or_null(step.required("working_set"), cost ? std::optional(cost->working_set) : std::nullopt);
}

void check_step(const JsonField& step, Episode& episode, RowCheck& check) {
  const std::string& command = step.required("command").string();
  check.expect(!episode.done(), step, "a step after the end; expected none");
  const auto action = grid::parse_step(command, episode.instance().machine());
  const StepResult result = episode.step(command);
  if (!step.has("ops")) {
    step.only(unread_fields);
    const JsonField parsed = step.required("parsed");
    if (!parsed.is_null()) parsed.refuse("is there, but ops is not; expected null, or ops");
    check.expect(!action, parsed, "expected a parse error, got an action");
    check.flag(step.required("counts_as_step"), result.counted);
    return check_result(step, result, check);
  }
  step.only(step_fields);
  check.expect(action.has_value(), step.required("command"), "expected an action, got a parse error");
  check_action(step, action.value_or(grid::Kernel{}), check);
  check_result(step, result, check);
  check.integer_or_null(step.required("n_tile_steps"),
                        result.cost ? std::optional(result.cost->iterations) : std::nullopt);
  check.number(step.required("total_latency"), episode.total_latency());
  check.ids_in_any_order(step.required("scheduled"), episode.covered());
  check.ids_in_any_order(step.required("fast"), episode.fast_memory());
}

}  // namespace

void replay_fusionops(const JsonField& row, RowCheck& check) {
  row.only(row_fields);
  row.required("task").string();
  const grid::Instance instance = grid::read_problem(row.required("problem"));
  const auto max_steps = row.required("max_steps").integer(1, std::numeric_limits<int>::max());
  Episode episode(instance, {.rules = grid::RuleSet::fusionops,
                             .max_steps = static_cast<int>(max_steps),
                             .allow_recomputation = row.required("allow_recomputation").boolean()});
  check.number(row.required("naive_latency"), episode.naive_latency());
  const JsonField steps = row.required("steps");
  for (std::size_t i = 0, count = steps.array_size(); i < count; ++i) {
    const JsonField step = steps.element(i);
    check_step(step, episode, check);
  }
  const JsonField end = row.required("final");
  end.only(final_fields);
  check.number(end.required("total_latency"), episode.total_latency());
  check.flag(end.required("covered"), episode.complete());
  check.flag(end.required("done"), episode.done());
  check.number(end.required("score"), episode.score());
  check.number_or_null(end.required("readme_score"), episode.readme_score());
  check.number(end.required("return_sum"), episode.return_sum());
}

}  // namespace fuselage::oracle
