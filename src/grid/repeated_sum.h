// The sum that a loop of floating-point additions arrives at, to the bit, without running the loop. While a
// sum stays within one binade, adding a fixed sequence of numbers >= 0 moves it by a multiple of the binade's
// unit that depends on nothing but whether the sum is an odd multiple (ties round to even). So after one
// round the moves repeat with period one or two, and two rounds more tell how far all others within the
// binade go.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fuselage::grid {

// What is left of a binade in its units, 2^53 to its end.
struct BinadePlace {
  double unit = 0;
  std::int64_t multiple = 0;  // sum / unit

  explicit BinadePlace(double sum) {
    constexpr int least = std::numeric_limits<double>::min_exponent - std::numeric_limits<double>::digits;
    const int exponent = sum > 0 ? std::ilogb(sum) - (std::numeric_limits<double>::digits - 1) : least;
    unit = std::ldexp(1.0, std::max(exponent, least));
    multiple = static_cast<std::int64_t>(sum / unit);
  }
};

// `round(sum)` adds a fixed sequence of numbers >= 0, one after the other, and returns the new sum; this is
// round applied `times` times.
template <class Round>
double repeat(double sum, std::int64_t times, const Round& round) {
  while (times > 3 && std::isfinite(sum)) {
    const BinadePlace before(sum);
    const double settled = round(sum);
    sum = round(round(settled));
    times -= 3;
    if (!std::isfinite(sum)) return sum;
    const BinadePlace to(sum);
    if (before.unit != to.unit) continue;
    const std::int64_t step = to.multiple - BinadePlace(settled).multiple;
    if (step == 0) return sum;
    constexpr std::int64_t end = (std::int64_t{1} << 53) - 1;
    const std::int64_t pairs = std::min(times / 2, (end - to.multiple) / step);
    sum = static_cast<double>(to.multiple + pairs * step) * to.unit;
    times -= 2 * pairs;
  }
  for (; times > 0; --times) sum = round(sum);
  return sum;
}

inline double add_repeatedly(double sum, double value, std::int64_t times) {
  return repeat(sum, times, [value](double so_far) { return so_far + value; });
}

}  // namespace fuselage::grid
