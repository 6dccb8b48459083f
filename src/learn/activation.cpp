#include "fuselage/learn/activation.h"

#include <cassert>

namespace fuselage::learn {

template <class T>
void activate(Activation f, View<T> x) {
  for (Index column = 0; column < x.cols(); ++column) {
    T* const values = x.col(column).data();
    if (f == Activation::relu)
      for (Index row = 0; row < x.rows(); ++row) values[row] = values[row] < T{0} ? T{0} : values[row];
    else
      for (Index row = 0; row < x.rows(); ++row) values[row] = hyperbolic_tangent(values[row]);
  }
}

template <class T>
void activate_backward(Activation f, const ConstView<T>& y, View<T> gradient) {
  assert(y.rows() == gradient.rows() && y.cols() == gradient.cols());
  for (Index column = 0; column < y.cols(); ++column) {
    const T* const values = y.col(column).data();
    T* const g = gradient.col(column).data();
    if (f == Activation::relu)
      for (Index row = 0; row < y.rows(); ++row) g[row] = values[row] > T{0} ? g[row] : T{0};
    else
      for (Index row = 0; row < y.rows(); ++row) g[row] *= T{1} - values[row] * values[row];
  }
}

template void activate<float>(Activation, View<float>);
template void activate<double>(Activation, View<double>);
template void activate_backward<float>(Activation, const ConstView<float>&, View<float>);
template void activate_backward<double>(Activation, const ConstView<double>&, View<double>);

}  // namespace fuselage::learn
