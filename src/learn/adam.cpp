#include "fuselage/learn/adam.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "fuselage/core/error.h"

namespace fuselage::learn {
namespace {

// base^exponent by products alone: the same with every C library.
double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

template <class T>
double norm(std::span<const T> numbers) {
  double sum = 0;
  for (const T x : numbers) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum);
}

template <class T>
[[noreturn]] void refuse_gradient(const Parameters<T>& parameters, std::int64_t step) {
  for (const NamedSlice& tensor : parameters.tensors())
    for (const T x : parameters.gradients().subspan(tensor.slice.offset, tensor.slice.size()))
      if (!std::isfinite(x))
        fail("training: step {}: a gradient of \"{}\" is {}; expected a finite number", step, tensor.name, x);
  fail("training: step {}: the gradients are too large for their norm; expected a finite norm", step);
}

}  // namespace

template <class T>
Adam<T>::Adam(const Parameters<T>& parameters, const AdamOptions& options)
    : options_(options), first_(parameters.values().size()), second_(parameters.values().size()) {
  assert(options.total == 0 || options.warm_up < options.total);
}

template <class T>
double Adam<T>::rate(std::int64_t step) const {
  const auto part = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  if (step < options_.warm_up) return options_.rate * part(step + 1, options_.warm_up);
  if (options_.total == 0) return options_.rate;
  return options_.rate *
         part(std::max<std::int64_t>(options_.total - step, 0), options_.total - options_.warm_up);
}

// m = β₁ m + (1 − β₁) g, v = β₂ v + (1 − β₂) g², w −= rate · m / (1 − β₁ᵗ) / (√(v / (1 − β₂ᵗ)) + ε), t
// from 1. The root is the processor's: Eigen's is an approximation that differs between makers.
template <class T>
double Adam<T>::step(Parameters<T>& parameters) {
  const std::span<T> gradients = parameters.gradients();
  const std::span<T> values = parameters.values();
  assert(values.size() == first_.size());
  const double length = norm(std::span<const T>(gradients));
  if (!std::isfinite(length)) refuse_gradient(parameters, steps_);
  const double limit = options_.clip > 0 && length > options_.clip ? options_.clip / length : 1;
  const auto scale = static_cast<T>(limit);
  const auto beta1 = static_cast<T>(options_.beta1);
  const auto beta2 = static_cast<T>(options_.beta2);
  const auto rest1 = static_cast<T>(1 - options_.beta1);
  const auto rest2 = static_cast<T>(1 - options_.beta2);
  const auto pace = static_cast<T>(rate(steps_) / (1 - power(options_.beta1, steps_ + 1)));
  const auto spread = static_cast<T>(1 / std::sqrt(1 - power(options_.beta2, steps_ + 1)));
  const auto epsilon = static_cast<T>(options_.epsilon);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T g = gradients[i] * scale;
    first_[i] = beta1 * first_[i] + rest1 * g;
    second_[i] = beta2 * second_[i] + rest2 * g * g;
    values[i] -= pace * first_[i] / (std::sqrt(second_[i]) * spread + epsilon);
    gradients[i] = T{0};
  }
  ++steps_;
  return length;
}

template <class T>
void Adam<T>::restore(std::int64_t steps, std::span<const T> first, std::span<const T> second) {
  assert(steps >= 0 && first.size() == first_.size() && second.size() == second_.size());
  steps_ = steps;
  first_.assign(first.begin(), first.end());
  second_.assign(second.begin(), second.end());
}

template class Adam<float>;
template class Adam<double>;

}  // namespace fuselage::learn
