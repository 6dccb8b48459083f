#include "fuselage/learn/layer_norm.h"

#include <cmath>

namespace fuselage::learn {
namespace {

// Σ over rows, the rows' order fixed (dot against itself for squares needs no ones).
template <class T>
T sum(const T* values, Index n) {
  T total{0};
  for (Index row = 0; row < n; ++row) total += values[row];
  return total;
}

}  // namespace

template <class T>
LayerNorm<T>::LayerNorm(Parameters<T>& parameters, const std::string& name, Index rows)
    : scale_(parameters.add(name + ".scale", rows, 1)), shift_(parameters.add(name + ".shift", rows, 1)) {
  parameters.value(scale_).setOnes();
}

template <class T>
void LayerNorm<T>::forward(const Parameters<T>& parameters, const ConstView<T>& x, View<T> y,
                           LayerNormPass<T>& pass) const {
  const Index rows = x.rows();
  View<T> normal = pass.normal.shape(rows, x.cols());
  View<T> inverse = pass.inverse.shape(1, x.cols());
  const ConstView<T> scale = parameters.value(scale_);
  const ConstView<T> shift = parameters.value(shift_);
  for (Index column = 0; column < x.cols(); ++column) {
    T* const centred = normal.col(column).data();
    const T mean = sum(x.col(column).data(), rows) / static_cast<T>(rows);
    normal.col(column) = x.col(column).array() - mean;
    const T variance = dot<T>(centred, centred, rows) / static_cast<T>(rows);
    inverse(0, column) = T{1} / std::sqrt(variance + static_cast<T>(1e-5));
    normal.col(column) *= inverse(0, column);
    y.col(column) = normal.col(column).cwiseProduct(scale.col(0)) + shift.col(0);
  }
}

// With x̂ the normal and g the gradient that reaches it: (g − mean(g) − x̂ · mean(g · x̂)) / spread.
template <class T>
void LayerNorm<T>::backward(Parameters<T>& parameters, const LayerNormPass<T>& pass, View<T> gradient) const {
  const ConstView<T> normal = pass.normal.view();
  const ConstView<T> inverse = pass.inverse.view();
  const View<T> scale = parameters.value(scale_);
  const Index rows = gradient.rows();
  for (Index column = 0; column < gradient.cols(); ++column) {
    auto g = gradient.col(column);
    const auto hat = normal.col(column);
    parameters.gradient(scale_).col(0) += g.cwiseProduct(hat);
    parameters.gradient(shift_).col(0) += g;
    g = g.cwiseProduct(scale.col(0)).eval();
    const T mean = sum(g.data(), rows) / static_cast<T>(rows);
    const T along = dot<T>(g.data(), hat.data(), rows) / static_cast<T>(rows);
    g = ((g.array() - mean - hat.array() * along) * inverse(0, column)).eval();
  }
}

template class LayerNorm<float>;
template class LayerNorm<double>;

}  // namespace fuselage::learn
