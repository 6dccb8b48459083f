// Sequences of differing lengths as one matrix without padding. Longer sequences come first, and columns are
// ordered by step, so that the tokens of a step lie side by side and those that go on are always the first
// ones: a recurrent model takes each step in one product, and whatever needs no order takes all tokens in
// one.
#pragma once

#include <span>
#include <vector>

#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

class Packing {
 public:
  Packing() = default;
  explicit Packing(std::span<const int> lengths) { assign(lengths); }

  // Of sequences 0, 1, … with so many tokens each (none is fine). Uses its memory again.
  void assign(std::span<const int> lengths);

  Index sequences() const { return static_cast<Index>(slots_.size()); }
  Index tokens() const { return first_.back(); }
  Index steps() const { return static_cast<Index>(first_.size()) - 1; }
  Index length(Index sequence) const { return lengths_[static_cast<std::size_t>(sequence)]; }

  // The column of a sequence's token, step < length(sequence).
  Index column(Index sequence, Index step) const { return first(step) + slot(sequence); }
  // Tokens of a step are columns first(step) … first(step) + width(step) − 1; widths never grow.
  Index first(Index step) const { return first_[static_cast<std::size_t>(step)]; }
  Index width(Index step) const { return first(step + 1) - first(step); }
  // Where a sequence stands among the columns of every step that it has, and who stands there.
  Index slot(Index sequence) const { return slots_[static_cast<std::size_t>(sequence)]; }
  Index sequence(Index slot) const { return order_[static_cast<std::size_t>(slot)]; }

 private:
  std::vector<Index> lengths_;
  std::vector<Index> order_;
  std::vector<Index> slots_;
  std::vector<Index> first_ = {0};
};

}  // namespace fuselage::learn
