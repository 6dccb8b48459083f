#include <algorithm>

#include "fuselage/core/error.h"
#include "fuselage/grid/episode.h"

namespace fuselage::grid {
namespace {

constexpr double valid_bonus = 0.02;
constexpr double latency_weight = 0.1;  // of a step that takes as long as the mean op does under naive
constexpr double fusion_bonus = 0.05;   // for each op beyond the first
constexpr double complete_weight = 0.5;

bool is_set(const std::vector<std::uint8_t>& flags, std::int32_t id) {
  return flags[static_cast<std::size_t>(id)] != 0;
}

std::vector<std::int32_t> ids_of(const std::vector<std::uint8_t>& flags) {
  std::vector<std::int32_t> ids;
  for (std::size_t id = 0; id < flags.size(); ++id)
    if (flags[id]) ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

}  // namespace

Episode::Episode(const Instance& instance, const EpisodeOptions& options)
    : instance_(&instance),
      options_(options),
      naive_latency_(fusionops_naive_latency(instance)),
      state_(instance) {
  if (options.rules == RuleSet::mlsys)
    fail("rules: mlsys has no episodes; expected fusionops or fusionops-honest");
  if (options.max_steps < 1)
    fail("max_steps: {} is out of range; expected an integer >= 1", options.max_steps);
}

void Episode::reset() {
  *this = Episode(*instance_, options_);
}

StepRules Episode::step_rules() const {
  return {.honest = options_.rules == RuleSet::fusionops_honest,
          .allow_recomputation = options_.allow_recomputation};
}

StepResult Episode::step(std::string_view text) {
  if (done_) return {.done = true};
  if (const std::optional<Kernel> action = parse_step(text, instance_->machine())) return step(*action);
  return refuse({.fault = StepFault::parse, .message = "Parse error"}, false);
}

StepResult Episode::step(const Kernel& action) {
  if (done_) return {.done = true};
  StepJudgement judgement = judge_step(*instance_, step_rules(), state_, action);
  last_action_ = action;
  return judgement.error ? refuse(*std::move(judgement.error), true) : accept(action, judgement.cost);
}

StepResult Episode::refuse(StepError error, bool counts) {
  const double reward = step_penalty(step_error_class(error.fault));
  if (counts) {
    ++steps_;
    return_sum_ += reward;
    done_ = steps_ >= options_.max_steps;
  }
  last_ = StepResult{.reward = reward, .done = done_, .counted = counts, .error = std::move(error)};
  return *last_;
}

StepResult Episode::accept(const Kernel& action, const StepCost& cost) {
  for (const OpId id : action.ops) covered_ += is_set(state_.ran, id) ? 0 : 1;
  apply_step(*instance_, action, state_);
  plan_.kernels.push_back(action);
  total_latency_ += cost.latency;
  ++steps_;
  const bool won = complete();
  done_ = won || steps_ >= options_.max_steps;

  const double naive_per_op = naive_latency_ / static_cast<double>(instance_->op_count());
  const double for_latency = -cost.latency / naive_per_op * latency_weight;
  const double for_fusion = (static_cast<double>(action.ops.size()) - 1) * fusion_bonus;
  const double for_completion = won ? naive_latency_ / total_latency_ * complete_weight : 0;
  const double reward = valid_bonus + for_latency + for_fusion + for_completion;
  return_sum_ += reward;
  last_ = StepResult{.reward = reward, .done = done_, .counted = true, .cost = cost};
  return *last_;
}

bool Episode::complete() const {
  if (covered_ < instance_->op_count()) return false;
  return unstored_outputs().empty();
}

std::vector<OpId> Episode::covered() const {
  return ids_of(state_.ran);
}

std::vector<OpId> Episode::ready() const {
  std::vector<OpId> ready;
  const auto is_made = [&](TensorId id) {
    return instance_->is_input(id) || is_set(state_.ran, instance_->producer(id));
  };
  for (OpId id = 0; id < instance_->op_count(); ++id) {
    const std::vector<TensorId>& inputs = instance_->op(id).inputs;
    if (!is_set(state_.ran, id) && std::all_of(inputs.begin(), inputs.end(), is_made)) ready.push_back(id);
  }
  return ready;
}

std::vector<TensorId> Episode::fast_memory() const {
  return ids_of(state_.resident);
}

std::int64_t Episode::fast_memory_used() const {
  std::int64_t used = 0;
  for (const TensorId id : fast_memory()) used += instance_->tensor(id).size();
  return used;
}

std::vector<TensorId> Episode::unstored_outputs() const {
  std::vector<TensorId> unstored;
  if (!step_rules().honest) return unstored;
  for (TensorId id = 0; id < instance_->tensor_count(); ++id)
    if (instance_->is_output(id) && is_set(state_.ran, instance_->producer(id)) && !is_set(state_.stored, id))
      unstored.push_back(id);
  return unstored;
}

FusionopsTotals Episode::totals() const {
  return {.naive_latency = naive_latency_,
          .total_latency = total_latency_,
          .covered_ops = covered_,
          .ops = instance_->op_count(),
          .complete = complete()};
}

double Episode::score() const {
  return fusionops_score(totals());
}

std::optional<double> Episode::readme_score() const {
  return fusionops_readme_score(totals());
}

}  // namespace fuselage::grid
