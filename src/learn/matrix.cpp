#include "fuselage/learn/matrix.h"

#include <algorithm>
#include <cassert>

namespace fuselage::learn {
namespace {

// The largest piece of a product. Eigen cuts the depth at what fits its idea of the first-level cache, which
// is no less than this for floats and 32 KiB; and what it packs a piece into still lies on the stack, not the
// heap.
constexpr Index depth_piece = 256;
constexpr Index column_piece = 128;
constexpr Index row_piece = 120;

// each(first, count) for the pieces of n.
template <class Each>
void pieces(Index n, Index piece, Each each) {
  for (Index first = 0; first < n; first += piece) each(first, std::min(piece, n - first));
}

// Eigen's kernel takes four columns at once and the last ones by themselves, which rounds differently; so the
// last ones get zeros beside them.
constexpr Index kernel_columns = 4;

// Below this, Eigen may choose a loop that goes by the addresses of its operands.
constexpr Index least_rows_and_depth = 16;

template <class Out, class A, class B>
void add_plain(Out&& out, const A& a, const B& b) {
  for (Index column = 0; column < out.cols(); ++column)
    for (Index k = 0; k < a.cols(); ++k)
      for (Index row = 0; row < out.rows(); ++row) out(row, column) += a(row, k) * b(k, column);
}

// out += a · b for one piece.
template <class Out, class A, class B>
void add_piece(Out&& out, const A& a, const B& b) {
  if (out.rows() + a.cols() < least_rows_and_depth) return add_plain(out, a, b);
  const Index rest = out.cols() % kernel_columns;
  const Index whole = out.cols() - rest;
  if (whole > 0) out.leftCols(whole).noalias() += a * b.leftCols(whole);
  if (rest == 0) return;
  using T = typename A::Scalar;
  Eigen::Matrix<T, Eigen::Dynamic, kernel_columns, 0, depth_piece, kernel_columns> last(a.cols(),
                                                                                        kernel_columns);
  Eigen::Matrix<T, Eigen::Dynamic, kernel_columns, 0, row_piece, kernel_columns> sum(out.rows(),
                                                                                     kernel_columns);
  last.leftCols(rest) = b.rightCols(rest);
  last.rightCols(kernel_columns - rest).setZero();
  sum.leftCols(rest) = out.rightCols(rest);
  sum.rightCols(kernel_columns - rest).setZero();
  sum.noalias() += a * last;
  out.rightCols(rest) = sum.leftCols(rest);
}

// out += a · b of any expressions that are matrices or their transposes.
template <class Out, class A, class B>
void add_product(Out& out, const A& a, const B& b) {
  assert(a.rows() == out.rows() && b.cols() == out.cols() && a.cols() == b.rows());
  pieces(out.cols(), column_piece, [&](Index column, Index columns) {
    pieces(out.rows(), row_piece, [&](Index row, Index rows) {
      pieces(a.cols(), depth_piece, [&](Index first, Index depth) {
        add_piece(out.block(row, column, rows, columns), a.block(row, first, rows, depth),
                  b.block(first, column, depth, columns));
      });
    });
  });
}

}  // namespace

template <class T>
void multiply(View<T> out, const ConstView<T>& a, const ConstView<T>& b) {
  out.setZero();
  add_product(out, a, b);
}

template <class T>
void multiply_transposed(View<T> out, const ConstView<T>& a, const ConstView<T>& b) {
  out.setZero();
  add_product(out, a.transpose(), b);
}

template <class T>
void add_transposed(View<T> out, const ConstView<T>& a, const ConstView<T>& b) {
  add_product(out, a.transpose(), b);
}

template <class T>
void add_outer(View<T> out, const ConstView<T>& a, const ConstView<T>& b) {
  add_product(out, a, b.transpose());
}

template <class T>
void add_columns(View<T> out, const ConstView<T>& a) {
  assert(out.rows() == a.rows() && out.cols() == 1);
  for (Index column = 0; column < a.cols(); ++column) out.col(0) += a.col(column);
}

template <class T>
T dot(const T* a, const T* b, Index n) {
  constexpr Index lanes = 8;
  T sums[lanes] = {};
  Index i = 0;
  for (; i + lanes <= n; i += lanes)
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (Index lane = 0; i < n; ++i, ++lane) sums[lane] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template void multiply<float>(View<float>, const ConstView<float>&, const ConstView<float>&);
template void multiply<double>(View<double>, const ConstView<double>&, const ConstView<double>&);
template void multiply_transposed<float>(View<float>, const ConstView<float>&, const ConstView<float>&);
template void multiply_transposed<double>(View<double>, const ConstView<double>&, const ConstView<double>&);
template void add_transposed<float>(View<float>, const ConstView<float>&, const ConstView<float>&);
template void add_transposed<double>(View<double>, const ConstView<double>&, const ConstView<double>&);
template void add_outer<float>(View<float>, const ConstView<float>&, const ConstView<float>&);
template void add_outer<double>(View<double>, const ConstView<double>&, const ConstView<double>&);
template void add_columns<float>(View<float>, const ConstView<float>&);
template void add_columns<double>(View<double>, const ConstView<double>&);
template float dot<float>(const float*, const float*, Index);
template double dot<double>(const double*, const double*, Index);

}  // namespace fuselage::learn
