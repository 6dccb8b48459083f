#include "fuselage/learn/flat_trees.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace fuselage::learn {
namespace {

constexpr std::size_t lanes = 8;  // rows of a block, or trees of one row

// Eight numbers at once, and what comparing them gives: −1 or 0. Compilers make of it what the machine has.
using Floats = float __attribute__((vector_size(lanes * sizeof(float))));
using Masks = std::int32_t __attribute__((vector_size(lanes * sizeof(float))));

// Calls f with the depth as a constant of the type, so that the way down is unrolled.
template <int depth = 0, class F>
decltype(auto) with_depth(int wanted, F&& f) {
  if constexpr (depth == max_tree_depth) {
    assert(wanted == depth);
    return f(std::integral_constant<int, depth>{});
  } else {
    if (wanted == depth) return f(std::integral_constant<int, depth>{});
    return with_depth<depth + 1>(wanted, std::forward<F>(f));
  }
}

// The two columns of a feature's value in a row or block.
inline void put(float value, float* even, float* odd) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const bool missing = std::isnan(value);
  *even = missing ? -infinity : value;
  *odd = missing ? infinity : value;
}

}  // namespace

template <int depth>
void FlatTrees::score_block(const float* columns, float* scores) const {
  constexpr std::size_t ends = std::size_t{1} << depth;
  const Node* nodes = nodes_.data();
  const float* leaves = leaves_.data();
  for (std::size_t t = 0; t < trees_; ++t, nodes += ends, leaves += ends) {
    std::uint32_t at[lanes];
    // Near the root all rows ask the same few nodes: there every node asks all rows, at once.
    constexpr int top = depth >= 3 ? 3 : 0;
    if constexpr (top == 3) {
      const auto below = [&](std::size_t node) -> Masks {
        Floats values;
        std::memcpy(&values, columns + nodes[node].column * lanes, sizeof values);
        return values < (Floats{} + nodes[node].threshold);
      };
      const Masks first = below(1);
      const Masks second_0 = below(2);
      const Masks second_1 = below(3);
      const Masks third_0 = (second_0 & below(5)) | (~second_0 & below(4));
      const Masks third_1 = (second_1 & below(7)) | (~second_1 & below(6));
      const Masks second = (first & second_1) | (~first & second_0);
      const Masks third = (first & third_1) | (~first & third_0);
      const Masks place = 8 - 4 * first - 2 * second - third;  // a mask is −1 where it holds
      std::memcpy(at, &place, sizeof at);
    } else {
      std::fill(at, at + lanes, 1U);
    }
    for (int d = top; d < depth; ++d)
      for (std::size_t k = 0; k < lanes; ++k) {
        const Node node = nodes[at[k]];
        at[k] = 2 * at[k] + (columns[node.column * lanes + k] < node.threshold ? 1U : 0U);
      }
    for (std::size_t k = 0; k < lanes; ++k) scores[k] += leaves[at[k] - ends];
  }
}

template <int depth>
float FlatTrees::score_row(const float* columns) const {
  constexpr std::size_t ends = std::size_t{1} << depth;
  const Node* nodes = nodes_.data();
  const float* leaves = leaves_.data();
  float score = base_score_;
  std::size_t t = 0;
  for (; t + lanes <= trees_; t += lanes, nodes += lanes * ends, leaves += lanes * ends) {
    std::uint32_t at[lanes];
    std::fill(at, at + lanes, 1U);
    for (int d = 0; d < depth; ++d)
      for (std::size_t k = 0; k < lanes; ++k) {
        const Node node = nodes[k * ends + at[k]];
        at[k] = 2 * at[k] + (columns[node.column] < node.threshold ? 1U : 0U);
      }
    for (std::size_t k = 0; k < lanes; ++k) score += leaves[k * ends + at[k] - ends];
  }
  for (; t < trees_; ++t, nodes += ends, leaves += ends) {
    std::uint32_t at = 1;
    for (int d = 0; d < depth; ++d) at = 2 * at + (columns[nodes[at].column] < nodes[at].threshold ? 1U : 0U);
    score += leaves[at - ends];
  }
  return score;
}

void FlatTrees::score(const ConstView<float>& rows, std::span<float> scores,
                      FlatTreesScratch& scratch) const {
  assert(rows.rows() == features_ && static_cast<std::size_t>(rows.cols()) == scores.size());
  const auto features = static_cast<std::size_t>(features_);
  if (scratch.columns_.size() < 2 * features * lanes) scratch.columns_.resize(2 * features * lanes);
  float* columns = scratch.columns_.data();
  const auto stride = static_cast<std::size_t>(rows.outerStride());
  for (std::size_t first = 0; first < scores.size(); first += lanes) {
    const std::size_t count = std::min(lanes, scores.size() - first);
    for (std::size_t k = 0; k < lanes; ++k) {
      const float* row = rows.data() + (first + std::min(k, count - 1)) * stride;
      for (std::size_t f = 0; f < features; ++f)
        put(row[f], columns + 2 * f * lanes + k, columns + (2 * f + 1) * lanes + k);
    }
    float sums[lanes];
    std::fill(sums, sums + lanes, base_score_);
    with_depth(depth_, [&](auto depth) { score_block<depth()>(columns, sums); });
    std::copy_n(sums, count, scores.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

float FlatTrees::score(std::span<const float> row, FlatTreesScratch& scratch) const {
  const auto features = static_cast<std::size_t>(features_);
  assert(row.size() == features);
  if (scratch.columns_.size() < 2 * features) scratch.columns_.resize(2 * features * lanes);
  float* columns = scratch.columns_.data();
  for (std::size_t f = 0; f < features; ++f) put(row[f], columns + 2 * f, columns + 2 * f + 1);
  return with_depth(depth_, [&](auto depth) { return score_row<depth()>(columns); });
}

}  // namespace fuselage::learn
