#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "fuselage/learn/activation.h"
#include "fuselage/learn/losses.h"

namespace fuselage::learn {
namespace {

// Costs may be infinite (not executable): any finite one is better.
bool better(double a, double b, double tie) {
  if (!(a < b)) return false;
  return std::isinf(b) || b - a > tie * std::max(std::abs(a), std::abs(b));
}

struct Pair {
  std::size_t better;
  std::size_t worse;
};

// The pairs of things of one group whose costs differ, a list for each group that has some.
std::vector<std::vector<Pair>> pairs_by_group(std::span<const double> costs,
                                              std::span<const std::int64_t> groups, double tie) {
  assert(costs.size() == groups.size());
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return groups[a] < groups[b]; });
  std::vector<std::vector<Pair>> result;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && groups[order[end]] == groups[order[begin]]) ++end;
    std::vector<Pair> pairs;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = begin; j < end; ++j)
        if (better(costs[order[i]], costs[order[j]], tie)) pairs.push_back({order[i], order[j]});
    if (!pairs.empty()) result.push_back(std::move(pairs));
  }
  return result;
}

}  // namespace

template <class T>
double rank_pairs(const ScoredCosts<T>& things, const Ranking& options) {
  assert(things.scores.cols() == static_cast<Index>(things.costs.size()));
  const auto groups = pairs_by_group(things.costs, things.groups, options.tie);
  std::vector<double> gradient(things.costs.size());
  const auto score = [&](std::size_t i) {
    return static_cast<double>(things.scores(0, static_cast<Index>(i)));
  };
  double sum = 0;
  for (const std::vector<Pair>& pairs : groups) {
    const double share = 1 / (static_cast<double>(groups.size()) * static_cast<double>(pairs.size()));
    for (const Pair& pair : pairs) {
      const double x = options.slope * (score(pair.worse) - score(pair.better));
      sum += share * (std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
      const double pull = options.weight * share * options.slope * sigmoid(static_cast<T>(x));
      gradient[pair.worse] += pull;
      gradient[pair.better] -= pull;
    }
  }
  View<T> d_scores = things.d_scores;
  for (std::size_t i = 0; i < gradient.size(); ++i)
    d_scores(0, static_cast<Index>(i)) += static_cast<T>(gradient[i]);
  return sum;
}

template <class T>
double pairwise_accuracy(const ConstView<T>& scores, std::span<const double> costs,
                         std::span<const std::int64_t> groups, double tie) {
  assert(scores.cols() == static_cast<Index>(costs.size()));
  const auto lists = pairs_by_group(costs, groups, tie);
  if (lists.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const std::vector<Pair>& pairs : lists) {
    double right = 0;
    for (const Pair& pair : pairs) {
      const T high = scores(0, static_cast<Index>(pair.better));
      const T low = scores(0, static_cast<Index>(pair.worse));
      right += high > low ? 1 : high == low ? 0.5 : 0;
    }
    sum += right / static_cast<double>(pairs.size());
  }
  return sum / static_cast<double>(lists.size());
}

template <class T>
double match_increments(const ConstView<T>& predicted, const ConstView<T>& target, View<T> d_predicted,
                        const Increments& options) {
  assert(predicted.rows() == target.rows() && predicted.cols() == target.cols() && options.beta > 0);
  if (predicted.size() == 0) return 0;
  const double share = 1 / static_cast<double>(predicted.size());
  double sum = 0;
  for (Index column = 0; column < predicted.cols(); ++column) {
    for (Index row = 0; row < predicted.rows(); ++row) {
      const double e = static_cast<double>(predicted(row, column)) - static_cast<double>(target(row, column));
      const bool near = std::abs(e) < options.beta;
      sum += near ? e * e / (2 * options.beta) : std::abs(e) - options.beta / 2;
      d_predicted(row, column) +=
          static_cast<T>(options.weight * share * (near ? e / options.beta : std::copysign(1.0, e)));
    }
  }
  return sum * share;
}

template double rank_pairs<float>(const ScoredCosts<float>&, const Ranking&);
template double rank_pairs<double>(const ScoredCosts<double>&, const Ranking&);
template double pairwise_accuracy<float>(const ConstView<float>&, std::span<const double>,
                                         std::span<const std::int64_t>, double);
template double pairwise_accuracy<double>(const ConstView<double>&, std::span<const double>,
                                          std::span<const std::int64_t>, double);
template double match_increments<float>(const ConstView<float>&, const ConstView<float>&, View<float>,
                                        const Increments&);
template double match_increments<double>(const ConstView<double>&, const ConstView<double>&, View<double>,
                                         const Increments&);

}  // namespace fuselage::learn
