#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fuselage/learn/losses.h"
#include "gradient_check.h"

namespace fuselage::learn {
namespace {

// Latents and their gradients, and the loss of a call on them.
struct Pairs {
  Matrix<double> predicted;
  Matrix<double> target;
  Matrix<double> d_predicted;
  Matrix<double> d_target;

  Pairs(Index d, Index n)
      : predicted(random_matrix(d, n, 1)), target(random_matrix(d, n, 2)), d_predicted(d, n), d_target(d, n) {
    d_predicted.setZero();
    d_target.setZero();
  }
  LatentPairs<double> view() {
    return {.predicted = predicted, .target = target, .d_predicted = d_predicted, .d_target = d_target};
  }
};

// Gradients of weight · loss(view, options); those of targets are zero if they are held.
template <class Options>
void check_states(double (*loss)(const LatentPairs<double>&, const Options&), Options options, Pairs pairs,
                  DifferenceStep step = {}) {
  options.weight = 0.7;
  for (const bool hold : {false, true}) {
    options.hold_targets = hold;
    Pairs at = pairs;
    loss(at.view(), options);
    Pairs probe = pairs;
    const auto f = [&] { return 0.7 * loss(probe.view(), options); };
    expect_gradient("predicted", numbers(probe.predicted), numbers(at.d_predicted), f, step);
    if (hold)
      EXPECT_EQ(at.d_target.norm(), 0);
    else
      expect_gradient("target", numbers(probe.target), numbers(at.d_target), f, step);
  }
}

TEST(LearnLosses, MatchingGradientsAndValue) {
  check_states<Matching>(match_states<double>, {}, Pairs(5, 4));
  Pairs pairs(2, 2);
  pairs.predicted << 1, 2, 3, 4;
  pairs.target << 1, 0, 0, 4;
  EXPECT_DOUBLE_EQ(match_states<double>(pairs.view(), {.weight = 5}), (4.0 + 9.0) / 4);
}

TEST(LearnLosses, GradientsAreAddedToWhatIsThere) {
  Pairs pairs(3, 2);
  match_states<double>(pairs.view(), {.hold_targets = false});
  const Matrix<double> once = pairs.d_predicted;
  match_states<double>(pairs.view(), {.weight = 2, .hold_targets = false});
  EXPECT_LT((pairs.d_predicted - 3 * once).norm(), 1e-15);
  EXPECT_LT((pairs.d_target + 3 * once).norm(), 1e-15);
}

TEST(LearnLosses, ContrastGradients) {
  const std::vector<std::int64_t> groups = {1, 2, 1, 1, 2, 7};
  const std::vector<std::int64_t> identities = {10, 11, 12, 10, 13, 14};
  check_states<Contrast>(contrast_states<double>, {.temperature = 0.5}, Pairs(5, 6));
  check_states<Contrast>(contrast_states<double>, {.temperature = 0.3, .groups = groups}, Pairs(5, 6));
  check_states<Contrast>(contrast_states<double>,
                         {.temperature = 0.3, .groups = groups, .identities = identities}, Pairs(5, 6));
}

TEST(LearnLosses, ContrastByTheFormula) {
  Pairs pairs(3, 3);
  const std::vector<std::int64_t> groups = {1, 1, 2};
  const auto s = [&](Index i, Index j) {
    return pairs.predicted.col(i).dot(pairs.target.col(j)) /
           (pairs.predicted.col(i).norm() * pairs.target.col(j).norm() * 0.2);
  };
  const double first = std::log(1 + std::exp(s(0, 1) - s(0, 0)));
  const double second = std::log(1 + std::exp(s(1, 0) - s(1, 1)));
  EXPECT_NEAR(contrast_states<double>(pairs.view(), {.temperature = 0.2, .groups = groups}),
              (first + second) / 3, 1e-12);
}

TEST(LearnLosses, ContrastDoesntOverflowAndKnowsTheSameState) {
  Pairs pairs(4, 5);
  pairs.target = pairs.predicted;
  EXPECT_NEAR(contrast_states<double>(pairs.view(), {.temperature = 1e-4}), 0, 1e-9);
  pairs.target.colwise() = Eigen::VectorXd(pairs.target.col(0));  // all one state
  EXPECT_NEAR(contrast_states<double>(pairs.view(), {}), std::log(5), 1e-12);
  const std::vector<std::int64_t> same(5, 3);
  EXPECT_NEAR(contrast_states<double>(pairs.view(), {.identities = same}), 0, 1e-12);
}

TEST(LearnLosses, AZeroLatentHasNoDirection) {
  Pairs pairs(4, 5);
  pairs.predicted.col(2).setZero();
  pairs.target.col(3).setZero();
  EXPECT_TRUE(std::isfinite(contrast_states<double>(pairs.view(), {})));
  EXPECT_EQ(pairs.d_predicted.col(2).norm(), 0);
  EXPECT_EQ(pairs.d_target.col(3).norm(), 0);
  EXPECT_LT(pairs.d_predicted.norm(), 100);
}

TEST(LearnLosses, RetrievalCountsNearestTargets) {
  Matrix<double> target = Matrix<double>::Identity(4, 4);
  Matrix<double> predicted = 3 * target;
  EXPECT_EQ(retrieval_rate<double>(predicted, target), 1);
  predicted.col(1) = target.col(2);
  EXPECT_EQ(retrieval_rate<double>(predicted, target), 0.75);
  const std::vector<std::int64_t> groups = {0, 1, 2, 3};
  EXPECT_EQ(retrieval_rate<double>(predicted, target, {.groups = groups}), 1);
  predicted.setOnes();  // ties are misses: a collapsed model finds nothing
  EXPECT_EQ(retrieval_rate<double>(predicted, Matrix<double>::Ones(4, 4)), 0);
}

TEST(LearnLosses, MarginGradientsAndValue) {
  const std::vector<std::int64_t> negatives = {1, 0, -1, 1};
  check_states<Margin>(separate_states<double>, {.margin = 2, .negatives = negatives}, Pairs(5, 4),
                       {.step = 1e-5});
  Pairs pairs(1, 2);
  pairs.predicted << 0, 5;
  pairs.target << 1, 3;
  const std::vector<std::int64_t> other = {1, 0};
  // 0: 4 + 1 − 9 < 0; 1: 4 + 4 − 16 < 0; with a margin of 10: 2 and −2.
  EXPECT_EQ(separate_states<double>(pairs.view(), {.margin = 4, .negatives = other}), 0);
  EXPECT_EQ(pairs.d_predicted.norm(), 0);
  EXPECT_EQ(separate_states<double>(pairs.view(), {.margin = 10, .negatives = other}), 1);
}

struct Scores {
  Matrix<double> scores;
  Matrix<double> d_scores;
  std::vector<double> costs;
  std::vector<std::int64_t> groups;

  ScoredCosts<double> view() {
    return {.scores = scores, .costs = costs, .groups = groups, .d_scores = d_scores};
  }
};

Scores some_scores() {
  return {.scores = random_matrix(1, 7, 4),
          .d_scores = Matrix<double>::Zero(1, 7),
          .costs = {3, 1, 2, 3, 5, 4, 9},
          .groups = {0, 8, 0, 0, 8, 8, 5}};
}

TEST(LearnLosses, RankingGradients) {
  Scores at = some_scores();
  rank_pairs(at.view(), {.weight = 0.7});
  EXPECT_EQ(at.d_scores(0, 6), 0);  // alone in its group
  Scores probe = some_scores();
  expect_gradient("scores", numbers(probe.scores), numbers(at.d_scores),
                  [&] { return 0.7 * rank_pairs(probe.view()); });
}

TEST(LearnLosses, RankingByTheFormula) {
  Scores s = some_scores();
  const auto pair = [&](Index better, Index worse) {
    return std::log(1 + std::exp(4 * (s.scores(0, worse) - s.scores(0, better))));
  };
  const double first = (pair(2, 0) + pair(2, 3)) / 2;  // 0 and 3 cost the same
  const double second = (pair(1, 4) + pair(1, 5) + pair(5, 4)) / 3;
  EXPECT_NEAR(rank_pairs(s.view()), (first + second) / 2, 1e-14);
}

TEST(LearnLosses, RankingSkipsTiesAndBearsInfinity) {
  Scores s = some_scores();
  s.costs.assign(7, 100);
  EXPECT_EQ(rank_pairs(s.view()), 0);
  s.costs[0] = 100 + 1e-9;
  EXPECT_EQ(rank_pairs(s.view()), 0);
  EXPECT_TRUE(std::isnan(pairwise_accuracy<double>(s.scores, s.costs, s.groups)));
  s.costs[0] = s.costs[1] = std::numeric_limits<double>::infinity();
  EXPECT_GT(rank_pairs(s.view()), 0);
  EXPECT_TRUE(std::isfinite(s.d_scores.sum()));
  s.scores *= 1e6;
  EXPECT_TRUE(std::isfinite(rank_pairs(s.view())));
}

TEST(LearnLosses, PairwiseAccuracy) {
  Scores s = some_scores();
  for (Index i = 0; i < 7; ++i) s.scores(0, i) = -s.costs[static_cast<std::size_t>(i)];
  EXPECT_EQ(pairwise_accuracy<double>(s.scores, s.costs, s.groups), 1);
  s.scores *= -1;
  EXPECT_EQ(pairwise_accuracy<double>(s.scores, s.costs, s.groups), 0);
  s.scores.setConstant(2);
  EXPECT_EQ(pairwise_accuracy<double>(s.scores, s.costs, s.groups), 0.5);
}

TEST(LearnLosses, IncrementGradientsAndValue) {
  Matrix<double> predicted = random_matrix(1, 9, 1, 2);
  const Matrix<double> target = random_matrix(1, 9, 2, 2);
  Matrix<double> gradient = Matrix<double>::Zero(1, 9);
  match_increments<double>(predicted, target, gradient, {.weight = 0.7, .beta = 0.8});
  Matrix<double> unused = gradient;
  expect_gradient("predicted", numbers(predicted), numbers(gradient),
                  [&] { return 0.7 * match_increments<double>(predicted, target, unused, {.beta = 0.8}); },
                  {.step = 1e-5});
  const Matrix<double> one = Matrix<double>::Constant(1, 2, 1);
  Matrix<double> two(1, 2);
  two << 1.5, 4;
  Matrix<double> d_two = Matrix<double>::Zero(1, 2);
  EXPECT_DOUBLE_EQ(match_increments<double>(two, one, d_two, {.beta = 2}), (0.25 / 4 + 3 - 1) / 2);
}

TEST(LearnLosses, NothingIsNoLoss) {
  Pairs none(3, 0);
  EXPECT_EQ(match_states<double>(none.view()), 0);
  EXPECT_EQ(contrast_states<double>(none.view()), 0);
  EXPECT_EQ(separate_states<double>(none.view(), {}), 0);
  Scores empty{.scores = Matrix<double>(1, 0), .d_scores = Matrix<double>(1, 0), .costs = {}, .groups = {}};
  EXPECT_EQ(rank_pairs(empty.view()), 0);
}

}  // namespace
}  // namespace fuselage::learn
