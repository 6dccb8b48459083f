#include "units.h"

#include <fmt/format.h>

#include <cmath>

namespace fuselage::cli {
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
  return std::abs(value) < first_with_exponent ? with_commas(fmt::format("{:.2f}", value))
                                               : fmt::format("{:.6g}", value);
}

std::string cycles(const std::optional<double>& value) {
  return value ? cycles(*value) : "-";
}

std::string percent(double fraction) {
  return fmt::format("{:.2f}", 100 * fraction);
}

std::string decimal(double value) {
  const std::string text = fmt::format("{:.3f}", value);
  return text == "-0.000" ? text.substr(1) : text;
}
std::string decimal(const std::optional<double>& value) {
  return value ? decimal(*value) : "-";
}

std::string gap_percent(double fraction) {
  const double share = 100 * fraction;
  return share >= 1 ? fmt::format("{:.1f}%", share) : fmt::format("{:.2g}%", share);
}

std::string duration(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} ms", 1e3 * seconds) : fmt::format("{:.2f} s", seconds);
}

}  // namespace fuselage::cli
