// The recurrent scorer: reads a schedule token by token, changes a latent with every token, and guesses from
// the latents before and after what the token costs. Minus the sum is the schedule's score, higher being
// better; of a prefix or a single kernel just as well. Trained end to end by ranking schedules of one graph,
// it learns latents that matter for costs, which matching states alone does not.
//
//   embedding    tokens [features] → MLP → actions [e], relu after each layer
//   transition   z, action → z' [d]
//   head         [z; z'; action] [2d + e] → MLP → what the token costs [1]
//   score        −Σ over the tokens
//
// Where a sequence starts from (an encoded state, the latent of a shorter prefix, zeros) is the caller's
// matter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuselage/learn/mlp.h"
#include "fuselage/learn/rollout.h"

namespace fuselage::learn {

struct ScorerShape {
  Index features = 36;
  std::vector<Index> embedding = {64, 64};  // widths of its layers, at least one; the last is e
  TransitionKind transition = TransitionKind::gru;
  Index latent = 64;                   // d
  Index hidden = 128;                  // of a residual transition
  std::vector<Index> head = {96, 48};  // widths of its hidden layers
};

// Sequences to score.
template <class T>
struct ScorerBatch {
  const Packing* packing = nullptr;
  ConstView<T> start;   // [d x sequences], by sequence
  ConstView<T> tokens;  // [features x tokens], packed
};

// What a training pass computes, and memory for it; of one thread. Losses add to the gradients, which the
// forward pass sets to zero, and the backward pass starts from them.
template <class T>
class ScorerPass {
 public:
  View<T> scores() { return scores_.view(); }                              // [1 x sequences], by sequence
  View<T> increments() { return increments_.view(); }                      // [1 x tokens], packed
  View<T> before() { return joined_.view().topRows(latent_); }             // [d x tokens], packed
  View<T> after() { return joined_.view().middleRows(latent_, latent_); }  // [d x tokens], packed
  View<T> d_scores() { return d_scores_.view(); }
  View<T> d_increments() { return d_increments_.view(); }
  View<T> d_after() { return d_after_.view(); }
  View<T> d_start() { return d_start_.view(); }  // result of the backward pass [d x sequences]

 private:
  template <class U>
  friend class Scorer;

  Index latent_ = 0;
  Buffer<T> joined_;  // [z; z'; action] of every token
  Buffer<T> increments_, scores_;
  Buffer<T> d_joined_, d_increments_, d_scores_, d_after_, d_actions_, d_start_;
  MlpPass<T> embedding_, head_;
  RolloutPass<T> rollout_;
};

// Memory for scoring without training; of one thread. It doesn't grow after the first call with as many
// sequences.
template <class T>
class ScorerScratch {
  template <class U>
  friend class Scorer;

  Buffer<T> joined_, projected_, saved_;     // of one tile
  Buffer<T> latents_, increments_, totals_;  // of all sequences
  MlpPass<T> embedding_, head_;
};

// Where `score` puts its results.
template <class T>
struct Scored {
  View<T> scores;  // [1 x sequences]
  View<T> last;    // [d x sequences]: the latent after the last token, the start if there is none
};

template <class T>
class Scorer {
 public:
  // Adds its tensors as "<name>.embedding.…", "<name>.transition.…", "<name>.head.…".
  Scorer(Parameters<T>& parameters, const std::string& name, const ScorerShape& shape,
         search::SplitMix& random);

  Index features() const { return embedding_.in(); }
  Index latent() const { return transition_->latent(); }

  void forward(const Parameters<T>& parameters, const ScorerBatch<T>& batch, ScorerPass<T>& pass) const;
  // For the batch and pass of the last forward, once; adds to the parameters' gradients.
  void backward(Parameters<T>& parameters, const ScorerBatch<T>& batch, ScorerPass<T>& pass) const;

  // The same scores, bit for bit, without what a backward pass would need.
  void score(const Parameters<T>& parameters, const ScorerBatch<T>& batch, const Scored<T>& result,
             ScorerScratch<T>& scratch) const;

  // One token for each of n latents: z [d x n], tokens [features x n] → next [d x n], which may be z, and
  // increments [1 x n].
  struct Advance {
    ConstView<T> z;
    ConstView<T> tokens;
    View<T> next;
    View<T> increments;
  };
  void advance(const Parameters<T>& parameters, const Advance& batch, ScorerScratch<T>& scratch) const;

 private:
  Index joined_rows() const { return 2 * latent() + embedding_.out(); }
  Rollout<T> rollout(const ScorerBatch<T>& batch, ScorerPass<T>& pass) const;

  Mlp<T> embedding_;
  std::unique_ptr<Transition<T>> transition_;
  Mlp<T> head_;
};

extern template class Scorer<float>;
extern template class Scorer<double>;

}  // namespace fuselage::learn
