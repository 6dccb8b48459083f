#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fuselage/learn/activation.h"
#include "fuselage/learn/losses.h"

namespace fuselage::learn {
namespace {

// Shorter vectors have no direction: they are zero to the cosine, and get no gradient.
constexpr double least_length = 1e-12;

template <class T>
struct Directions {
  Matrix<T> unit;         // columns of length 1
  std::vector<T> length;  // that they had

  explicit Directions(const ConstView<T>& x) : unit(x), length(static_cast<std::size_t>(x.cols())) {
    for (Index i = 0; i < x.cols(); ++i) {
      const T size = std::sqrt(dot<T>(x.col(i).data(), x.col(i).data(), x.rows()));
      length[static_cast<std::size_t>(i)] = size;
      unit.col(i) *= size > static_cast<T>(least_length) ? T{1} / size : T{0};
    }
  }

  // Adds to the gradient of x what the gradient of `unit` means.
  void add_gradient(const Matrix<T>& d_unit, View<T> d_x) const {
    for (Index i = 0; i < unit.cols(); ++i) {
      const T size = length[static_cast<std::size_t>(i)];
      if (!(size > static_cast<T>(least_length))) continue;
      const T along = dot<T>(unit.col(i).data(), d_unit.col(i).data(), unit.rows());
      d_x.col(i) += (d_unit.col(i) - along * unit.col(i)) / size;
    }
  }
};

bool counts(const Contrast& options, Index i, Index j) {
  const auto differ = [&](std::span<const std::int64_t> ids) {
    return ids[static_cast<std::size_t>(i)] != ids[static_cast<std::size_t>(j)];
  };
  if (i == j) return true;
  if (!options.groups.empty() && differ(options.groups)) return false;
  return options.identities.empty() || differ(options.identities);
}

[[maybe_unused]] bool fits(std::span<const std::int64_t> ids, Index n) {
  return ids.empty() || static_cast<Index>(ids.size()) == n;
}

// The cosines of all targets (rows) with all predictions (columns).
template <class T>
Matrix<T> cosines(const Directions<T>& predicted, const Directions<T>& target) {
  Matrix<T> result(target.unit.cols(), predicted.unit.cols());
  multiply_transposed<T>(result, target.unit, predicted.unit);
  return result;
}

// Column i of cosines becomes the gradient of prediction i's loss with respect to them, and the loss is
// returned.
template <class T>
double softmax_column(const Contrast& options, Index i, Matrix<T>& s) {
  const T inverse = static_cast<T>(1 / options.temperature);
  T largest = s(i, i) * inverse;
  for (Index j = 0; j < s.rows(); ++j)
    if (counts(options, i, j)) largest = std::max(largest, s(j, i) * inverse);
  const T own = s(i, i) * inverse - largest;
  double sum = 0;
  for (Index j = 0; j < s.rows(); ++j) {
    s(j, i) = counts(options, i, j) ? exponential(s(j, i) * inverse - largest) : T{0};
    sum += s(j, i);
  }
  s.col(i) *= static_cast<T>(1 / sum);
  s(i, i) -= T{1};
  s.col(i) *= inverse;
  return std::log(sum) - own;
}

template <class T>
double squared_distance(const ConstView<T>& a, Index i, const ConstView<T>& b, Index k) {
  double sum = 0;
  for (Index row = 0; row < a.rows(); ++row) {
    const double difference = a(row, i) - b(row, k);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

template <class T>
double match_states(const LatentPairs<T>& pairs, const Matching& options) {
  View<T> d_predicted = pairs.d_predicted;
  View<T> d_target = pairs.d_target;
  const Index n = pairs.predicted.cols();
  if (n == 0) return 0;
  const double share = 1 / static_cast<double>(n * pairs.predicted.rows());
  const T scale = static_cast<T>(2 * options.weight * share);
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    sum += squared_distance<T>(pairs.predicted, i, pairs.target, i);
    d_predicted.col(i) += scale * (pairs.predicted.col(i) - pairs.target.col(i));
    if (!options.hold_targets) d_target.col(i) -= scale * (pairs.predicted.col(i) - pairs.target.col(i));
  }
  return sum * share;
}

template <class T>
double contrast_states(const LatentPairs<T>& pairs, const Contrast& options) {
  const Index n = pairs.predicted.cols();
  assert(fits(options.groups, n) && fits(options.identities, n) && options.temperature > 0);
  if (n == 0) return 0;
  const Directions<T> predicted(pairs.predicted);
  const Directions<T> target(pairs.target);
  Matrix<T> s = cosines(predicted, target);
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += softmax_column(options, i, s);
  s *= static_cast<T>(options.weight / static_cast<double>(n));
  Matrix<T> d_unit(pairs.predicted.rows(), n);
  multiply<T>(d_unit, target.unit, s);
  predicted.add_gradient(d_unit, pairs.d_predicted);
  if (!options.hold_targets) {
    d_unit.setZero();
    add_outer<T>(d_unit, predicted.unit, s);
    target.add_gradient(d_unit, pairs.d_target);
  }
  return sum / static_cast<double>(n);
}

template <class T>
double retrieval_rate(const ConstView<T>& predicted, const ConstView<T>& target, const Contrast& options) {
  const Index n = predicted.cols();
  assert(fits(options.groups, n) && fits(options.identities, n));
  const Matrix<T> s = cosines(Directions<T>(predicted), Directions<T>(target));
  Index found = 0;
  for (Index i = 0; i < n; ++i) {
    bool nearest = true;
    for (Index j = 0; j < n; ++j) nearest &= j == i || !counts(options, i, j) || s(j, i) < s(i, i);
    found += nearest;
  }
  return n == 0 ? 0 : static_cast<double>(found) / static_cast<double>(n);
}

template <class T>
double separate_states(const LatentPairs<T>& pairs, const Margin& options) {
  View<T> d_predicted = pairs.d_predicted;
  View<T> d_target = pairs.d_target;
  const ConstView<T>& p = pairs.predicted;
  const ConstView<T>& t = pairs.target;
  assert(static_cast<Index>(options.negatives.size()) == p.cols());
  Index terms = 0;
  for (const std::int64_t k : options.negatives) terms += k >= 0;
  if (terms == 0) return 0;
  const double d = static_cast<double>(p.rows());
  const T scale = static_cast<T>(2 * options.weight / (d * static_cast<double>(terms)));
  double sum = 0;
  for (Index i = 0; i < p.cols(); ++i) {
    const Index k = options.negatives[static_cast<std::size_t>(i)];
    if (k < 0) continue;
    const double loss =
        options.margin + (squared_distance<T>(p, i, t, i) - squared_distance<T>(p, i, t, k)) / d;
    if (!(loss > 0)) continue;
    sum += loss;
    d_predicted.col(i) += scale * (t.col(k) - t.col(i));
    if (options.hold_targets) continue;
    d_target.col(i) -= scale * (p.col(i) - t.col(i));
    d_target.col(k) += scale * (p.col(i) - t.col(k));
  }
  return sum / static_cast<double>(terms);
}

template double match_states<float>(const LatentPairs<float>&, const Matching&);
template double match_states<double>(const LatentPairs<double>&, const Matching&);
template double contrast_states<float>(const LatentPairs<float>&, const Contrast&);
template double contrast_states<double>(const LatentPairs<double>&, const Contrast&);
template double retrieval_rate<float>(const ConstView<float>&, const ConstView<float>&, const Contrast&);
template double retrieval_rate<double>(const ConstView<double>&, const ConstView<double>&, const Contrast&);
template double separate_states<float>(const LatentPairs<float>&, const Margin&);
template double separate_states<double>(const LatentPairs<double>&, const Margin&);

}  // namespace fuselage::learn
