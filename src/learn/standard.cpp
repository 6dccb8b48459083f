#include "fuselage/learn/standard.h"

#include <cmath>

namespace fuselage::learn {

Standard neutral_standard(Index width) {
  const auto count = static_cast<std::size_t>(width);
  return {.mean = std::vector<float>(count, 0), .inverse = std::vector<float>(count, 1)};
}

Standard standard_of(std::span<const float> rows, Index width) {
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t count = rows.size() / columns;
  Standard standard;
  for (std::size_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += rows[i * columns + c];
    const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += std::pow(rows[i * columns + c] - mean, 2);
    const double deviation = count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
    const bool varies = deviation > 1e-6 * (1 + std::abs(mean));
    standard.mean.push_back(static_cast<float>(mean));
    standard.inverse.push_back(varies ? static_cast<float>(1 / deviation) : 0);
  }
  return standard;
}

}  // namespace fuselage::learn
