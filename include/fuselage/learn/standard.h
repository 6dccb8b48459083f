// Inputs at mean 0 and deviation 1; a feature that never changes stays at 0.
#pragma once

#include <span>
#include <vector>

#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

struct Standard {
  std::vector<float> mean;
  std::vector<float> inverse;  // of the deviation; 0 for a feature that never changed
};

// Changes nothing.
Standard neutral_standard(Index width);
// Of rows with `width` numbers each.
Standard standard_of(std::span<const float> rows, Index width);

// A row of as many numbers → a column.
template <class Column>
void put_standardised(const float* row, const Standard& standard, Column column) {
  for (Index f = 0; f < column.size(); ++f) {
    const auto at = static_cast<std::size_t>(f);
    column(f) = (row[at] - standard.mean[at]) * standard.inverse[at];
  }
}

}  // namespace fuselage::learn
