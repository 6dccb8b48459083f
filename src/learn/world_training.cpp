#include <algorithm>
#include <cmath>
#include <map>

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
  std::map<std::int64_t, std::vector<std::size_t>> workloads;
  for (std::size_t i = 0; i < set.sequences(); ++i) {
    const auto states = std::span(set.settled).subspan(set.first_state(i), set.length(i) + 1);
    if (!states[0] || std::find(states.begin() + 1, states.end(), 1) == states.end()) continue;
    usable_.push_back(i);
    workloads[set.groups[i]].push_back(i);
  }
  if (usable_.empty()) fail("no sequence has a settled state after its first; expected at least one");
  for (auto& [workload, sequences] : workloads) together_.push_back(std::move(sequences));
}

// The last settled state up to `near` that another one follows.
WorldTraining::Window WorldTraining::window(std::size_t sequence, std::size_t near) const {
  const auto states = std::span(set_.settled).subspan(set_.first_state(sequence), set_.length(sequence) + 1);
  std::size_t last = set_.length(sequence);
  while (!states[last]) --last;
  std::size_t begin = std::min(near, last - 1);
  while (!states[begin]) --begin;
  return {sequence, begin};
}

std::vector<WorldTraining::Window> WorldTraining::windows(search::SplitMix& random) const {
  std::vector<Window> chosen;
  if (options_.workloads == 0) {
    for (int i = 0; i < options_.sequences; ++i) {
      const std::size_t sequence = usable_[random.below(usable_.size())];
      chosen.push_back(window(sequence, random.below(set_.length(sequence))));
    }
    return chosen;
  }
  const int each = std::max(1, options_.sequences / options_.workloads);
  for (int w = 0; w < options_.workloads; ++w) {
    const std::vector<std::size_t>& sequences = together_[random.below(together_.size())];
    const std::size_t near = random.below(set_.length(sequences[random.below(sequences.size())]));
    for (int i = 0; i < each; ++i) chosen.push_back(window(sequences[random.below(sequences.size())], near));
  }
  return chosen;
}

// Windows of the step: from a state chosen at random, and every settled state up to the horizon as a target.
// A margin's negative is another target of the workload, the next one that is another state.
void WorldTraining::choose() {
  search::SplitMix random(options_.seed * 1'000'003 + static_cast<std::uint64_t>(steps()));
  lengths_.clear();
  first_token_.clear();
  start_states_.clear();
  const std::vector<Window> chosen = windows(random);
  for (const auto& [sequence, begin] : chosen) {
    lengths_.push_back(static_cast<int>(
        std::min(set_.length(sequence) - begin, static_cast<std::size_t>(options_.horizon))));
    first_token_.push_back(set_.first[sequence] + begin);
    start_states_.push_back(set_.first_state(sequence) + begin);
  }
  packing_.assign(lengths_);
  target_columns_.clear();
  target_states_.clear();
  target_groups_.clear();
  for (Index step = 0; step < packing_.steps(); ++step)
    for (Index slot = 0; slot < packing_.width(step); ++slot) {
      const auto at = static_cast<std::size_t>(packing_.sequence(slot));
      const std::size_t state = start_states_[at] + static_cast<std::size_t>(step) + 1;
      if (!set_.settled[state]) continue;
      target_columns_.push_back(packing_.first(step) + slot);
      target_states_.push_back(state);
      target_groups_.push_back(set_.groups[chosen[at].sequence]);
    }
  identities_ = identities_of(set_, target_states_);
  const std::size_t targets = target_states_.size();
  negatives_.assign(targets, -1);
  if (options_.losses.margin.weight == 0) return;
  for (std::size_t i = 0; i < targets; ++i)
    for (std::size_t away = 1; away < targets && negatives_[i] < 0; ++away) {
      const std::size_t other = (i + away) % targets;
      if (target_groups_[other] == target_groups_[i] && identities_[other] != identities_[i])
        negatives_[i] = static_cast<std::int64_t>(other);
    }
}

void WorldTraining::lay() {
  const WorldModel& m = model_;
  View<float> inputs = inputs_.shape(m.shape_.features, packing_.tokens());
  m.lay_states(set_, start_states_, starts_.shape(m.shape_.facts, packing_.sequences()));
  m.lay_states(set_, target_states_,
               targets_.shape(m.shape_.facts, static_cast<Index>(target_states_.size())));
  for (Index s = 0; s < packing_.sequences(); ++s)
    for (Index step = 0; step < packing_.length(s); ++step)
      m.lay_token(set_, first_token_[static_cast<std::size_t>(s)] + static_cast<std::size_t>(step), inputs,
                  packing_.column(s, step));
}

Rollout<float> WorldTraining::forward() {
  const WorldModel& m = model_;
  const View<float> start = m.encoder_.forward(m.parameters_, starts_.view(), start_pass_);
  const View<float> actions = m.embedding_.forward(m.parameters_, inputs_.view(), action_pass_);
  m.encoder_.forward(m.parameters_, targets_.view(), target_pass_);
  const Rollout<float> rollout{.packing = &packing_,
                               .start = start,
                               .actions = actions,
                               .before = before_.shape(m.latent(), packing_.tokens()),
                               .after = after_.shape(m.latent(), packing_.tokens())};
  roll(*m.transition_, m.parameters_, rollout, rollout_pass_);
  return rollout;
}

double WorldTraining::losses() {
  const auto targets = static_cast<Index>(target_columns_.size());
  View<float> predicted = predicted_.shape(model_.latent(), targets);
  View<float> d_predicted = d_predicted_.shape(model_.latent(), targets);
  const View<float> after = after_.view();
  for (Index i = 0; i < targets; ++i)
    predicted.col(i) = after.col(target_columns_[static_cast<std::size_t>(i)]);
  d_predicted.setZero();
  d_encoded_.shape(model_.latent(), targets).setZero();
  const LatentPairs<float> pairs{.predicted = predicted,
                                 .target = target_pass_.outputs.back().view(),
                                 .d_predicted = d_predicted,
                                 .d_target = d_encoded_.view()};
  WorldLosses with = options_.losses;
  if (!options_.across) with.contrast.groups = target_groups_;
  with.contrast.identities = identities_;
  with.margin.negatives = negatives_;
  double loss = 0;
  if (with.matching.weight > 0) loss += with.matching.weight * match_states(pairs, with.matching);
  if (with.contrast.weight > 0) loss += with.contrast.weight * contrast_states(pairs, with.contrast);
  if (with.margin.weight > 0) loss += with.margin.weight * separate_states(pairs, with.margin);
  View<float> d_after = d_after_.shape(model_.latent(), packing_.tokens());
  d_after.setZero();
  for (Index i = 0; i < targets; ++i)
    d_after.col(target_columns_[static_cast<std::size_t>(i)]) = d_predicted.col(i);
  return loss;
}

void WorldTraining::backward(const Rollout<float>& rollout) {
  WorldModel& m = model_;
  const Index d = m.latent();
  d_before_.shape(d, packing_.tokens()).setZero();
  roll_backward(*m.transition_, m.parameters_, rollout,
                {.before = d_before_.view(),
                 .after = d_after_.view(),
                 .actions = d_actions_.shape(rollout.actions.rows(), packing_.tokens()),
                 .start = d_start_.shape(d, packing_.sequences())},
                rollout_pass_);
  m.embedding_.backward(m.parameters_, inputs_.view(), d_actions_.view(), action_pass_);
  m.encoder_.backward(m.parameters_, starts_.view(), d_start_.view(), start_pass_);
  m.encoder_.backward(m.parameters_, targets_.view(), d_encoded_.view(), target_pass_);
}

WorldTraining::Report WorldTraining::step() {
  const FlushDenormals flush;
  choose();
  lay();
  const Rollout<float> rollout = forward();
  Report report;
  report.loss = losses();
  if (!std::isfinite(report.loss))
    fail("the loss of step {} is {}; expected a finite one: lower the rate", steps(), report.loss);
  report.spread = latent_spread<float>(target_pass_.outputs.back().view());
  backward(rollout);
  adam_.step(model_.parameters_);
  return report;
}

}  // namespace fuselage::learn
