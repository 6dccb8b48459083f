// How well scores rank: the figures by which rankers are compared, and how sure one may be of them. A group
// is what is ranked at once, the schedules of one workload or the kernels of one state, with a true cost and
// a score for each; lower costs and higher scores are better. A group whose costs are all equal, such as a
// group of one, has nothing to rank and counts nowhere.
//
// No figure depends on the order of the rows. Equal scores are taken against the ranker where something is
// picked (the dearer row first), and as half right in a pair, so that a constant ranker gets no credit for
// data that came sorted.
//
//   pairwise  of the pairs with different costs, the share in the right order
//   tau       Kendall's tau-b, which corrects for ties (M. Kendall, "The treatment of ties in ranking
//   problems",
//             Biometrika 33, 1945); 0 if all scores are equal
//   top_k     Σ w·best / Σ w·(best of the k that score highest), over groups with weight w, say how often a
//             workload occurs (L. Zheng et al., "TenSet", NeurIPS datasets 2021)
//   regret    (cost of the one that scores highest − best) / best
//   ndcg_5    gain best/cost, discount log2(place + 1), of the first five over the best five (K. Järvelin,
//             J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20, 2002)
//
// pairwise, tau, regret and ndcg_5 are means over groups. Costs of different groups need not be comparable
// but for top_k, whose sums the dearer groups decide; give weights of 1/best to count all groups alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fuselage::learn {

// Costs and weights are within these, so that no product, ratio or sum of them leaves the doubles: every
// figure is finite.
inline constexpr double least_ranked = 1e-120;
inline constexpr double most_ranked = 1e120;

struct RankedGroup {
  std::span<const double> costs;   // from least_ranked to most_ranked
  std::span<const double> scores;  // as many, finite
  double weight = 1;               // from least_ranked to most_ranked
};

// What the figures of many groups are made from.
struct GroupFigures {
  double pairwise = 0;
  double tau = 0;
  double regret = 0;
  double ndcg_5 = 0;
  double best = 0;   // w·best
  double top_1 = 0;  // w·(cost of the one that scores highest)
  double top_5 = 0;  // w·(best of the five that score highest)
};

// O(n log n); none if there is nothing to rank. Error for numbers that are not as said above.
std::optional<GroupFigures> group_figures(const RankedGroup& group);

// Tau-b of two series of the same length, none if either has no two different values; O(n log n) (W. Knight,
// "A computer method for calculating Kendall's tau with ungrouped data", JASA 61, 1966). No NaN.
std::optional<double> kendall_tau_b(std::span<const double> x, std::span<const double> y);

enum class RankMetric { pairwise, tau, top_1, top_5, regret, ndcg_5 };
inline constexpr std::array<std::string_view, 6> rank_metric_names = {"pairwise", "tau",    "top_1",
                                                                      "top_5",    "regret", "ndcg_5"};
template <class T>
using PerRankMetric = std::array<T, rank_metric_names.size()>;  // by RankMetric

// Of at least one group.
PerRankMetric<double> rank_figures(std::span<const GroupFigures> groups);

struct Bootstrap {
  int resamples = 2000;  // >= 1
  std::uint64_t seed = 0;
  double confidence = 0.95;  // in (0, 1)
};

struct Estimate {
  double value = 0;  // of the groups as they are
  double low = 0;
  double high = 0;
};

// Percentile intervals over groups drawn with replacement (B. Efron, R. Tibshirani, "An introduction to the
// bootstrap", 1993, chapter 13): what other groups of the same kind would have given. Of at least one group;
// of a single one the interval is a point. The same for the same groups and options.
PerRankMetric<Estimate> bootstrap(std::span<const GroupFigures> groups, const Bootstrap& options = {});

// The same for the figures of a minus those of b, two rankers of the same groups in the same order: each
// resample draws the same groups for both, so that what makes a group hard for both cancels.
PerRankMetric<Estimate> bootstrap_difference(std::span<const GroupFigures> a, std::span<const GroupFigures> b,
                                             const Bootstrap& options = {});

}  // namespace fuselage::learn
