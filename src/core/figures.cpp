#include "fuselage/core/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fuselage {
namespace {

constexpr double first_with_exponent = 1e15;

// Sets commas into the digits before the point.
std::string with_commas(std::string text) {
  const std::size_t sign = !text.empty() && text.front() == '-' ? 1 : 0;
  std::size_t at = std::min(text.find('.'), text.size());
  while (at > sign + 3) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

std::string grouped(std::int64_t count) {
  return with_commas(fmt::format("{}", count));
}

std::string grouped(std::uint64_t count) {
  return with_commas(fmt::format("{}", count));
}

std::string cycles(double value) {
  if (!std::isfinite(value)) return "-";
  return std::abs(value) < first_with_exponent ? with_commas(fmt::format("{:.2f}", value))
                                               : fmt::format("{:.6g}", value);
}

}  // namespace fuselage
