// Affine layers with a nonlinear function between them.
#pragma once

#include <string>
#include <vector>

#include "fuselage/learn/activation.h"
#include "fuselage/learn/linear.h"

namespace fuselage::learn {

struct MlpShape {
  std::vector<Index> widths;  // of the input, each hidden layer, the output: at least two
  Activation activation = Activation::relu;
  bool activate_last = false;  // apply it to the output, too
};

// What a forward pass leaves for the backward one, and memory for both; of one thread.
template <class T>
struct MlpPass {
  std::vector<Buffer<T>> outputs;    // of each layer, after its activation [out x n]
  std::vector<Buffer<T>> gradients;  // with respect to each layer's output before it
};

template <class T>
class Mlp {
 public:
  // Layer i is the Linear "<name>.<i>".
  Mlp(Parameters<T>& parameters, const std::string& name, const MlpShape& shape, search::SplitMix& random);

  Index in() const { return layers_.front().in(); }
  Index out() const { return layers_.back().out(); }

  // x [in x n] → y [out x n], which lies in the pass until the next forward.
  View<T> forward(const Parameters<T>& parameters, const ConstView<T>& x, MlpPass<T>& pass) const;
  // Adds to the parameters' gradients what d_y [out x n] means, for the x and the pass of the last forward.
  void backward(Parameters<T>& parameters, const ConstView<T>& x, const ConstView<T>& d_y,
                MlpPass<T>& pass) const;
  // After backward: d_x [in x n].
  void backward_input(const Parameters<T>& parameters, const MlpPass<T>& pass, View<T> d_x) const;

 private:
  bool activated(std::size_t layer) const { return activate_last_ || layer + 1 < layers_.size(); }

  std::vector<Linear<T>> layers_;
  Activation activation_;
  bool activate_last_;
};

extern template class Mlp<float>;
extern template class Mlp<double>;

}  // namespace fuselage::learn
