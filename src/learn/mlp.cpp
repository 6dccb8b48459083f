#include "fuselage/learn/mlp.h"

#include <cassert>
#include <cstddef>

namespace fuselage::learn {

template <class T>
Mlp<T>::Mlp(Parameters<T>& parameters, const std::string& name, const MlpShape& shape,
            search::SplitMix& random)
    : activation_(shape.activation), activate_last_(shape.activate_last) {
  assert(shape.widths.size() >= 2);
  for (std::size_t i = 0; i + 1 < shape.widths.size(); ++i)
    layers_.emplace_back(parameters, name + "." + std::to_string(i), shape.widths[i], shape.widths[i + 1],
                         random);
}

template <class T>
View<T> Mlp<T>::forward(const Parameters<T>& parameters, const ConstView<T>& x, MlpPass<T>& pass) const {
  pass.outputs.resize(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    View<T> y = pass.outputs[i].shape(layers_[i].out(), x.cols());
    if (i == 0)
      layers_[i].forward(parameters, x, y);
    else
      layers_[i].forward(parameters, pass.outputs[i - 1].view(), y);
    if (activated(i)) activate<T>(activation_, y);
  }
  return pass.outputs.back().view();
}

template <class T>
void Mlp<T>::backward(Parameters<T>& parameters, const ConstView<T>& x, const ConstView<T>& d_y,
                      MlpPass<T>& pass) const {
  pass.gradients.resize(layers_.size());
  pass.gradients.back().shape(d_y.rows(), d_y.cols()) = d_y;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    View<T> gradient = pass.gradients[i].view();
    if (activated(i)) activate_backward<T>(activation_, pass.outputs[i].view(), gradient);
    if (i == 0) {
      layers_[i].backward(parameters, x, gradient);
    } else {
      layers_[i].backward(parameters, pass.outputs[i - 1].view(), gradient);
      layers_[i].backward_input(parameters, gradient, pass.gradients[i - 1].shape(layers_[i].in(), x.cols()));
    }
  }
}

template <class T>
void Mlp<T>::backward_input(const Parameters<T>& parameters, const MlpPass<T>& pass, View<T> d_x) const {
  layers_.front().backward_input(parameters, pass.gradients.front().view(), d_x);
}

template class Mlp<float>;
template class Mlp<double>;

}  // namespace fuselage::learn
