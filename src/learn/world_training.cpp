#include <algorithm>
#include <cmath>

#include "fuselage/core/error.h"
#include "fuselage/learn/flush_denormals.h"
#include "fuselage/learn/world_model.h"

namespace fuselage::learn {
namespace {

AdamOptions adam_options(const WorldTrainingOptions& options) {
  AdamOptions adam = options.adam;
  adam.total = options.steps;
  adam.warm_up = static_cast<std::int64_t>(std::lround(options.warm_up * static_cast<double>(options.steps)));
  return adam;
}

}  // namespace

WorldTraining::WorldTraining(WorldModel& model, const StateSequences& set,
                             const WorldTrainingOptions& options)
    : model_(model), set_(set), options_(options), adam_(model.parameters(), adam_options(options)) {
  for (std::size_t i = 0; i < set.sequences(); ++i)
    if (set.length(i) > 0) usable_.push_back(i);
  if (usable_.empty()) fail("no sequence has a token; expected at least one");
}

// Windows of the step: from a state chosen at random, and every state up to the horizon as a target. A
// margin's negative is another target of the workload, the next one that is another state.
void WorldTraining::choose() {
  search::SplitMix random(options_.seed * 1'000'003 + static_cast<std::uint64_t>(steps()));
  lengths_.clear();
  first_token_.clear();
  start_states_.clear();
  for (int i = 0; i < options_.sequences; ++i) {
    const std::size_t sequence = usable_[random.below(usable_.size())];
    const std::size_t begin = random.below(set_.length(sequence));
    lengths_.push_back(static_cast<int>(
        std::min(set_.length(sequence) - begin, static_cast<std::size_t>(options_.horizon))));
    first_token_.push_back(set_.first[sequence] + begin);
    start_states_.push_back(set_.first_state(sequence) + begin);
  }
  packing_.assign(lengths_);
  const auto tokens = static_cast<std::size_t>(packing_.tokens());
  target_states_.assign(tokens, 0);
  target_groups_.assign(tokens, 0);
  for (Index s = 0; s < packing_.sequences(); ++s) {
    const auto at = static_cast<std::size_t>(s);
    const auto sequence = static_cast<std::size_t>(
        std::upper_bound(set_.first.begin(), set_.first.end(), first_token_[at]) - set_.first.begin() - 1);
    for (Index step = 0; step < packing_.length(s); ++step) {
      const auto column = static_cast<std::size_t>(packing_.column(s, step));
      target_states_[column] = start_states_[at] + static_cast<std::size_t>(step) + 1;
      target_groups_[column] = set_.groups[sequence];
    }
  }
  identities_ = identities_of(set_, target_states_);
  negatives_.assign(tokens, -1);
  if (options_.losses.margin.weight == 0) return;
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t away = 1; away < tokens && negatives_[i] < 0; ++away) {
      const std::size_t other = (i + away) % tokens;
      if (target_groups_[other] == target_groups_[i] && identities_[other] != identities_[i])
        negatives_[i] = static_cast<std::int64_t>(other);
    }
}

WorldTraining::Report WorldTraining::step() {
  const FlushDenormals flush;
  choose();
  WorldModel& m = model_;
  const Index tokens = packing_.tokens();
  const Index d = m.latent();
  Matrix<float> starts(m.shape_.facts, packing_.sequences());
  Matrix<float> targets(m.shape_.facts, tokens);
  Matrix<float> inputs(m.shape_.features, tokens);
  m.lay_states(set_, start_states_, starts);
  m.lay_states(set_, target_states_, targets);
  for (Index s = 0; s < packing_.sequences(); ++s)
    for (Index step = 0; step < packing_.length(s); ++step)
      m.lay_token(set_, first_token_[static_cast<std::size_t>(s)] + static_cast<std::size_t>(step), inputs,
                  packing_.column(s, step));

  MlpPass<float> start_pass;
  MlpPass<float> target_pass;
  MlpPass<float> action_pass;
  RolloutPass<float> rollout_pass;
  const View<float> start = m.encoder_.forward(m.parameters_, starts, start_pass);
  const View<float> encoded = m.encoder_.forward(m.parameters_, targets, target_pass);
  const View<float> actions = m.embedding_.forward(m.parameters_, inputs, action_pass);
  Matrix<float> before(d, tokens);
  Matrix<float> after(d, tokens);
  const Rollout<float> rollout{
      .packing = &packing_, .start = start, .actions = actions, .before = before, .after = after};
  roll(*m.transition_, m.parameters_, rollout, rollout_pass);

  Matrix<float> d_after = Matrix<float>::Zero(d, tokens);
  Matrix<float> d_encoded = Matrix<float>::Zero(d, tokens);
  const LatentPairs<float> pairs{
      .predicted = after, .target = encoded, .d_predicted = d_after, .d_target = d_encoded};
  Report report;
  WorldLosses losses = options_.losses;
  losses.contrast.groups = target_groups_;
  losses.contrast.identities = identities_;
  losses.margin.negatives = negatives_;
  if (losses.matching.weight > 0)
    report.loss += losses.matching.weight * match_states(pairs, losses.matching);
  if (losses.contrast.weight > 0)
    report.loss += losses.contrast.weight * contrast_states(pairs, losses.contrast);
  if (losses.margin.weight > 0) report.loss += losses.margin.weight * separate_states(pairs, losses.margin);
  if (!std::isfinite(report.loss))
    fail("the loss of step {} is {}; expected a finite one: lower the rate", steps(), report.loss);
  report.spread = latent_spread<float>(encoded);

  Matrix<float> d_before = Matrix<float>::Zero(d, tokens);
  Matrix<float> d_actions(actions.rows(), tokens);
  Matrix<float> d_start(d, packing_.sequences());
  roll_backward(*m.transition_, m.parameters_, rollout,
                {.before = d_before, .after = d_after, .actions = d_actions, .start = d_start}, rollout_pass);
  m.embedding_.backward(m.parameters_, inputs, d_actions, action_pass);
  m.encoder_.backward(m.parameters_, starts, d_start, start_pass);
  m.encoder_.backward(m.parameters_, targets, d_encoded, target_pass);
  adam_.step(m.parameters_);
  return report;
}

}  // namespace fuselage::learn
