// What a kernel costs under the mlsys rules, in closed form: iterations fall into a few classes that cost the
// same (first tile, next column, next row, inner k-steps; with clipped edges each), so that pricing takes as
// long for a million iterations as for one. Where no closed form holds (Shape::closed) the kernel is run tile
// by tile.
#pragma once

#include <cstdint>
#include <limits>

#include "fuselage/grid/plan.h"
#include "fuselage/grid/shape.h"

namespace fuselage::grid {

// The order of the tiles. A snake turns at the end of each line, so that it keeps what the line shares with
// the next; it never loads more than the raster that jumps back.
enum class Traversal : std::uint8_t { raster, row_snake, column_snake };

struct Choice {
  Granularity granularity = {};
  Traversal traversal = Traversal::raster;
  std::uint64_t resident = 0;  // bits of Shape::inputs() that are in fast memory
  std::uint64_t retained = 0;  // bits of Shape::made() that stay there
};

struct KernelCost {
  double latency = std::numeric_limits<double>::infinity();  // time units
  std::int64_t working_set = 0;                              // elements

  bool legal() const { return latency < std::numeric_limits<double>::infinity(); }
};

// Prices kernels of one instance. Holds no state but the instance's numbers: safe to share between threads.
class KernelPricer {
 public:
  KernelPricer(const Instance& instance, const Rules& rules) : instance_(&instance), rules_(rules) {}

  // Infinite latency: the granularity breaks a limit, or the working set exceeds the capacity.
  KernelCost price(const Shape& shape, const Choice& choice) const;

  // The cheapest granularity and traversal for what is resident and retained, of a declared list
  // (granularities that divide the grid and K into 1, 2, 3, 4, 6, 8, 12, ... times as few parts as native
  // allows).
  struct Best {
    KernelCost cost = {};
    Granularity granularity = {};
    Traversal traversal = Traversal::raster;
  };
  Best best(const Shape& shape, std::uint64_t resident, std::uint64_t retained) const;

  // The same price by running the kernel tile by tile (evaluate.h). Infinite for very many iterations.
  KernelCost simulate(const Shape& shape, const Choice& choice) const;

  const Instance& instance() const { return *instance_; }
  const Rules& rules() const { return rules_; }

 private:
  const Instance* instance_;
  Rules rules_;
};

// The tiles of a grid of rows x columns in this order; none for raster.
std::optional<std::vector<std::int64_t>> tile_order(Traversal traversal, std::int64_t rows,
                                                    std::int64_t columns);

// The kernel as a plan holds it.
Kernel kernel_of(const Shape& shape, const Choice& choice);

}  // namespace fuselage::grid
