#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "error_of.h"
#include "fuselage/learn/adam.h"
#include "fuselage/learn/latent_spread.h"
#include "gradient_check.h"

namespace fuselage::learn {
namespace {

Parameters<double> two_numbers(double a, double b) {
  Parameters<double> parameters;
  parameters.add("a", 1, 1);
  parameters.add("b", 1, 1);
  parameters.values()[0] = a;
  parameters.values()[1] = b;
  return parameters;
}

void set_gradients(Parameters<double>& parameters, double a, double b) {
  parameters.gradients()[0] = a;
  parameters.gradients()[1] = b;
}

TEST(LearnAdam, StepsByTheFormula) {
  Parameters<double> parameters = two_numbers(1, -2);
  Adam<double> adam(parameters, {.rate = 0.1, .clip = 0});
  double m = 0;
  double v = 0;
  double w = 1;
  for (int t = 1; t <= 20; ++t) {
    const double g = std::sin(t) * 3;
    set_gradients(parameters, g, 5);
    adam.step(parameters);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    w -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(parameters.values()[0], w, 1e-12);
    EXPECT_NEAR(parameters.values()[1], -2 - 0.1 * t, 1e-7);  // a steady gradient: one rate a step
  }
  EXPECT_EQ(adam.steps(), 20);
  EXPECT_EQ(parameters.gradients()[0], 0);
}

TEST(LearnAdam, RateRisesAndFalls) {
  const Adam<double> adam(two_numbers(0, 0), {.rate = 8, .warm_up = 4, .total = 12});
  EXPECT_DOUBLE_EQ(adam.rate(0), 2);
  EXPECT_DOUBLE_EQ(adam.rate(3), 8);
  EXPECT_DOUBLE_EQ(adam.rate(4), 8);
  EXPECT_DOUBLE_EQ(adam.rate(8), 4);
  EXPECT_DOUBLE_EQ(adam.rate(11), 1);
  EXPECT_DOUBLE_EQ(adam.rate(12), 0);
  EXPECT_DOUBLE_EQ(adam.rate(100), 0);
  EXPECT_DOUBLE_EQ(Adam<double>(two_numbers(0, 0), {.rate = 8}).rate(1000), 8);
}

TEST(LearnAdam, LimitsTheNormOfAllGradientsTogether) {
  Parameters<double> parameters = two_numbers(0, 0);
  Adam<double> adam(parameters, {.clip = 1});
  set_gradients(parameters, 30, 40);
  EXPECT_DOUBLE_EQ(adam.step(parameters), 50);
  EXPECT_NEAR(adam.first_moments()[0], 0.1 * 0.6, 1e-15);
  EXPECT_NEAR(adam.first_moments()[1], 0.1 * 0.8, 1e-15);
  Adam<double> small(parameters, {.clip = 1});
  set_gradients(parameters, 0.3, 0.4);
  EXPECT_DOUBLE_EQ(small.step(parameters), 0.5);
  EXPECT_NEAR(small.first_moments()[0], 0.1 * 0.3, 1e-15);
}

TEST(LearnAdam, RefusesGradientsThatAreNoNumbers) {
  Parameters<double> parameters = two_numbers(1, 2);
  Adam<double> adam(parameters, {});
  set_gradients(parameters, 0.5, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(error_of([&] { adam.step(parameters); }),
            "training: step 0: a gradient of \"b\" is nan; expected a finite number");
  EXPECT_EQ(parameters.values()[0], 1);
  set_gradients(parameters, 1e200, 1);
  EXPECT_THAT(error_of([&] { adam.step(parameters); }), testing::HasSubstr("too large"));
}

TEST(LearnAdam, FindsTheLeastOfAParabola) {
  Parameters<float> parameters;
  parameters.add("x", 2, 1);
  Adam<float> adam(parameters, {.rate = 0.1, .warm_up = 10, .total = 400});
  for (int i = 0; i < 400; ++i) {
    parameters.gradients()[0] = 2 * (parameters.values()[0] - 3);
    parameters.gradients()[1] = 20 * (parameters.values()[1] + 1);
    adam.step(parameters);
  }
  EXPECT_NEAR(parameters.values()[0], 3, 1e-2);
  EXPECT_NEAR(parameters.values()[1], -1, 1e-2);
}

TEST(LearnSpread, CountsDirections) {
  const LatentSpread all = latent_spread<double>(random_matrix(8, 20000, 1));
  EXPECT_NEAR(all.effective_rank, 8, 0.01);
  EXPECT_NEAR(all.mean_deviation, std::sqrt(1.0 / 3), 0.01);
  const Matrix<double> plane = random_matrix(8, 2, 2) * random_matrix(2, 5000, 3);
  EXPECT_LT(latent_spread<double>(plane).effective_rank, 2.0001);
  EXPECT_GT(latent_spread<double>(plane).effective_rank, 1.2);
  Matrix<double> line = random_matrix(8, 1, 2) * random_matrix(1, 100, 3);
  line.colwise() += Eigen::VectorXd::Constant(8, 100);
  EXPECT_NEAR(latent_spread<double>(line).effective_rank, 1, 1e-6);
}

TEST(LearnSpread, DeviationsByTheFormula) {
  Matrix<float> latents(2, 4);
  latents << 1, 3, 1, 3, 5, 5, 5, 5;
  const LatentSpread spread = latent_spread<float>(latents);
  EXPECT_EQ(spread.deviations, (std::vector<double>{1, 0}));
  EXPECT_EQ(spread.mean_deviation, 0.5);
  EXPECT_NEAR(spread.effective_rank, 1, 1e-12);
}

TEST(LearnSpread, ACollapsedModelHasNone) {
  const Matrix<float> same = Matrix<float>::Constant(4, 10, 0.1F);
  EXPECT_EQ(latent_spread<float>(same).effective_rank, 0);
  EXPECT_LT(latent_spread<float>(same).mean_deviation, 1e-12);
  EXPECT_EQ(latent_spread<float>(same.leftCols(1)).effective_rank, 0);
  EXPECT_EQ(latent_spread<float>(same.leftCols(0)).mean_deviation, 0);
}

TEST(LearnSpread, RefusesLatentsThatAreNoNumbers) {
  Matrix<float> latents = Matrix<float>::Zero(2, 3);
  latents(1, 2) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(error_of([&] { latent_spread<float>(latents); }),
            "latents: row 1 of sample 2 is inf; expected a finite number");
}

}  // namespace
}  // namespace fuselage::learn
