#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/learn/losses.h"
#include "fuselage/learn/scorer.h"
#include "gradient_check.h"

namespace fuselage::learn {
namespace {

ScorerShape small_shape(TransitionKind kind) {
  return {.features = 5, .embedding = {6, 4}, .transition = kind, .latent = 5, .hidden = 7, .head = {6, 5}};
}

class LearnScorers : public testing::TestWithParam<TransitionKind> {};

INSTANTIATE_TEST_SUITE_P(All, LearnScorers,
                         testing::Values(TransitionKind::transh, TransitionKind::residual,
                                         TransitionKind::gru, TransitionKind::still),
                         [](const auto& made) { return std::string(transition_name(made.param)); });

// Ranking, increments and a loss on latents at once, so that every way into the backward pass counts.
TEST_P(LearnScorers, GradientsOfTheWholeModel) {
  Parameters<double> parameters;
  search::SplitMix random(11);
  const Scorer<double> scorer(parameters, "scorer", small_shape(GetParam()), random);
  for (double& value : parameters.values()) value += 0.2 * (random.unit() - 0.5);
  const std::vector<int> lengths = {3, 1, 0, 4, 2, 4};
  const Packing packing(lengths);
  Matrix<double> start = random_matrix(5, 6, 1);
  Matrix<double> tokens = random_matrix(5, packing.tokens(), 2);
  const Matrix<double> increments = random_matrix(1, packing.tokens(), 3);
  const std::vector<double> costs = {3, 1, 2, 3, 5, 4};
  const std::vector<std::int64_t> groups = {0, 1, 0, 0, 1, 1};
  const Probe probe(5, packing.tokens(), 4);
  ScorerPass<double> pass;
  const auto f = [&] {
    scorer.forward(parameters, {.packing = &packing, .start = start, .tokens = tokens}, pass);
    return rank_pairs<double>(
               {.scores = pass.scores(), .costs = costs, .groups = groups, .d_scores = pass.d_scores()}) +
           match_increments<double>(pass.increments(), increments, pass.d_increments(), {.beta = 10}) +
           probe.value(pass.after());
  };
  f();
  pass.d_after() += probe.gradient(pass.after());
  scorer.backward(parameters, {.packing = &packing, .start = start, .tokens = tokens}, pass);
  Matrix<double> d_start = pass.d_start();
  expect_gradients(parameters, f, {.step = 1e-5});
  expect_gradient("start", numbers(start), numbers(d_start), f, {.step = 1e-5});
}

struct Request {
  Packing packing;
  Matrix<float> start;
  Matrix<float> tokens;

  Request(const std::vector<int>& lengths, Index d, Index features)
      : packing(lengths),
        start(random_matrix(d, packing.sequences(), 1).cast<float>()),
        tokens(random_matrix(features, packing.tokens(), 2).cast<float>()) {}
  ScorerBatch<float> batch() const { return {.packing = &packing, .start = start, .tokens = tokens}; }
};

std::vector<int> random_lengths(std::size_t count, std::uint64_t seed) {
  search::SplitMix random(seed);
  std::vector<int> lengths(count);
  for (int& length : lengths) length = static_cast<int>(random.below(9));
  return lengths;
}

TEST_P(LearnScorers, ScoringIsTheForwardPassBitForBit) {
  Parameters<float> parameters;
  search::SplitMix random(11);
  const Scorer<float> scorer(parameters, "scorer", {.transition = GetParam()}, random);
  const Request request(random_lengths(150, 3), 64, 36);
  ScorerPass<float> pass;
  scorer.forward(parameters, request.batch(), pass);
  Matrix<float> scores(1, 150);
  Matrix<float> last(64, 150);
  ScorerScratch<float> scratch;
  scorer.score(parameters, request.batch(), {.scores = scores, .last = last}, scratch);
  EXPECT_EQ(scores, pass.scores());
  for (Index i = 0; i < 150; ++i) {
    const Index length = request.packing.length(i);
    if (length == 0)
      EXPECT_EQ(last.col(i), request.start.col(i));
    else
      EXPECT_EQ(last.col(i), pass.after().col(request.packing.column(i, length - 1)));
  }
}

// A kernel's score may not depend on what else is in the batch, nor on where its schedule was cut.
TEST_P(LearnScorers, AScoreIsTheSameAloneAndInParts) {
  Parameters<float> parameters;
  search::SplitMix random(11);
  const Scorer<float> scorer(parameters, "scorer", {.transition = GetParam()}, random);
  const Request request({7, 2, 5, 9, 5}, 64, 36);
  Matrix<float> scores(1, 5);
  Matrix<float> last(64, 5);
  ScorerScratch<float> scratch;
  scorer.score(parameters, request.batch(), {.scores = scores, .last = last}, scratch);
  for (Index i = 0; i < 5; ++i) {
    Matrix<float> z = request.start.col(i);
    Matrix<float> increment(1, 1);
    float total = 0;
    for (Index step = 0; step < request.packing.length(i); ++step) {
      scorer.advance(parameters,
                     {.z = z,
                      .tokens = request.tokens.col(request.packing.column(i, step)),
                      .next = z,
                      .increments = increment},
                     scratch);
      total -= increment(0, 0);
    }
    EXPECT_EQ(total, scores(0, i));
    EXPECT_EQ(z, last.col(i));
  }
}

TEST(LearnScorer, ScoreIsMinusTheSumOfIncrements) {
  Parameters<double> parameters;
  search::SplitMix random(11);
  const Scorer<double> scorer(parameters, "scorer", small_shape(TransitionKind::gru), random);
  const std::vector<int> lengths = {3, 0, 2};
  const Packing packing(lengths);
  const Matrix<double> start = random_matrix(5, 3, 1);
  const Matrix<double> tokens = random_matrix(5, 5, 2);
  ScorerPass<double> pass;
  scorer.forward(parameters, {.packing = &packing, .start = start, .tokens = tokens}, pass);
  for (Index i = 0; i < 3; ++i) {
    double sum = 0;
    for (Index step = 0; step < packing.length(i); ++step)
      sum += pass.increments()(0, packing.column(i, step));
    EXPECT_NEAR(pass.scores()(0, i), -sum, 1e-14);
  }
  EXPECT_EQ(pass.scores()(0, 1), 0);
}

// The sizes of the published experiment: 36→64→64, GRU 64, 192→96→48→1.
TEST(LearnScorer, DefaultShape) {
  Parameters<float> parameters;
  search::SplitMix random(1);
  const Scorer<float> scorer(parameters, "scorer", {}, random);
  const std::size_t embedding = 36 * 64 + 64 + 64 * 64 + 64;
  const std::size_t gru = 192 * 64 + 192 + 192 * 64 + 64;
  const std::size_t head = 192 * 96 + 96 + 96 * 48 + 48 + 48 + 1;
  EXPECT_EQ(parameters.values().size(), embedding + gru + head);
  EXPECT_EQ(parameters.tensors().front().name, "scorer.embedding.0.weight");
  EXPECT_EQ(parameters.tensors().back().name, "scorer.head.2.bias");
}

TEST(LearnScorer, NothingToScore) {
  Parameters<float> parameters;
  search::SplitMix random(1);
  const Scorer<float> scorer(parameters, "scorer", {}, random);
  for (const std::vector<int>& lengths : {std::vector<int>{}, std::vector<int>{0, 0}}) {
    const Request request(lengths, 64, 36);
    ScorerPass<float> pass;
    scorer.forward(parameters, request.batch(), pass);
    scorer.backward(parameters, request.batch(), pass);
    EXPECT_EQ(pass.scores().cols(), request.packing.sequences());
    EXPECT_EQ(pass.scores().sum(), 0);
  }
}

}  // namespace
}  // namespace fuselage::learn
