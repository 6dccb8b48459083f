// A grid schedule: kernels in the order in which they run. Each runs a set of ops tile by tile, leaves some
// tensors in fast memory for the next, and stores the rest of what it makes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuselage/grid/instance.h"

namespace fuselage::grid {

struct Granularity {
  std::int64_t w = 0;  // columns of a tile, elements
  std::int64_t h = 0;  // rows of a tile
  std::int64_t k = 1;  // of the reduction, a step; 1 without a matmul

  friend bool operator==(const Granularity&, const Granularity&) = default;
};

struct Kernel {
  std::vector<OpId> ops;  // in execution order
  Granularity granularity = {};
  std::vector<TensorId> retain = {};
  // Order of the tiles, which are numbered row by row; none: as numbered (raster).
  std::optional<std::vector<std::int64_t>> traversal = {};

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct Plan {
  std::vector<Kernel> kernels;

  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace fuselage::grid
