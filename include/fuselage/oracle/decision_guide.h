// The ranker as a guide of search: of every state that an engine is about to expand, the kernels are ranked
// by a model that looks at features alone, and only the best few are priced. All kernels of a layer are
// scored in one batch. For MCTS the scores are priors too: rankers are trained by pairs (score differences
// are log odds, Burges et al., "Learning to rank using gradient descent", 2005), so the probability that a
// kernel is the one to take is taken to be the softmax of the scores.
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

template <search::Problem P, DecisionRowsOf<P> Rows>
class DecisionGuide {
 public:
  using Latent = search::NoLatent;
  static constexpr bool drops = true;

  // `keep`: kernels of a state that are priced, at least 1. The trees must have as many features as the rows.
  DecisionGuide(std::shared_ptr<const learn::FlatTrees> trees, Rows rows, std::size_t keep)
      : trees_(std::move(trees)), rows_(std::move(rows)), keep_(std::max<std::size_t>(1, keep)) {}

  search::NoLatent root(const P&, const typename P::State&) const { return {}; }

  void consider(const P& problem, std::span<search::Expansion<P, search::NoLatent>> batch) {
    const std::size_t width = rows_.width();
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
      choose(std::span(scores_).subspan(at, e.kernels.size()), e);
      at += e.kernels.size();
    }
  }

 private:
  // Of equal scores the earlier in canonical order goes first.
  void choose(std::span<const float> scores, search::Expansion<P, search::NoLatent>& e) const {
    e.keep.resize(scores.size());
    std::iota(e.keep.begin(), e.keep.end(), 0U);
    const std::size_t kept = std::min(keep_, scores.size());
    std::partial_sort(e.keep.begin(), e.keep.begin() + static_cast<std::ptrdiff_t>(kept), e.keep.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
                      });
    e.keep.resize(kept);
    double sum = 0;
    for (std::uint32_t k : e.keep)
      sum += e.prior.emplace_back(std::exp(static_cast<double>(scores[k] - scores[e.keep[0]])));
    for (double& prior : e.prior) prior /= sum;
  }

  std::shared_ptr<const learn::FlatTrees> trees_;
  Rows rows_;
  std::size_t keep_;
  std::vector<float> numbers_;
  std::vector<float> scores_;
  learn::FlatTreesScratch scratch_;
};

}  // namespace fuselage::oracle
