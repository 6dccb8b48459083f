// What limits a kernel of a grid plan, and what its order of tiles is called: said of a judged plan by
// everything that shows one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/instance.h"

namespace fuselage::oracle {

// Which side takes longer, in every iteration; both: each in some.
enum class Limit : std::uint8_t { compute, memory, both };
inline constexpr std::array<std::string_view, 3> limit_names = {"compute", "memory", "both"};
constexpr std::string_view name(Limit limit) {
  return limit_names[static_cast<std::size_t>(limit)];
}

// Time units that its transfers take.
double memory_time(const grid::KernelReport& report, const grid::Machine& machine);
Limit limit_of(const grid::KernelReport& report, const grid::Machine& machine);
double working_set_share(const grid::KernelReport& report, const grid::Machine& machine);

// "raster", "snake by rows", "snake by columns"; none: another order.
std::optional<std::string_view> traversal_name(const std::optional<std::vector<std::int64_t>>& order);

}  // namespace fuselage::oracle
