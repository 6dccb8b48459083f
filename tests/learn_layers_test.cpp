#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "fuselage/learn/activation.h"
#include "fuselage/learn/layer_norm.h"
#include "fuselage/learn/linear.h"
#include "fuselage/learn/matrix.h"
#include "fuselage/learn/mlp.h"
#include "fuselage/learn/parameters.h"
#include "gradient_check.h"

namespace fuselage::learn {
namespace {

Matrix<float> random_floats(Index rows, Index columns, std::uint64_t seed) {
  return random_matrix(rows, columns, seed).cast<float>();
}

// Sizes below, at and above the pieces that products are cut into.
TEST(LearnMatrix, ProductsAreSumsOverTheDepth) {
  for (const auto& [m, k, n] : {std::array<Index, 3>{1, 1, 1}, {3, 300, 2}, {130, 7, 5}, {5, 600, 140}}) {
    const Matrix<double> a = random_matrix(m, k, 1);
    const Matrix<double> b = random_matrix(k, n, 2);
    Matrix<double> expected = Matrix<double>::Zero(m, n);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index l = 0; l < k; ++l) expected(i, j) += a(i, l) * b(l, j);
    Matrix<double> out = Matrix<double>::Constant(m, n, 7);
    multiply<double>(out, a, b);
    EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-12);
    const Matrix<double> a_turned = a.transpose();
    multiply_transposed<double>(out, a_turned, b);
    EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-12);
    const Matrix<double> b_turned = b.transpose();
    out.setConstant(7);
    add_outer<double>(out, a, b_turned);
    EXPECT_LT(((out - expected).array() - 7).abs().maxCoeff(), 1e-12);
  }
}

// What scores a kernel may depend neither on which others are asked about along with it nor on where they
// lie.
TEST(LearnMatrix, AColumnIsTheSameInAnyBatch) {
  for (const auto& [m, k] : {std::array<Index, 2>{64, 36},
                             {192, 64},
                             {128, 64},
                             {96, 192},
                             {1, 48},
                             {7, 300},
                             {1, 1},
                             {3, 2},
                             {9, 6},
                             {12, 5},
                             {8, 8},
                             {1, 15},
                             {8, 40},
                             {121, 9}}) {
    const Matrix<float> a = random_floats(m, k, 1);
    const Matrix<float> b = random_floats(k, 300, 2);
    Matrix<float> all(m, 300);
    multiply<float>(all, a, b);
    for (const Index first : {0, 1, 2, 133}) {
      for (Index width = 1; first + width <= 300; width += width < 12 ? 1 : 37) {
        Matrix<float> some(m + 5, width);
        View<float> out = some.middleRows(width % 5, m);
        multiply<float>(out, a, b.middleCols(first, width));
        ASSERT_TRUE((out.array() == all.middleCols(first, width).array()).all())
            << m << " x " << k << ", columns " << first << " + " << width;
      }
    }
  }
}

TEST(LearnMatrix, AddressesDontMatter) {
  for (const auto& [m, k, n] :
       {std::array<Index, 3>{3, 4, 5}, {9, 7, 13}, {33, 21, 6}, {64, 64, 1}, {1, 30, 9}}) {
    const Matrix<float> a = random_floats(m, k, 1);
    const Matrix<float> b = random_floats(n, k, 2);
    Matrix<float> here = Matrix<float>::Zero(m, n);
    add_outer<float>(here, a, b);
    const float product = dot<float>(a.data(), a.data(), m);
    for (Index offset = 1; offset < 8; ++offset) {
      Matrix<float> a_there(m + 8, k);
      Matrix<float> b_there(n + 8, k);
      Matrix<float> there = Matrix<float>::Zero(m + 8, n);
      a_there.middleRows(offset, m) = a;
      b_there.middleRows(offset, n) = b;
      add_outer<float>(there.middleRows(8 - offset, m), a_there.middleRows(offset, m),
                       b_there.middleRows(offset, n));
      EXPECT_TRUE((there.middleRows(8 - offset, m).array() == here.array()).all()) << m << " " << offset;
      EXPECT_EQ(dot<float>(a_there.data() + offset, a.data(), m), product);
    }
  }
}

// Eigen cuts products by the caches it finds.
TEST(LearnMatrix, CachesDontMatter) {
  const Matrix<float> a = random_floats(192, 1000, 1);
  const Matrix<float> b = random_floats(1000, 200, 2);
  Matrix<float> here(192, 200);
  Matrix<float> there(192, 200);
  multiply<float>(here, a, b);
  const std::array<std::ptrdiff_t, 3> caches = {Eigen::l1CacheSize(), Eigen::l2CacheSize(),
                                                Eigen::l3CacheSize()};
  for (const auto& [l1, l2, l3] : {std::array<int, 3>{32, 256, 256}, {48, 2048, 1 << 18}, {64, 512, 4096}}) {
    Eigen::setCpuCacheSizes(l1 << 10, l2 << 10, l3 << 10);
    multiply<float>(there, a, b);
    EXPECT_EQ(here, there) << l1 << " KiB";
  }
  Eigen::setCpuCacheSizes(caches[0], caches[1], caches[2]);
}

TEST(LearnMatrix, DotAndColumnSums) {
  for (const Index n : {0, 1, 7, 8, 9, 64, 67}) {
    const Matrix<double> a = random_matrix(n, 2, 3);
    double expected = 0;
    for (Index i = 0; i < n; ++i) expected += a(i, 0) * a(i, 1);
    EXPECT_NEAR(dot<double>(a.data(), a.data() + n, n), expected, 1e-13);
  }
  Matrix<double> sums = Matrix<double>::Constant(3, 1, 1);
  Matrix<double> a(3, 2);
  a << 1, 2, 3, 4, 5, 6;
  add_columns<double>(sums, a);
  EXPECT_EQ(sums, (Matrix<double>(3, 1) << 4, 8, 12).finished());
}

TEST(LearnMatrix, ABufferKeepsItsMemory) {
  Buffer<float> buffer;
  const float* const memory = buffer.shape(8, 100).data();
  EXPECT_EQ(buffer.shape(3, 5).data(), memory);
  EXPECT_EQ(buffer.view().cols(), 5);
  EXPECT_EQ(buffer.shape(100, 8).data(), memory);
}

TEST(LearnParameters, AreOneFlatArray) {
  Parameters<float> parameters;
  const Slice a = parameters.add("a", 2, 3);
  const Slice b = parameters.add("b", 4, 1);
  EXPECT_EQ(parameters.values().size(), 10U);
  parameters.value(b)(3, 0) = 5;
  EXPECT_EQ(parameters.values()[9], 5);
  parameters.gradient(a)(1, 2) = 2;
  EXPECT_EQ(parameters.gradients()[5], 2);
  parameters.clear_gradients();
  EXPECT_EQ(parameters.gradients()[5], 0);
  EXPECT_EQ(parameters.tensors()[1].name, "b");
}

TEST(LearnParameters, GlorotIsTheSameForASeedAndWithinItsLimit) {
  Matrix<float> a(30, 20);
  Matrix<float> b(30, 20);
  search::SplitMix one(1);
  search::SplitMix other(1);
  fill_glorot<float>(a, one);
  fill_glorot<float>(b, other);
  EXPECT_EQ(a, b);
  const double limit = std::sqrt(6.0 / 50);
  EXPECT_LE(a.cwiseAbs().maxCoeff(), limit);
  EXPECT_GT(a.cwiseAbs().maxCoeff(), 0.98 * limit);
  EXPECT_LT(std::abs(a.mean()), 0.05 * limit);
}

TEST(LearnActivation, FloatFunctionsAreCloseToTheLibrary) {
  for (int i = -9000; i <= 9000; ++i) {
    const float x = static_cast<float>(i) * 0.00966F;
    const double exact = x;
    EXPECT_NEAR(exponential(x) / std::exp(exact), 1, 2e-7) << x;
    EXPECT_NEAR(sigmoid(x), 1 / (1 + std::exp(-exact)), 2e-7) << x;
    EXPECT_NEAR(hyperbolic_tangent(x), std::tanh(exact), 3e-7) << x;
  }
}

TEST(LearnActivation, ExtremesSaturateAndNanStays) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {1e4F, 1e30F, infinity}) {
    EXPECT_EQ(hyperbolic_tangent(x), 1.0F);
    EXPECT_EQ(hyperbolic_tangent(-x), -1.0F);
    EXPECT_EQ(sigmoid(x), 1.0F);
    EXPECT_NEAR(sigmoid(-x), 0.0F, 1e-30);
  }
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(std::nanf(""))));
  EXPECT_TRUE(std::isnan(sigmoid(std::nanf(""))));
  Matrix<float> m = Matrix<float>::Constant(9, 1, std::nanf(""));
  activate<float>(Activation::relu, m);
  EXPECT_TRUE(std::isnan(m(8, 0)));
}

// The same number in every place of a vector register and in the rest after the last full one.
TEST(LearnActivation, PlaceDoesntMatter) {
  for (const Activation f : {Activation::relu, Activation::tanh}) {
    Matrix<float> m = Matrix<float>::Constant(29, 3, 0.731F);
    activate<float>(f, m);
    EXPECT_TRUE((m.array() == m(0, 0)).all());
  }
}

TEST(LearnLayers, LinearGradients) {
  Parameters<double> parameters;
  search::SplitMix random(1);
  const Linear<double> layer(parameters, "layer", 5, 3, random);
  parameters.values()[15] = 0.3;  // of the bias, which starts at zero
  Matrix<double> x = random_matrix(5, 4, 2);
  Matrix<double> y(3, 4);
  const Probe probe(3, 4, 3);
  const auto f = [&] {
    layer.forward(parameters, x, y);
    return probe.value(y);
  };
  f();
  const Matrix<double> d_y = probe.gradient(y);
  Matrix<double> d_x(5, 4);
  layer.backward(parameters, x, d_y);
  layer.backward_input(parameters, d_y, d_x);
  expect_gradients(parameters, f);
  expect_gradient("x", numbers(x), numbers(d_x), f);
}

TEST(LearnLayers, BackwardAddsUp) {
  Parameters<double> parameters;
  search::SplitMix random(1);
  const Linear<double> layer(parameters, "layer", 2, 2, random);
  const Matrix<double> x = random_matrix(2, 3, 2);
  const Matrix<double> d_y = random_matrix(2, 3, 3);
  layer.backward(parameters, x, d_y);
  const std::vector<double> once(parameters.gradients().begin(), parameters.gradients().end());
  layer.backward(parameters, x, d_y);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(parameters.gradients()[i], 2 * once[i], 1e-14);
}

TEST(LearnLayers, LayerNormGradients) {
  Parameters<double> parameters;
  const LayerNorm<double> layer(parameters, "norm", 6);
  const Matrix<double> start = random_matrix(12, 1, 1);
  std::copy(start.data(), start.data() + 12, parameters.values().begin());
  Matrix<double> x = random_matrix(6, 4, 2);
  Matrix<double> y(6, 4);
  LayerNormPass<double> pass;
  const Probe probe(6, 4, 3);
  const auto f = [&] {
    layer.forward(parameters, x, y, pass);
    return probe.value(y);
  };
  f();
  Matrix<double> gradient = probe.gradient(y);
  layer.backward(parameters, pass, gradient);
  expect_gradients(parameters, f);
  expect_gradient("x", numbers(x), numbers(gradient), f);
}

TEST(LearnLayers, LayerNormForgetsSizeAndPlace) {
  Parameters<double> parameters;
  const LayerNorm<double> layer(parameters, "norm", 6);
  const Matrix<double> x = random_matrix(6, 1, 1);
  Matrix<double> y(6, 1);
  Matrix<double> z(6, 1);
  LayerNormPass<double> pass;
  layer.forward(parameters, x, y, pass);
  layer.forward(parameters, (1000 * x.array() + 50).matrix(), z, pass);
  EXPECT_NEAR(y.mean(), 0, 1e-14);
  EXPECT_NEAR(y.squaredNorm() / 6, 1, 1e-3);
  EXPECT_LT((y - z).cwiseAbs().maxCoeff(), 1e-3);
}

void check_mlp(const MlpShape& shape, DifferenceStep step) {
  Parameters<double> parameters;
  search::SplitMix random(5);
  const Mlp<double> mlp(parameters, "mlp", shape, random);
  for (double& value : parameters.values()) value += 0.2 * (random.unit() - 0.5);
  Matrix<double> x = random_matrix(mlp.in(), 5, 2);
  MlpPass<double> pass;
  const Probe probe(mlp.out(), 5, 3);
  const auto f = [&] { return probe.value(mlp.forward(parameters, x, pass)); };
  f();
  const Matrix<double> d_y = probe.gradient(pass.outputs.back().view());
  Matrix<double> d_x(mlp.in(), 5);
  mlp.backward(parameters, x, d_y, pass);
  mlp.backward_input(parameters, pass, d_x);
  expect_gradients(parameters, f, step);
  expect_gradient("x", numbers(x), numbers(d_x), f, step);
}

TEST(LearnLayers, MlpGradients) {
  check_mlp({.widths = {4, 7, 6, 3}, .activation = Activation::tanh}, {});
  check_mlp({.widths = {4, 7, 6, 3}, .activation = Activation::tanh, .activate_last = true}, {});
  check_mlp({.widths = {4, 7, 6, 3}, .activation = Activation::relu}, {.step = 1e-6});
  check_mlp({.widths = {4, 7, 3}, .activation = Activation::relu, .activate_last = true}, {.step = 1e-6});
  check_mlp({.widths = {4, 3}}, {});
}

TEST(LearnLayers, NamesSayWhereATensorBelongs) {
  Parameters<float> parameters;
  search::SplitMix random(1);
  const Mlp<float> mlp(parameters, "head", {.widths = {4, 3, 1}}, random);
  std::vector<std::string> names;
  for (const NamedSlice& tensor : parameters.tensors()) names.push_back(tensor.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"head.0.weight", "head.0.bias", "head.1.weight", "head.1.bias"}));
}

}  // namespace
}  // namespace fuselage::learn
