// The cheapest granularity of a kernel in closed form.
#pragma once

#include <cstdint>

#include "fuselage/grid/kernel_cost.h"

namespace fuselage::grid {

// The latency is the closed form's: only about right where the shape has none (Shape::closed).
KernelPricer::Best search_granularity(const Instance& instance, const Shape& shape, std::uint64_t resident,
                                      std::uint64_t retained);

}  // namespace fuselage::grid
