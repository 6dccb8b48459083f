#include "fuselage/learn/linear.h"

namespace fuselage::learn {

template <class T>
Linear<T>::Linear(Parameters<T>& parameters, const std::string& name, Index in, Index out,
                  search::SplitMix& random)
    : weight_(parameters.add(name + ".weight", out, in)), bias_(parameters.add(name + ".bias", out, 1)) {
  fill_glorot<T>(parameters.value(weight_), random);
}

template <class T>
void Linear<T>::forward(const Parameters<T>& parameters, const ConstView<T>& x, View<T> y) const {
  multiply<T>(y, parameters.value(weight_), x);
  y.colwise() += parameters.value(bias_).col(0);
}

template <class T>
void Linear<T>::backward(Parameters<T>& parameters, const ConstView<T>& x, const ConstView<T>& d_y) const {
  add_outer<T>(parameters.gradient(weight_), d_y, x);
  add_columns<T>(parameters.gradient(bias_), d_y);
}

template <class T>
void Linear<T>::backward_input(const Parameters<T>& parameters, const ConstView<T>& d_y, View<T> d_x) const {
  multiply_transposed<T>(d_x, parameters.value(weight_), d_y);
}

template class Linear<float>;
template class Linear<double>;

}  // namespace fuselage::learn
