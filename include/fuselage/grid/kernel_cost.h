// What a kernel costs, in closed form. Under the mlsys rules iterations fall into a few classes that cost the
// same (first tile, next column, next row, inner k-steps; with clipped edges each), so that pricing takes as
// long for a million iterations as for one. Where no closed form holds (Shape::closed) the kernel is run tile
// by tile. Under the fusionops rules the price is that of fusionops.h, to the bit.
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
  // fusionops: elements of what is in fast memory and the kernel doesn't read, and which of its role_orders
  // the ops are named in (src/grid/fusionops_kernel.h).
  std::int64_t beside = 0;
  int order = 0;
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

  // The cheapest granularity and traversal for what is resident and retained, of a declared list.
  struct Best {
    KernelCost cost = {};
    Granularity granularity = {};
    Traversal traversal = Traversal::raster;
    int order = 0;  // as Choice::order
  };
  Best best(const Shape& shape, std::uint64_t resident, std::uint64_t retained,
            std::int64_t beside = 0) const;

  // mlsys: the same price by running the kernel tile by tile (evaluate.h). Infinite for very many iterations.
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

// The kernel as a plan holds it, its ops in the order of the shape.
Kernel kernel_of(const Shape& shape, const Choice& choice);

}  // namespace fuselage::grid
