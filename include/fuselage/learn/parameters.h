// All numbers that training changes, in one flat array, with their gradients in another: an optimiser, a
// norm, a checkpoint need no knowledge of layers. A layer asks for its tensors once, keeps the slices it
// gets, and looks them up in whatever store it is given: a model is float in use and double under a gradient
// check.
//
// Reading a store from several threads is fine; a backward pass writes its gradients.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fuselage/learn/matrix.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::learn {

// Where a tensor's numbers lie in a store: rows x columns, column-major, from `offset`.
struct Slice {
  std::size_t offset = 0;
  Index rows = 0;
  Index columns = 0;

  std::size_t size() const { return static_cast<std::size_t>(rows * columns); }
};

struct NamedSlice {
  std::string name;
  Slice slice;
};

template <class T>
class Parameters {
 public:
  // A new tensor of zeros. Names are unique, not empty, and become those of the file (safetensors.h).
  Slice add(std::string name, Index rows, Index columns);

  View<T> value(const Slice& s) {
    return Eigen::Map<Matrix<T>>(values_.data() + s.offset, s.rows, s.columns);
  }
  ConstView<T> value(const Slice& s) const {
    return Eigen::Map<const Matrix<T>>(values_.data() + s.offset, s.rows, s.columns);
  }
  View<T> gradient(const Slice& s) {
    return Eigen::Map<Matrix<T>>(gradients_.data() + s.offset, s.rows, s.columns);
  }
  void clear_gradients();

  // In the order of add().
  const std::vector<NamedSlice>& tensors() const { return tensors_; }
  std::span<T> values() { return values_; }
  std::span<const T> values() const { return values_; }
  std::span<T> gradients() { return gradients_; }
  std::span<const T> gradients() const { return gradients_; }

 private:
  std::vector<NamedSlice> tensors_;
  std::vector<T> values_;
  std::vector<T> gradients_;
};

// Uniform in ±√(6 / (rows + columns)), which keeps the spread of what passes through a layer, forwards and
// backwards (Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural networks",
// 2010). Float and double get the same numbers up to rounding.
template <class T>
void fill_glorot(View<T> weight, search::SplitMix& random);

extern template class Parameters<float>;
extern template class Parameters<double>;

}  // namespace fuselage::learn
