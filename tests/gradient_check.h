// Compares hand-written gradients with finite differences, in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fuselage/learn/parameters.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::learn {

inline Matrix<double> random_matrix(Index rows, Index columns, std::uint64_t seed, double size = 1) {
  search::SplitMix random(seed);
  Matrix<double> m(rows, columns);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = size * (2 * random.unit() - 1);
  return m;
}

// `step`: small where the function has kinks, which must not lie within two steps of where it is asked.
struct DifferenceStep {
  double step = 3e-4;
};

// df/dx at x by the five-point formula, whose error is of the order of step⁴.
inline double difference_quotient(const std::function<double()>& f, double& x, double step) {
  const double at = x;
  const auto value = [&](double offset) {
    x = at + offset * step;
    return f();
  };
  const double quotient = (8 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * step);
  x = at;
  return quotient;
}

// `gradient` is f's with respect to `values`, all of which f reads. The largest error counts against the
// number's own size, and for numbers below a thousandth of the largest against that.
inline void expect_gradient(const std::string& what, std::span<double> values,
                            std::span<const double> gradient, const std::function<double()>& f,
                            DifferenceStep options = {}) {
  ASSERT_EQ(values.size(), gradient.size()) << what;
  std::vector<double> quotient;
  double largest = 0;
  for (double& value : values) {
    quotient.push_back(difference_quotient(f, value, options.step));
    largest = std::max(largest, std::abs(quotient.back()));
  }
  EXPECT_GT(largest, 0) << what << ": f doesn't depend on it";
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size = std::max(std::abs(quotient[i]), 1e-3 * largest);
    EXPECT_LE(std::abs(gradient[i] - quotient[i]), 1e-6 * size)
        << what << "[" << i << "]: " << gradient[i] << " should be " << quotient[i];
  }
}

inline std::span<double> numbers(Matrix<double>& m) {
  return {m.data(), static_cast<std::size_t>(m.size())};
}

// Every tensor of the store, whose gradients are those of f.
inline void expect_gradients(Parameters<double>& parameters, const std::function<double()>& f,
                             DifferenceStep options = {}) {
  for (const NamedSlice& tensor : parameters.tensors())
    expect_gradient(
        tensor.name, parameters.values().subspan(tensor.slice.offset, tensor.slice.size()),
        std::span<const double>(parameters.gradients()).subspan(tensor.slice.offset, tensor.slice.size()), f,
        options);
}

// A smooth function of y that treats all its numbers differently, so that a gradient in the wrong place
// shows: Σ w y + y² / 2 with random weights, and its gradient.
struct Probe {
  Matrix<double> weight;

  Probe(Index rows, Index columns, std::uint64_t seed) : weight(random_matrix(rows, columns, seed)) {}
  double value(const ConstView<double>& y) const {
    return (weight.array() * y.array() + y.array().square() / 2).sum();
  }
  Matrix<double> gradient(const ConstView<double>& y) const { return weight + y; }
};

}  // namespace fuselage::learn
