#include "fuselage/grid/kernel_cost.h"

#include <algorithm>
#include <utility>

#include "fusionops_kernel.h"
#include "granularity_search.h"
#include "kernel_pricing.h"

namespace fuselage::grid {

KernelCost KernelPricer::price(const Shape& shape, const Choice& choice) const {
  if (rules_.set != RuleSet::mlsys) return fusionops_parts::price(*instance_, shape, choice);
  Pricing pricing(*instance_, shape, choice.resident, choice.retained);
  pricing.choose(choice.granularity);
  if (!pricing.within_limits()) return {};
  if (!shape.closed() || !pricing.list_slices()) return simulate(shape, choice);
  const std::int64_t working_set = pricing.working_set();
  if (working_set > instance_->machine().capacity) return {.working_set = working_set};
  return {.latency = pricing.latency(choice.traversal), .working_set = working_set};
}

KernelPricer::Best KernelPricer::best(const Shape& shape, std::uint64_t resident, std::uint64_t retained,
                                      std::int64_t beside) const {
  if (rules_.set != RuleSet::mlsys)
    return fusionops_parts::cheapest(*instance_, shape,
                                     {.resident = resident, .retained = retained, .beside = beside});
  Best best = search_granularity(*instance_, shape, resident, retained);
  if (best.cost.legal()) best.cost = price(shape, {best.granularity, best.traversal, resident, retained});
  return best;
}

std::optional<std::vector<std::int64_t>> tile_order(Traversal traversal, std::int64_t rows,
                                                    std::int64_t columns) {
  if (traversal == Traversal::raster || rows == 1 || columns == 1) return std::nullopt;
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(rows * columns));
  const bool by_columns = traversal == Traversal::column_snake;
  const std::int64_t lines = by_columns ? columns : rows;
  const std::int64_t length = by_columns ? rows : columns;
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t at = line % 2 == 0 ? i : length - 1 - i;
      order.push_back(by_columns ? at * columns + line : line * columns + at);
    }
  return order;
}

Kernel kernel_of(const Shape& shape, const Choice& choice) {
  Kernel kernel{.ops = {shape.ops().begin(), shape.ops().end()}, .granularity = choice.granularity};
  for (std::size_t i = 0; i < std::min<std::size_t>(64, shape.made().size()); ++i)
    if (choice.retained >> i & 1U) kernel.retain.push_back(shape.made()[i]);
  kernel.traversal = tile_order(choice.traversal, ceil_div(shape.height(), choice.granularity.h),
                                ceil_div(shape.width(), choice.granularity.w));
  return kernel;
}

}  // namespace fuselage::grid
