#include "fuselage/learn/scorer.h"

#include <algorithm>
#include <cassert>

namespace fuselage::learn {
namespace {

// Latents that are advanced together: what they need stays in the second-level cache.
constexpr Index tile = 64;

MlpShape embedding_shape(const ScorerShape& shape) {
  MlpShape result{.widths = {shape.features}, .activation = Activation::relu, .activate_last = true};
  result.widths.insert(result.widths.end(), shape.embedding.begin(), shape.embedding.end());
  return result;
}

MlpShape head_shape(const ScorerShape& shape) {
  MlpShape result{.widths = {2 * shape.latent + shape.embedding.back()}, .activation = Activation::relu};
  result.widths.insert(result.widths.end(), shape.head.begin(), shape.head.end());
  result.widths.push_back(1);
  return result;
}

TransitionShape transition_shape(const ScorerShape& shape) {
  return {.kind = shape.transition,
          .latent = shape.latent,
          .action = shape.embedding.back(),
          .hidden = shape.hidden};
}

}  // namespace

template <class T>
Scorer<T>::Scorer(Parameters<T>& parameters, const std::string& name, const ScorerShape& shape,
                  search::SplitMix& random)
    : embedding_(parameters, name + ".embedding", embedding_shape(shape), random),
      transition_(make_transition(parameters, name + ".transition", transition_shape(shape), random)),
      head_(parameters, name + ".head", head_shape(shape), random) {}

template <class T>
Rollout<T> Scorer<T>::rollout(const ScorerBatch<T>& batch, ScorerPass<T>& pass) const {
  return {.packing = batch.packing,
          .start = batch.start,
          .actions = pass.embedding_.outputs.back().view(),
          .before = pass.before(),
          .after = pass.after()};
}

template <class T>
void Scorer<T>::forward(const Parameters<T>& parameters, const ScorerBatch<T>& batch,
                        ScorerPass<T>& pass) const {
  const Packing& packing = *batch.packing;
  const Index tokens = packing.tokens();
  assert(batch.tokens.cols() == tokens && batch.start.cols() == packing.sequences());
  pass.latent_ = latent();
  View<T> joined = pass.joined_.shape(joined_rows(), tokens);
  joined.bottomRows(embedding_.out()) = embedding_.forward(parameters, batch.tokens, pass.embedding_);
  roll(*transition_, parameters, rollout(batch, pass), pass.rollout_);
  View<T> increments = pass.increments_.shape(1, tokens);
  increments = head_.forward(parameters, joined, pass.head_);
  View<T> scores = pass.scores_.shape(1, packing.sequences());
  scores.setZero();
  for (Index step = 0; step < packing.steps(); ++step)
    for (Index slot = 0; slot < packing.width(step); ++slot)
      scores(0, packing.sequence(slot)) -= increments(0, packing.first(step) + slot);
  pass.d_scores_.shape(1, packing.sequences()).setZero();
  pass.d_increments_.shape(1, tokens).setZero();
  pass.d_after_.shape(latent(), tokens).setZero();
}

template <class T>
void Scorer<T>::backward(Parameters<T>& parameters, const ScorerBatch<T>& batch, ScorerPass<T>& pass) const {
  const Packing& packing = *batch.packing;
  const Index tokens = packing.tokens();
  View<T> d_increments = pass.d_increments();
  for (Index step = 0; step < packing.steps(); ++step)
    for (Index slot = 0; slot < packing.width(step); ++slot)
      d_increments(0, packing.first(step) + slot) -= pass.d_scores()(0, packing.sequence(slot));
  head_.backward(parameters, pass.joined_.view(), d_increments, pass.head_);
  View<T> d_joined = pass.d_joined_.shape(joined_rows(), tokens);
  head_.backward_input(parameters, pass.head_, d_joined);
  d_joined.middleRows(latent(), latent()) += pass.d_after();
  View<T> d_actions = pass.d_actions_.shape(embedding_.out(), tokens);
  roll_backward(*transition_, parameters, rollout(batch, pass),
                {.before = d_joined.topRows(latent()),
                 .after = d_joined.middleRows(latent(), latent()),
                 .actions = d_actions,
                 .start = pass.d_start_.shape(latent(), packing.sequences())},
                pass.rollout_);
  d_actions += d_joined.bottomRows(embedding_.out());
  embedding_.backward(parameters, batch.tokens, d_actions, pass.embedding_);
}

template <class T>
void Scorer<T>::advance(const Parameters<T>& parameters, const Advance& batch,
                        ScorerScratch<T>& scratch) const {
  const Index d = latent();
  View<T> next = batch.next;
  View<T> increments = batch.increments;
  for (Index first = 0; first < batch.z.cols(); first += tile) {
    const Index n = std::min(tile, batch.z.cols() - first);
    View<T> joined = scratch.joined_.shape(joined_rows(), n);
    const View<T> actions =
        embedding_.forward(parameters, batch.tokens.middleCols(first, n), scratch.embedding_);
    View<T> projected = scratch.projected_.shape(transition_->projected_rows(), n);
    transition_->project(parameters, actions, projected);
    joined.topRows(d) = batch.z.middleCols(first, n);
    joined.bottomRows(actions.rows()) = actions;
    transition_->step(parameters, joined.topRows(d), projected, joined.middleRows(d, d),
                      scratch.saved_.shape(transition_->saved_rows(), n));
    increments.middleCols(first, n) = head_.forward(parameters, joined, scratch.head_);
    next.middleCols(first, n) = joined.middleRows(d, d);
  }
}

template <class T>
void Scorer<T>::score(const Parameters<T>& parameters, const ScorerBatch<T>& batch, const Scored<T>& result,
                      ScorerScratch<T>& scratch) const {
  const Packing& packing = *batch.packing;
  const Index sequences = packing.sequences();
  View<T> latents = scratch.latents_.shape(latent(), sequences);
  View<T> totals = scratch.totals_.shape(1, sequences);
  totals.setZero();
  for (Index slot = 0; slot < sequences; ++slot) latents.col(slot) = batch.start.col(packing.sequence(slot));
  for (Index step = 0; step < packing.steps(); ++step) {
    const Index width = packing.width(step);
    View<T> increments = scratch.increments_.shape(1, width);
    advance(parameters,
            {.z = latents.leftCols(width),
             .tokens = batch.tokens.middleCols(packing.first(step), width),
             .next = latents.leftCols(width),
             .increments = increments},
            scratch);
    totals.leftCols(width) -= increments;
  }
  View<T> scores = result.scores;
  View<T> last = result.last;
  for (Index slot = 0; slot < sequences; ++slot) {
    scores(0, packing.sequence(slot)) = totals(0, slot);
    last.col(packing.sequence(slot)) = latents.col(slot);
  }
}

template class Scorer<float>;
template class Scorer<double>;

}  // namespace fuselage::learn
