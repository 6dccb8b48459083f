// A toy problem with a known optimum: cross a strip of `length` columns and `rows` rows, one or two columns a
// move, to any row; a move costs a number hashed from its ends. Small enough for a table, blind to everything
// of this project.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "fuselage/search/problem.h"

namespace fuselage::search {

class ToyProblem {
 public:
  struct State {
    int column = 0;
    int row = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Kernel {
    int columns = 1;
    int row = 0;
    friend bool operator==(const Kernel&, const Kernel&) = default;
  };

  ToyProblem(int length, int rows, std::uint64_t seed) : length_(length), rows_(rows), seed_(seed) {}

  State initial() const { return {}; }
  int horizon() const { return length_; }
  int progress(const State& s) const { return s.column; }
  bool kernels(const State& s, std::vector<Kernel>& out) const {
    out.clear();
    for (int columns = 1; columns <= std::min(2, length_ - s.column); ++columns)
      for (int row = 0; row < rows_; ++row) out.push_back({columns, row});
    return true;
  }
  double price(const State& s, const Kernel& k) const {
    std::uint64_t hash = seed_;
    for (int value : {s.column, s.row, k.columns, k.row})
      hash = (hash ^ static_cast<std::uint64_t>(value + 1)) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29;
    if (hash % 7 == 0) return std::numeric_limits<double>::infinity();
    return static_cast<double>(10 + hash % 90);
  }
  State apply(const State& s, const Kernel& k) const { return {s.column + k.columns, k.row}; }
  double bound(const State& s) const { return 10.0 * ((length_ - s.column + 1) / 2); }
  std::uint64_t key(const State& s) const { return static_cast<std::uint64_t>(s.column * 1000 + s.row); }

  // The optimum by a table from the far end; infinite if the strip cannot be crossed.
  double optimum() const {
    std::vector<std::vector<double>> left(static_cast<std::size_t>(length_) + 1,
                                          std::vector<double>(static_cast<std::size_t>(rows_), 0.0));
    std::vector<Kernel> moves;
    for (int column = length_ - 1; column >= 0; --column) {
      for (int row = 0; row < rows_; ++row) {
        const State s{column, row};
        double best = std::numeric_limits<double>::infinity();
        kernels(s, moves);
        for (const Kernel& k : moves) {
          const State next = apply(s, k);
          best = std::min(
              best,
              price(s, k) + left[static_cast<std::size_t>(next.column)][static_cast<std::size_t>(next.row)]);
        }
        left[static_cast<std::size_t>(column)][static_cast<std::size_t>(row)] = best;
      }
    }
    return left[0][0];
  }

 private:
  int length_;
  int rows_;
  std::uint64_t seed_;
};

static_assert(Problem<ToyProblem>);

}  // namespace fuselage::search
