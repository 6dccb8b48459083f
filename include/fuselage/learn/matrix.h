// Numbers as the models see them: dense matrices, one column a sample (a token, a state, a schedule), so that
// a sample's numbers lie together and a layer is one product, weight [out x in] times inputs [in x batch].
//
// Sums are where machines disagree, so all of them are here. Products are cut into pieces that Eigen never
// cuts again by the size of the caches it finds, and other sums run over eight lanes in a fixed order: with
// one -march the same inputs give the same bits on every machine and at every address. A column of a product
// is the same whatever stands beside it, so that nothing's score depends on what else was asked about.
#pragma once

#include <Eigen/Core>
#include <type_traits>

namespace fuselage::learn {

using Index = Eigen::Index;

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
// Rows and columns of somebody's matrix; each column's numbers are contiguous.
template <class T>
using View = Eigen::Ref<Matrix<T>>;
template <class T>
using ConstView = Eigen::Ref<const Matrix<T>>;

// Memory for a matrix whose size differs from call to call: it grows, and is otherwise used again.
template <class T>
class Buffer {
 public:
  // A matrix of unspecified content in place of the former one. Views of that one are void.
  View<T> shape(Index rows, Index columns) {
    if (rows * columns > memory_.size()) memory_.resize(rows * columns);
    rows_ = rows;
    columns_ = columns;
    return view();
  }
  View<T> view() { return Eigen::Map<Matrix<T>>(memory_.data(), rows_, columns_); }
  ConstView<T> view() const { return Eigen::Map<const Matrix<T>>(memory_.data(), rows_, columns_); }

 private:
  Eigen::Matrix<T, Eigen::Dynamic, 1> memory_;
  Index rows_ = 0;
  Index columns_ = 0;
};

// All need the scalar named, as in multiply<float>(…), and are there for float and double. `out` may not
// overlap what it is made from.

// out [m x n] = a [m x k] · b [k x n]
template <class T>
void multiply(View<T> out, const ConstView<T>& a, const ConstView<T>& b);
// out [m x n] = aᵀ · b of a [k x m], b [k x n]
template <class T>
void multiply_transposed(View<T> out, const ConstView<T>& a, const ConstView<T>& b);
// The same, added to what out holds.
template <class T>
void add_transposed(View<T> out, const ConstView<T>& a, const ConstView<T>& b);
// out [m x n] += a · bᵀ of a [m x k], b [n x k]
template <class T>
void add_outer(View<T> out, const ConstView<T>& a, const ConstView<T>& b);
// out [m x 1] += the sum of a's columns
template <class T>
void add_columns(View<T> out, const ConstView<T>& a);

// The inner product of n numbers each.
template <class T>
T dot(const T* a, const T* b, Index n);

}  // namespace fuselage::learn
