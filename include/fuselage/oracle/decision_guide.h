// The ranker as a guide of search: of every state that an engine is about to expand, the kernels are ranked
// by a model that looks at features alone, and only the best few are priced. All kernels of a layer are
// scored in one batch. For MCTS the scores are priors too: rankers are trained by pairs, whose score
// differences are log odds (Burges et al., "Learning to rank using gradient descent", 2005), so the
// probability that a kernel is the one to take is said to be the softmax of the scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "fuselage/learn/flat_trees.h"
#include "fuselage/search/guide.h"
#include "fuselage/search/problem.h"

namespace fuselage::oracle {

// What makes rows of a family's decisions, [width x kernels], a column a kernel.
template <class R, class P>
concept DecisionRowsOf = search::Problem<P> && std::copy_constructible<R> &&
    requires(R& r, const P& p, const typename P::State& s, std::span<const typename P::Kernel> kernels,
             std::span<float> rows) {
  { r.width() } -> std::convertible_to<std::size_t>;
  r.fill(p, s, kernels, rows);
};

struct Keeping {
  std::size_t most = 4;  // kernels of a state that are priced; at least 1
  float margin = 2;      // and none whose score is so much below the best: odds of one in e²
};

// Fills `keep` and `prior` of expansions. The trees must have as many features as the rows.
template <search::Problem P, DecisionRowsOf<P> Rows>
class DecisionRanker {
 public:
  DecisionRanker(std::shared_ptr<const learn::FlatTrees> trees, Rows rows, const Keeping& keeping)
      : trees_(std::move(trees)), rows_(std::move(rows)), keeping_(keeping) {}

  template <class Latent>
  void rank(const P& problem, std::span<search::Expansion<P, Latent>> batch) {
    const auto width = static_cast<std::size_t>(rows_.width());
    std::size_t kernels = 0;
    for (const auto& e : batch) kernels += e.kernels.size();
    if (kernels == 0) return;
    numbers_.resize(width * kernels);
    scores_.resize(kernels);
    std::size_t at = 0;
    for (const auto& e : batch) {
      rows_.fill(problem, *e.state, e.kernels,
                 std::span(numbers_).subspan(width * at, width * e.kernels.size()));
      at += e.kernels.size();
    }
    const Eigen::Map<const learn::Matrix<float>> rows(numbers_.data(), static_cast<learn::Index>(width),
                                                      static_cast<learn::Index>(kernels));
    trees_->score(rows, scores_, scratch_);
    at = 0;
    for (auto& e : batch) {
      if (!e.kernels.empty()) choose(std::span(scores_).subspan(at, e.kernels.size()), e);
      at += e.kernels.size();
    }
  }

 private:
  // Of equal scores the earlier in canonical order goes first.
  template <class Latent>
  void choose(std::span<const float> scores, search::Expansion<P, Latent>& e) const {
    e.keep.resize(scores.size());
    std::iota(e.keep.begin(), e.keep.end(), 0U);
    const std::size_t kept = std::min(std::max<std::size_t>(1, keeping_.most), scores.size());
    std::partial_sort(e.keep.begin(), e.keep.begin() + static_cast<std::ptrdiff_t>(kept), e.keep.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
                      });
    e.keep.resize(kept);
    const float best = scores[e.keep[0]];
    while (scores[e.keep.back()] < best - keeping_.margin) e.keep.pop_back();
    double sum = 0;
    for (std::uint32_t k : e.keep)
      sum += e.prior.emplace_back(std::exp(static_cast<double>(scores[k] - best)));
    for (double& prior : e.prior) prior /= sum;
  }

  std::shared_ptr<const learn::FlatTrees> trees_;
  Rows rows_;
  Keeping keeping_;
  std::vector<float> numbers_;
  std::vector<float> scores_;
  learn::FlatTreesScratch scratch_;
};

// Ranks and nothing else.
template <search::Problem P, DecisionRowsOf<P> Rows>
class DecisionGuide {
 public:
  using Latent = search::NoLatent;
  static constexpr bool drops = true;

  DecisionGuide(std::shared_ptr<const learn::FlatTrees> trees, Rows rows, const Keeping& keeping)
      : ranker_(std::move(trees), std::move(rows), keeping) {}

  search::NoLatent root(const P&, const typename P::State&) const { return {}; }
  void consider(const P& problem, std::span<search::Expansion<P, search::NoLatent>> batch) {
    ranker_.rank(problem, batch);
  }

 private:
  DecisionRanker<P, Rows> ranker_;
};

}  // namespace fuselage::oracle
