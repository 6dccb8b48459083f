// What training minimises. Every loss is a mean, so that its weight means the same for any batch; it returns
// that mean, unweighted, and adds weight · gradient to the matrices given for it. Sums are taken in double.
//
// A world model that is only asked to match states may map all of them to one point; contrast and margin are
// there to prevent it, and latent_spread (latent_spread.h) to notice. Ranking and increments look at costs
// instead.
#pragma once

#include <cstdint>
#include <span>

#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

// n predicted latents and the encoded ones that they should be.
template <class T>
struct LatentPairs {
  ConstView<T> predicted;  // [d x n]
  ConstView<T> target;     // [d x n]
  View<T> d_predicted;     // [d x n]; added to
  View<T> d_target;        // [d x n]; added to, unless the targets are held
};

// Mean over all n·d numbers of (predicted − target)².
struct Matching {
  double weight = 1;
  bool hold_targets =
      true;  // no gradient to the encoder (as in Grill et al., "Bootstrap your own latent", 2020)
};
template <class T>
double match_states(const LatentPairs<T>& pairs, const Matching& options = {});

// InfoNCE (van den Oord, Li, Vinyals, "Representation learning with contrastive predictive coding", 2018):
// every prediction has to find its target among the targets of the batch. With s the cosine of two latents
// divided by the temperature, the mean over i of −log(e^s(i,i) / Σ_j e^s(i,j)).
struct Contrast {
  double weight = 1;
  double temperature = 0.1;
  bool hold_targets = false;
  // By column, if given. `groups` (say, a graph's number): j only counts where it is in the group of i, so
  // that graphs can't be told apart instead of states. `identities`: j ≠ i doesn't count where it has the
  // identity of i, because it is the same state reached twice.
  std::span<const std::int64_t> groups = {};
  std::span<const std::int64_t> identities = {};
};
template <class T>
double contrast_states(const LatentPairs<T>& pairs, const Contrast& options = {});
// How often a prediction's own target is the one nearest by cosine, ties counting as misses; of the same
// options.
template <class T>
double retrieval_rate(const ConstView<T>& predicted, const ConstView<T>& target,
                      const Contrast& options = {});

// The margin loss of TransE and TransH (Bordes et al., 2013; Wang et al., 2014): mean over i of
// max(0, margin + |p_i − t_i|² / d − |p_i − t_k|² / d), k = negatives[i]; i without one (−1) doesn't count.
struct Margin {
  double weight = 1;
  double margin = 1;
  bool hold_targets = false;
  std::span<const std::int64_t> negatives = {};  // by column
};
template <class T>
double separate_states(const LatentPairs<T>& pairs, const Margin& options);

// n things of which the cheaper should score higher.
template <class T>
struct ScoredCosts {
  ConstView<T> scores;  // [1 x n]
  std::span<const double> costs;
  std::span<const std::int64_t> groups;  // only things of one group are compared (a graph's number)
  View<T> d_scores;                      // [1 x n]; added to
};

// RankNet (Burges et al., "Learning to rank using gradient descent", 2005): softplus(slope · (worse −
// better)) of two scores; mean over the pairs of a group, then over the groups that have a pair. Costs that
// differ by no more than `tie` of the larger are no pair.
struct Ranking {
  double weight = 1;
  double slope = 4;
  double tie = 1e-9;
};
template <class T>
double rank_pairs(const ScoredCosts<T>& things, const Ranking& options = {});

// The part of those pairs whose scores are in the right order, a tie of scores counting half; mean over
// groups as above. NaN if there is no pair.
template <class T>
double pairwise_accuracy(const ConstView<T>& scores, std::span<const double> costs,
                         std::span<const std::int64_t> groups, double tie = 1e-9);

// Smooth L1 (Huber, 1964; Girshick, "Fast R-CNN", 2015) of what every token is said to cost: with e =
// predicted − target, mean of e² / (2 beta) where |e| < beta and of |e| − beta / 2 elsewhere.
struct Increments {
  double weight = 1;
  double beta = 1;
};
template <class T>
double match_increments(const ConstView<T>& predicted, const ConstView<T>& target, View<T> d_predicted,
                        const Increments& options = {});

}  // namespace fuselage::learn
