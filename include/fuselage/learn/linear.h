// The affine layer, y = W x + b for every column of a batch.
#pragma once

#include <string>

#include "fuselage/learn/parameters.h"

namespace fuselage::learn {

template <class T>
class Linear {
 public:
  // Adds "<name>.weight" [out x in], Glorot-uniform, and "<name>.bias" [out x 1], zero.
  Linear(Parameters<T>& parameters, const std::string& name, Index in, Index out, search::SplitMix& random);

  Index in() const { return weight_.columns; }
  Index out() const { return weight_.rows; }

  // x [in x n] → y [out x n]
  void forward(const Parameters<T>& parameters, const ConstView<T>& x, View<T> y) const;
  // Adds what d_y [out x n] means for weight and bias to their gradients; x as in forward.
  void backward(Parameters<T>& parameters, const ConstView<T>& x, const ConstView<T>& d_y) const;
  // d_x [in x n] = Wᵀ d_y
  void backward_input(const Parameters<T>& parameters, const ConstView<T>& d_y, View<T> d_x) const;

 private:
  Slice weight_;
  Slice bias_;
};

extern template class Linear<float>;
extern template class Linear<double>;

}  // namespace fuselage::learn
