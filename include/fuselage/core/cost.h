// How costs are compared: all that says of a cost that it is equal to another, is met by a bound or can't be
// beaten asks here. There are two questions. Whether two figures make the same claim (a plan's file and its
// judge, a bound and the cost that it proves) is asked within a billionth. Whether a plan can be cheaper than
// another is asked without tolerance, since in costs of twelve digits a single cycle is less than that: only
// what the order of a sum makes of its last digits is no difference.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace fuselage {

inline constexpr double same_cost = 1e-9;  // relative

// Does a bound on all plans prove that one of this cost is optimal?
constexpr bool meets(double lower_bound, double cost) {
  return lower_bound >= cost * (1 - same_cost);
}

// Of costs, which are never negative.
constexpr bool agree(double a, double b) {
  return a < b ? meets(a, b) : meets(b, a);
}

// By what share two sums of so many numbers differ at most because they are summed in different orders: each
// is off by half an ulp an addition, and the numbers in them by an ulp or two of their own.
constexpr double rounding_of(std::size_t additions) {
  return std::min(same_cost, 2 * static_cast<double>(additions + 1) * std::numeric_limits<double>::epsilon());
}

// Who is known to cost no less than this can't be cheaper than a plan of `cost`. A pruning that asks so is
// safe although bounds are sums in another order than costs: what it loses is no cheaper than `cost` by more
// than rounding, which nobody can tell from none. And what costs the same is pruned, whatever its last digit,
// so that plateaus of equal plans are not searched.
constexpr double unbeatable_from(double cost, std::size_t additions) {
  return cost * (1 - rounding_of(additions));
}

}  // namespace fuselage
