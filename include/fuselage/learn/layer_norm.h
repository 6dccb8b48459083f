// Brings every column to mean 0 and spread 1, then scales and shifts each row by what is learned: latents
// that different transitions predict stay comparable, and none can win a loss by growing or shrinking (Ba,
// Kiros, Hinton, "Layer normalization", 2016).
#pragma once

#include <string>

#include "fuselage/learn/parameters.h"

namespace fuselage::learn {

// What a forward pass leaves for the backward one.
template <class T>
struct LayerNormPass {
  Buffer<T> normal;   // [rows x n]: (x − mean) / spread
  Buffer<T> inverse;  // [1 x n]: 1 / spread
};

template <class T>
class LayerNorm {
 public:
  // Adds "<name>.scale" [rows x 1], ones, and "<name>.shift" [rows x 1], zeros.
  LayerNorm(Parameters<T>& parameters, const std::string& name, Index rows);

  // x [rows x n] → y [rows x n] = scale · (x − mean) / √(variance + 1e-5) + shift, by column. y may be x.
  void forward(const Parameters<T>& parameters, const ConstView<T>& x, View<T> y,
               LayerNormPass<T>& pass) const;
  // Adds to the gradients of scale and shift; gradient with respect to y → that with respect to x, in place.
  void backward(Parameters<T>& parameters, const LayerNormPass<T>& pass, View<T> gradient) const;

 private:
  Slice scale_;
  Slice shift_;
};

extern template class LayerNorm<float>;
extern template class LayerNorm<double>;

}  // namespace fuselage::learn
