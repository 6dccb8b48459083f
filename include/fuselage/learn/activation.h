// The nonlinear functions. For float they are polynomials of plain arithmetic, written for the compiler to
// make eight of at once: a number's result depends neither on its place in a vector register nor on the
// machine or its C library. For double, where gradients are checked, they are the library's.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

// eˣ, of x within ±87 (beyond, of that); relative error below 2e-7. The argument is split into n·ln 2 and a
// rest within ±ln 2 / 2, whose series has seven terms; NaN stays NaN.
inline float exponential(float x) {
  const float size = std::abs(x);
  x = std::copysign(size > 87.0F ? 87.0F : size, x);  // one comparison: two in a row are not vectorized
  constexpr float to_integer = 12582912.0F;  // 1.5 · 2²³: adding it rounds to an integer in the low bits
  const float shifted = x * 1.44269504F + to_integer;
  const float n = shifted - to_integer;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;  // ln 2 in two parts, the first exact
  float series = 1.0F / 5040;
  series = series * r + 1.0F / 720;
  series = series * r + 1.0F / 120;
  series = series * r + 1.0F / 24;
  series = series * r + 1.0F / 6;
  series = series * r + 0.5F;
  series = series * r + 1.0F;
  series = series * r + 1.0F;
  const auto power = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(to_integer);
  return series * std::bit_cast<float>((power + 127) << 23);
}
inline double exponential(double x) {
  return std::exp(x);
}

// 1 / (1 + e⁻ˣ); error below 2e-7.
template <class T>
T sigmoid(T x) {
  return T{1} / (T{1} + exponential(-x));
}

// tanh; error below 3e-7 (absolute).
inline float hyperbolic_tangent(float x) {
  return 1.0F - 2.0F / (1.0F + exponential(2.0F * x));
}
inline double hyperbolic_tangent(double x) {
  return std::tanh(x);
}

enum class Activation { relu, tanh };

// x → f(x) in place; any shape.
template <class T>
void activate(Activation f, View<T> x);
// gradient with respect to f(x) → gradient with respect to x, in place, given y = f(x). At relu's kink it is
// 0.
template <class T>
void activate_backward(Activation f, const ConstView<T>& y, View<T> gradient);

}  // namespace fuselage::learn
