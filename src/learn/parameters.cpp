#include "fuselage/learn/parameters.h"

#include <algorithm>
#include <cmath>

namespace fuselage::learn {

template <class T>
Slice Parameters<T>::add(std::string name, Index rows, Index columns) {
  assert(!name.empty() && rows > 0 && columns > 0);
  assert(std::none_of(tensors_.begin(), tensors_.end(), [&](const NamedSlice& t) { return t.name == name; }));
  const Slice slice{values_.size(), rows, columns};
  values_.resize(values_.size() + slice.size());
  gradients_.resize(values_.size());
  tensors_.push_back({std::move(name), slice});
  return slice;
}

template <class T>
void Parameters<T>::clear_gradients() {
  std::fill(gradients_.begin(), gradients_.end(), T{0});
}

template <class T>
void fill_glorot(View<T> weight, search::SplitMix& random) {
  const double limit = std::sqrt(6.0 / static_cast<double>(weight.rows() + weight.cols()));
  for (Index column = 0; column < weight.cols(); ++column)
    for (Index row = 0; row < weight.rows(); ++row)
      weight(row, column) = static_cast<T>((2 * random.unit() - 1) * limit);
}

template class Parameters<float>;
template class Parameters<double>;
template void fill_glorot<float>(View<float>, search::SplitMix&);
template void fill_glorot<double>(View<double>, search::SplitMix&);

}  // namespace fuselage::learn
