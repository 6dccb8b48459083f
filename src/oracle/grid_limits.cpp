#include "fuselage/oracle/grid_limits.h"

#include <algorithm>
#include <numeric>

#include "fuselage/core/cost.h"
#include "fuselage/grid/kernel_cost.h"

namespace fuselage::oracle {
namespace {

// Do the tiles run in this order, a line and back, for some number of columns?
bool is_snake(const std::vector<std::int64_t>& order, grid::Traversal snake) {
  const auto tiles = static_cast<std::int64_t>(order.size());
  std::size_t turn = 1;
  while (turn < order.size() && order[turn] == static_cast<std::int64_t>(turn)) ++turn;
  const std::int64_t columns =
      snake == grid::Traversal::row_snake ? static_cast<std::int64_t>(turn) : order[1];
  return columns >= 1 && tiles % columns == 0 && tile_order(snake, tiles / columns, columns) == order;
}

}  // namespace

double memory_time(const grid::KernelReport& report, const grid::Machine& machine) {
  return report.transferred / machine.bandwidth;
}

Limit limit_of(const grid::KernelReport& report, const grid::Machine& machine) {
  const double memory = memory_time(report, machine);
  if (!meets(std::max(report.compute, memory), report.latency)) return Limit::both;
  return memory > report.compute ? Limit::memory : Limit::compute;
}

double working_set_share(const grid::KernelReport& report, const grid::Machine& machine) {
  return static_cast<double>(report.working_set) / static_cast<double>(machine.capacity);
}

std::optional<std::string_view> traversal_name(const std::optional<std::vector<std::int64_t>>& order) {
  if (!order) return "raster";
  std::vector<std::int64_t> raster(order->size());
  std::iota(raster.begin(), raster.end(), 0);
  if (*order == raster) return "raster";
  if (is_snake(*order, grid::Traversal::row_snake)) return "snake by rows";
  if (is_snake(*order, grid::Traversal::column_snake)) return "snake by columns";
  return std::nullopt;
}

}  // namespace fuselage::oracle
