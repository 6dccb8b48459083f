// Data to rank, made up: groups of rows whose relevance is a bent function of some features, with ties.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fuselage/learn/ranker.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::learn {

struct RankerExample {
  Matrix<float> rows;
  std::vector<float> labels;
  std::vector<std::uint32_t> groups;

  RankerData data() const { return {.rows = rows, .labels = labels, .groups = groups}; }
};

// Values of [−1, 1), one in `missing` of them a NaN; none if that is 0.
inline Matrix<float> random_features(Index features, Index rows, std::uint64_t seed,
                                     std::size_t missing = 0) {
  search::SplitMix random(seed);
  Matrix<float> m(features, rows);
  for (Index i = 0; i < m.size(); ++i) {
    m.data()[i] = static_cast<float>(2 * random.unit() - 1);
    if (missing > 0 && random.below(missing) == 0) m.data()[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return m;
}

// Labels 0 … 4.
inline RankerExample ranker_example(Index features, std::uint32_t groups, std::uint32_t size,
                                    std::size_t missing = 0) {
  const Index n = static_cast<Index>(groups) * size;
  RankerExample example{.rows = random_features(features, n, 1, missing),
                        .labels = {},
                        .groups = std::vector<std::uint32_t>(groups, size)};
  for (Index i = 0; i < n; ++i) {
    double sum = 2.5;
    for (Index f = 0; f < std::min<Index>(features, 4); ++f) {
      const double value = std::isnan(example.rows(f, i)) ? 0.3 : static_cast<double>(example.rows(f, i));
      sum += std::sin(static_cast<double>(f + 2) * value);
    }
    example.labels.push_back(static_cast<float>(std::clamp(std::floor(sum), 0.0, 4.0)));
  }
  return example;
}

}  // namespace fuselage::learn
