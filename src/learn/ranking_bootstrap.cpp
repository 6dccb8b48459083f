#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/learn/ranking_metrics.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::learn {
namespace {

// Sums over groups, from which the figures follow.
class Sums {
 public:
  void add(const GroupFigures& group) {
    ++groups_;
    sum_.pairwise += group.pairwise;
    sum_.tau += group.tau;
    sum_.regret += group.regret;
    sum_.ndcg_5 += group.ndcg_5;
    sum_.best += group.best;
    sum_.top_1 += group.top_1;
    sum_.top_5 += group.top_5;
  }
  PerRankMetric<double> figures() const {
    return {sum_.pairwise / groups_, sum_.tau / groups_,    sum_.best / sum_.top_1,
            sum_.best / sum_.top_5,  sum_.regret / groups_, sum_.ndcg_5 / groups_};
  }

 private:
  double groups_ = 0;
  GroupFigures sum_;
};

// Of sorted numbers, linear between two of them.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void check(const Bootstrap& options, std::size_t groups) {
  if (groups == 0) fail("groups: none has anything to rank; expected at least one with two different costs");
  if (options.resamples < 1)
    fail("options.resamples: {} is out of range; expected at least 1", options.resamples);
  if (!(options.confidence > 0 && options.confidence < 1))
    fail("options.confidence: {} is out of range; expected more than 0 and less than 1", options.confidence);
}

// `figures` adds up any choice of groups, given as a list of numbers 0 … groups − 1.
template <class Figures>
PerRankMetric<Estimate> resample(std::size_t groups, const Bootstrap& options, Figures figures) {
  check(options, groups);
  std::vector<std::size_t> chosen(groups);
  for (std::size_t i = 0; i < groups; ++i) chosen[i] = i;
  const PerRankMetric<double> values = figures(chosen);
  PerRankMetric<std::vector<double>> samples;
  search::SplitMix random(options.seed);
  for (int r = 0; r < options.resamples; ++r) {
    for (std::size_t& group : chosen) group = random.below(groups);
    const PerRankMetric<double> sample = figures(chosen);
    for (std::size_t m = 0; m < samples.size(); ++m) samples[m].push_back(sample[m]);
  }
  PerRankMetric<Estimate> estimates;
  for (std::size_t m = 0; m < samples.size(); ++m) {
    std::sort(samples[m].begin(), samples[m].end());
    const double outside = (1 - options.confidence) / 2;
    estimates[m] = {values[m], quantile(samples[m], outside), quantile(samples[m], 1 - outside)};
  }
  return estimates;
}

PerRankMetric<double> figures_of(std::span<const GroupFigures> groups, std::span<const std::size_t> chosen) {
  Sums sums;
  for (const std::size_t group : chosen) sums.add(groups[group]);
  return sums.figures();
}

}  // namespace

PerRankMetric<double> rank_figures(std::span<const GroupFigures> groups) {
  check({}, groups.size());
  Sums sums;
  for (const GroupFigures& group : groups) sums.add(group);
  return sums.figures();
}

PerRankMetric<Estimate> bootstrap(std::span<const GroupFigures> groups, const Bootstrap& options) {
  return resample(groups.size(), options,
                  [&](const std::vector<std::size_t>& chosen) { return figures_of(groups, chosen); });
}

PerRankMetric<Estimate> bootstrap_difference(std::span<const GroupFigures> a, std::span<const GroupFigures> b,
                                             const Bootstrap& options) {
  if (a.size() != b.size())
    fail("groups: {} of one ranker and {} of the other; expected the same groups", a.size(), b.size());
  return resample(a.size(), options, [&](const std::vector<std::size_t>& chosen) {
    PerRankMetric<double> difference = figures_of(a, chosen);
    const PerRankMetric<double> other = figures_of(b, chosen);
    for (std::size_t m = 0; m < difference.size(); ++m) difference[m] -= other[m];
    return difference;
  });
}

}  // namespace fuselage::learn
