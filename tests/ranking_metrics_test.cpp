#include "fuselage/learn/ranking_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "error_of.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::learn {
namespace {

using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

// By definition, in O(n²).
struct Brute {
  double concordant = 0;
  double discordant = 0;
  double equal_costs = 0;
  double equal_scores = 0;
  double half_right = 0;  // different costs, equal scores
  double pairs = 0;

  Brute(const Numbers& costs, const Numbers& scores) {
    for (std::size_t i = 0; i < costs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        ++pairs;
        equal_costs += costs[i] == costs[j];
        equal_scores += scores[i] == scores[j];
        half_right += costs[i] != costs[j] && scores[i] == scores[j];
        concordant +=
            (costs[i] < costs[j] && scores[i] > scores[j]) || (costs[j] < costs[i] && scores[j] > scores[i]);
        discordant +=
            (costs[i] < costs[j] && scores[i] < scores[j]) || (costs[j] < costs[i] && scores[j] < scores[i]);
      }
  }
  double tau() const {
    return (concordant - discordant) / std::sqrt((pairs - equal_costs) * (pairs - equal_scores));
  }
  double pairwise() const { return (concordant + half_right / 2) / (pairs - equal_costs); }
};

// Costs by falling score, of equal scores the dearer first.
Numbers picked(const Numbers& costs, const Numbers& scores) {
  std::vector<std::pair<double, double>> rows;
  for (std::size_t i = 0; i < costs.size(); ++i) rows.emplace_back(-scores[i], -costs[i]);
  std::sort(rows.begin(), rows.end());
  Numbers result;
  for (const auto& row : rows) result.push_back(-row.second);
  return result;
}

double gain(const Numbers& costs) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, costs.size()); ++i)
    sum += 1 / costs[i] * std::log(2.0) / std::log(static_cast<double>(i + 2));
  return sum;
}

Numbers draw(search::SplitMix& random, std::size_t n, std::size_t values) {
  Numbers result(n);
  for (double& value : result) value = 1 + static_cast<double>(random.below(values));
  return result;
}

TEST(RankingMetrics, EqualTheDefinitions) {
  search::SplitMix random(1);
  int ranked = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t n = 1 + random.below(24);
    const Numbers costs = draw(random, n, 1 + random.below(12));
    const Numbers scores = draw(random, n, 1 + random.below(12));
    const Brute brute(costs, scores);
    const auto figures = group_figures({.costs = costs, .scores = scores, .weight = 2});
    const bool costs_differ = brute.equal_costs < brute.pairs;
    const bool scores_differ = brute.equal_scores < brute.pairs;
    ASSERT_EQ(figures.has_value(), costs_differ);
    ASSERT_EQ(kendall_tau_b(costs, scores).has_value(), costs_differ && scores_differ);
    if (costs_differ && scores_differ) {
      ASSERT_NEAR(*kendall_tau_b(costs, scores), -brute.tau(), 1e-12);
    }
    if (!figures) continue;
    ++ranked;
    ASSERT_NEAR(figures->tau, scores_differ ? brute.tau() : 0, 1e-12);
    ASSERT_NEAR(figures->pairwise, brute.pairwise(), 1e-12);
    const Numbers order = picked(costs, scores);
    Numbers ideal = costs;
    std::sort(ideal.begin(), ideal.end());
    ASSERT_EQ(figures->best, 2 * ideal[0]);
    ASSERT_EQ(figures->top_1, 2 * order[0]);
    ASSERT_EQ(figures->top_5,
              2 * *std::min_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(
                                                                       std::min<std::size_t>(5, n))));
    ASSERT_NEAR(figures->regret, order[0] / ideal[0] - 1, 1e-12);
    ASSERT_NEAR(figures->ndcg_5, gain(order) / gain(ideal), 1e-12);
  }
  EXPECT_GT(ranked, 1000);
}

TEST(RankingMetrics, PerfectAndReversedAreExact) {
  Numbers costs(777);
  std::iota(costs.begin(), costs.end(), 1.0);
  Numbers scores = costs;
  const GroupFigures reversed = *group_figures({.costs = costs, .scores = scores});
  EXPECT_EQ(reversed.tau, -1);
  EXPECT_EQ(reversed.pairwise, 0);
  EXPECT_EQ(reversed.regret, 776);
  EXPECT_EQ(reversed.top_5, 773);
  for (double& score : scores) score = -score;
  const GroupFigures perfect = *group_figures({.costs = costs, .scores = scores});
  EXPECT_EQ(perfect.tau, 1);
  EXPECT_EQ(perfect.pairwise, 1);
  EXPECT_EQ(perfect.regret, 0);
  EXPECT_EQ(perfect.ndcg_5, 1);
  EXPECT_EQ(perfect.top_1, 1);
}

TEST(RankingMetrics, TauOfAKnownExample) {
  // Eleven pairs of fifteen agree, three do not, one is tied in y.
  const Numbers x = {1, 2, 3, 4, 5, 6};
  const Numbers y = {1, 3, 2, 5, 5, 4};
  EXPECT_DOUBLE_EQ(*kendall_tau_b(x, y), (11.0 - 3.0) / std::sqrt(15.0 * 14.0));
  EXPECT_FALSE(kendall_tau_b(Numbers{1, 1, 1}, Numbers{1, 2, 3}));
  EXPECT_FALSE(kendall_tau_b(Numbers{1, 2, 3}, Numbers{1, 1, 1}));
  EXPECT_FALSE(kendall_tau_b(Numbers{1}, Numbers{1}));
  EXPECT_FALSE(kendall_tau_b({}, {}));
}

TEST(RankingMetrics, AConstantRankerGetsNoCredit) {
  const Numbers costs = {1, 2, 4};
  const GroupFigures figures = *group_figures({.costs = costs, .scores = Numbers{7, 7, 7}});
  EXPECT_EQ(figures.pairwise, 0.5);
  EXPECT_EQ(figures.tau, 0);
  EXPECT_EQ(figures.top_1, 4);
  EXPECT_EQ(figures.regret, 3);
  EXPECT_EQ(figures.top_5, 1);  // there are but three
}

TEST(RankingMetrics, NothingToRank) {
  EXPECT_FALSE(group_figures({}));
  EXPECT_FALSE(group_figures({.costs = Numbers{3}, .scores = Numbers{1}}));
  EXPECT_FALSE(group_figures({.costs = Numbers{3, 3, 3}, .scores = Numbers{1, 2, 3}}));
}

TEST(RankingMetrics, LargeGroupsAreQuickAndDoNotOverflow) {
  search::SplitMix random(2);
  constexpr std::size_t n = 300'000;
  const Numbers costs = draw(random, n, 1'000'000);
  const GroupFigures figures = *group_figures({.costs = costs, .scores = draw(random, n, 1'000'000)});
  EXPECT_NEAR(figures.tau, 0, 0.01);
  EXPECT_NEAR(figures.pairwise, 0.5, 0.01);
}

TEST(RankingMetrics, RefusesNumbersThatAreNone) {
  const auto refused = [](const Numbers& costs, const Numbers& scores, double weight = 1) {
    return error_of([&] { group_figures({.costs = costs, .scores = scores, .weight = weight}); });
  };
  EXPECT_EQ(refused({1, 2}, {1, nan}), "scores[1]: nan is not finite; expected a number");
  EXPECT_EQ(refused({1, 2}, {-INFINITY, 1}), "scores[0]: -inf is not finite; expected a number");
  EXPECT_EQ(refused({1, nan}, {1, 1}), "costs[1]: nan is out of range; expected a finite number > 0");
  EXPECT_EQ(refused({0, 1}, {1, 1}), "costs[0]: 0 is out of range; expected a finite number > 0");
  EXPECT_EQ(refused({1, INFINITY}, {1, 1}), "costs[1]: inf is out of range; expected a finite number > 0");
  EXPECT_EQ(refused({1, 2}, {1}), "scores: there are 1; expected 2, one a cost");
  EXPECT_EQ(refused({1, 2}, {1, 2}, 0), "weight: 0 is out of range; expected a finite number > 0");
}

std::vector<GroupFigures> groups_of(std::uint64_t seed, std::size_t count, double noise) {
  search::SplitMix random(seed);
  std::vector<GroupFigures> groups;
  for (std::size_t g = 0; g < count; ++g) {
    Numbers costs;
    Numbers scores;
    const double difficulty = random.unit();
    for (int i = 0; i < 12; ++i) {
      costs.push_back(1 + random.unit());
      scores.push_back(-costs.back() + (noise + difficulty) * random.unit());
    }
    groups.push_back(
        *group_figures({.costs = costs, .scores = scores, .weight = 1 + static_cast<double>(g % 3)}));
  }
  return groups;
}

TEST(RankingMetrics, FiguresOfManyGroups) {
  const Numbers first = {10, 20};
  const Numbers second = {300, 200, 400};
  const std::vector<GroupFigures> groups = {
      *group_figures({.costs = first, .scores = Numbers{1, 2}, .weight = 3}),
      *group_figures({.costs = second, .scores = Numbers{2, 3, 1}})};
  const PerRankMetric<double> figures = rank_figures(groups);
  const auto figure = [&](RankMetric metric) { return figures[static_cast<std::size_t>(metric)]; };
  EXPECT_DOUBLE_EQ(figure(RankMetric::pairwise), 0.5);
  EXPECT_DOUBLE_EQ(figure(RankMetric::tau), 0);
  EXPECT_DOUBLE_EQ(figure(RankMetric::top_1), (3 * 10 + 200.0) / (3 * 20 + 200.0));
  EXPECT_DOUBLE_EQ(figure(RankMetric::top_5), 1);
  EXPECT_DOUBLE_EQ(figure(RankMetric::regret), 0.5);
  EXPECT_THAT(error_of([] { rank_figures({}); }), HasSubstr("groups: none has anything to rank"));
}

TEST(RankingMetrics, IntervalsHoldTheValueAndFollowTheSeed) {
  const std::vector<GroupFigures> groups = groups_of(1, 60, 0.2);
  const auto once = bootstrap(groups, {.seed = 3});
  const auto again = bootstrap(groups, {.seed = 3});
  const auto other = bootstrap(groups, {.seed = 4});
  const auto wide = bootstrap(groups, {.seed = 3, .confidence = 0.99});
  const PerRankMetric<double> values = rank_figures(groups);
  for (std::size_t m = 0; m < values.size(); ++m) {
    EXPECT_EQ(once[m].value, values[m]) << rank_metric_names[m];
    EXPECT_LE(once[m].low, values[m]) << rank_metric_names[m];
    EXPECT_GE(once[m].high, values[m]) << rank_metric_names[m];
    EXPECT_EQ(once[m].low, again[m].low);
    EXPECT_EQ(once[m].high, again[m].high);
    EXPECT_LE(wide[m].low, once[m].low);
    EXPECT_GE(wide[m].high, once[m].high);
  }
  EXPECT_NE(once[0].low, other[0].low);
  const auto point = bootstrap(std::span(groups).first(1));
  EXPECT_EQ(point[0].low, point[0].value);
  EXPECT_EQ(point[0].high, point[0].value);
}

// The width is that of the normal approximation, 2 · 1.96 standard errors of a mean.
TEST(RankingMetrics, IntervalsAreAsWideAsTheyShould) {
  const std::vector<GroupFigures> groups = groups_of(2, 200, 0.3);
  double sum = 0;
  double squares = 0;
  for (const GroupFigures& group : groups) {
    sum += group.pairwise;
    squares += group.pairwise * group.pairwise;
  }
  const double mean = sum / 200;
  const double error = std::sqrt((squares / 200 - mean * mean) / 200);
  const Estimate estimate = bootstrap(groups, {.resamples = 5000})[0];
  EXPECT_NEAR(estimate.high - estimate.low, 2 * 1.96 * error, 0.2 * error);
}

TEST(RankingMetrics, PairedDifferencesCancelWhatGroupsShare) {
  const std::vector<GroupFigures> good = groups_of(5, 80, 0.1);
  const std::vector<GroupFigures> bad = groups_of(5, 80, 0.5);
  const auto difference = bootstrap_difference(good, bad);
  const auto a = bootstrap(good);
  const auto b = bootstrap(bad);
  EXPECT_EQ(difference[0].value, a[0].value - b[0].value);
  EXPECT_GT(difference[0].low, 0);
  EXPECT_LT(difference[0].high - difference[0].low, (a[0].high - a[0].low + b[0].high - b[0].low) / 2);
  for (const Estimate& none : bootstrap_difference(good, good)) {
    EXPECT_EQ(none.low, 0);
    EXPECT_EQ(none.high, 0);
  }
  EXPECT_THAT(error_of([&] { bootstrap_difference(good, std::span(bad).first(79)); }),
              HasSubstr("groups: 80 of one ranker and 79 of the other"));
  EXPECT_THAT(error_of([&] { bootstrap(good, {.resamples = 0}); }), HasSubstr("options.resamples: 0"));
  EXPECT_THAT(error_of([&] { bootstrap(good, {.confidence = 1}); }), HasSubstr("options.confidence: 1"));
  EXPECT_THAT(error_of([&] { bootstrap({}, {}); }), HasSubstr("groups: none has anything to rank"));
}

}  // namespace
}  // namespace fuselage::learn
