#include "fuselage/learn/world_model.h"

#include <algorithm>
#include <numeric>

#include "fuselage/core/error.h"

namespace fuselage::learn {
namespace {

MlpShape embedding_shape(const WorldModelShape& shape) {
  MlpShape mlp{.widths = {shape.features}, .activation = Activation::relu, .activate_last = true};
  mlp.widths.insert(mlp.widths.end(), shape.embedding.begin(), shape.embedding.end());
  return mlp;
}

MlpShape encoder_shape(const WorldModelShape& shape) {
  MlpShape mlp{.widths = {shape.facts}, .activation = Activation::tanh, .activate_last = shape.bounded};
  mlp.widths.insert(mlp.widths.end(), shape.encoder.begin(), shape.encoder.end());
  mlp.widths.push_back(shape.latent);
  return mlp;
}

}  // namespace

void StateSequences::add(std::span<const float> token_rows, std::span<const float> state_rows,
                         std::int64_t group, std::span<const char> are_settled) {
  const std::size_t count = token_rows.size() / static_cast<std::size_t>(features);
  if (token_rows.size() != count * static_cast<std::size_t>(features) ||
      state_rows.size() != (count + 1) * static_cast<std::size_t>(facts))
    fail(
        "a sequence of {} token and {} state numbers; expected {} for each token and {} for each of the "
        "states between, before and after",
        token_rows.size(), state_rows.size(), features, facts);
  if (!are_settled.empty() && are_settled.size() != count + 1)
    fail("{} states of a sequence are said to be settled or not; expected {}", are_settled.size(), count + 1);
  if (are_settled.empty())
    settled.insert(settled.end(), count + 1, 1);
  else
    settled.insert(settled.end(), are_settled.begin(), are_settled.end());
  tokens.insert(tokens.end(), token_rows.begin(), token_rows.end());
  states.insert(states.end(), state_rows.begin(), state_rows.end());
  groups.push_back(group);
  first.push_back(first.back() + count);
}

WorldModel::WorldModel(const WorldModelShape& shape, std::uint64_t seed)
    : shape_(shape),
      random_(seed),
      encoder_(parameters_, "encoder", encoder_shape(shape), random_),
      embedding_(parameters_, "embedding", embedding_shape(shape), random_),
      transition_(make_transition(parameters_, "transition",
                                  {.kind = shape.transition,
                                   .latent = shape.latent,
                                   .action = shape.embedding.back(),
                                   .hidden = shape.hidden},
                                  random_)),
      state_standard_(neutral_standard(shape.facts)),
      token_standard_(neutral_standard(shape.features)) {}

void WorldModel::standardise(const StateSequences& set) {
  state_standard_ = standard_of(set.states, shape_.facts);
  token_standard_ = standard_of(set.tokens, shape_.features);
}

void WorldModel::lay_states(const StateSequences& set, std::span<const std::size_t> states,
                            View<float> out) const {
  for (std::size_t i = 0; i < states.size(); ++i)
    put_standardised(set.states.data() + states[i] * static_cast<std::size_t>(shape_.facts), state_standard_,
                     out.col(static_cast<Index>(i)));
}

void WorldModel::lay_token(const StateSequences& set, std::size_t token, View<float> out,
                           Index column) const {
  put_standardised(set.tokens.data() + token * static_cast<std::size_t>(shape_.features), token_standard_,
                   out.col(column));
}

Matrix<float> WorldModel::encode(const StateSequences& set, std::span<const std::size_t> states) const {
  Matrix<float> rows(shape_.facts, static_cast<Index>(states.size()));
  lay_states(set, states, rows);
  MlpPass<float> pass;
  return encoder_.forward(parameters_, rows, pass);
}

WorldModel::Predicted WorldModel::predict(const StateSequences& set, std::size_t horizon) const {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < set.sequences(); ++i)
    if (set.length(i) >= horizon && set.settled[set.first_state(i) + horizon]) chosen.push_back(i);
  Predicted predicted;
  std::vector<std::size_t> starts;
  for (std::size_t i : chosen) {
    starts.push_back(set.first_state(i));
    predicted.states.push_back(set.first_state(i) + horizon);
    predicted.groups.push_back(set.groups[i]);
  }
  predicted.latents = encode(set, starts);
  const auto count = static_cast<Index>(chosen.size());
  Matrix<float> tokens(shape_.features, count);
  Matrix<float> projected(transition_->projected_rows(), count);
  Matrix<float> saved(transition_->saved_rows(), count);
  Matrix<float> next(latent(), count);
  MlpPass<float> pass;
  for (std::size_t step = 0; step < horizon && count > 0; ++step) {
    for (Index c = 0; c < count; ++c)
      lay_token(set, set.first[chosen[static_cast<std::size_t>(c)]] + step, tokens, c);
    transition_->project(parameters_, embedding_.forward(parameters_, tokens, pass), projected);
    transition_->step(parameters_, predicted.latents, projected, next, saved);
    std::swap(predicted.latents, next);
  }
  return predicted;
}

Matrix<float> WorldModel::terminal(const StateSequences& set) const {
  constexpr std::size_t at_once = 256;
  Matrix<float> result(latent(), static_cast<Index>(set.sequences()));
  MlpPass<float> pass;
  RolloutPass<float> rolled;
  Buffer<float> tokens, before, after, last;
  Packing packing;
  std::vector<int> lengths;
  std::vector<std::size_t> starts;
  for (std::size_t begin = 0; begin < set.sequences(); begin += at_once) {
    const std::size_t end = std::min(set.sequences(), begin + at_once);
    lengths.clear();
    starts.clear();
    for (std::size_t i = begin; i < end; ++i) {
      lengths.push_back(static_cast<int>(set.length(i)));
      starts.push_back(set.first_state(i));
    }
    packing.assign(lengths);
    View<float> rows = tokens.shape(shape_.features, packing.tokens());
    for (Index s = 0; s < packing.sequences(); ++s)
      for (Index step = 0; step < packing.length(s); ++step)
        lay_token(set, set.first[begin + static_cast<std::size_t>(s)] + static_cast<std::size_t>(step), rows,
                  packing.column(s, step));
    const Matrix<float> start = encode(set, starts);
    const Rollout<float> rollout{.packing = &packing,
                                 .start = start,
                                 .actions = embedding_.forward(parameters_, rows, pass),
                                 .before = before.shape(latent(), packing.tokens()),
                                 .after = after.shape(latent(), packing.tokens())};
    roll(*transition_, parameters_, rollout, rolled);
    View<float> ends = last.shape(latent(), packing.sequences());
    take_last(rollout, ends);
    result.middleCols(static_cast<Index>(begin), packing.sequences()) = ends;
  }
  return result;
}

double retrieval_at(const WorldModel& model, const StateSequences& set, std::size_t horizon) {
  const WorldModel::Predicted predicted = model.predict(set, horizon);
  const std::vector<std::int64_t> identities = identities_of(set, predicted.states);
  const Matrix<float> target = model.encode(set, predicted.states);
  return retrieval_rate<float>(predicted.latents, target,
                               {.groups = predicted.groups, .identities = identities});
}

std::vector<std::int64_t> identities_of(const StateSequences& set, std::span<const std::size_t> states) {
  const auto width = static_cast<std::size_t>(set.facts);
  const auto row = [&](std::size_t i) {
    return std::span<const float>(set.states).subspan(states[i] * width, width);
  };
  std::vector<std::size_t> sorted(states.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(row(a).begin(), row(a).end(), row(b).begin(), row(b).end());
  });
  std::vector<std::int64_t> identities(states.size(), 0);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const auto before = row(sorted[i - 1]);
    const auto here = row(sorted[i]);
    identities[sorted[i]] =
        identities[sorted[i - 1]] + (std::equal(here.begin(), here.end(), before.begin()) ? 0 : 1);
  }
  return identities;
}

}  // namespace fuselage::learn
