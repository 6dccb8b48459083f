#include "units.h"

#include <fmt/format.h>

#include <cmath>

namespace fuselage::cli {
namespace {

constexpr const char* none = "-";  // also for a share of nothing, and other figures that are no number

}  // namespace

std::string cycles(const std::optional<double>& value) {
  return value ? cycles(*value) : none;
}

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.2f}", 100 * fraction) : none;
}

std::string decimal(double value) {
  if (!std::isfinite(value)) return none;
  const std::string text = fmt::format("{:.3f}", value);
  return text == "-0.000" ? text.substr(1) : text;
}
std::string decimal(const std::optional<double>& value) {
  return value ? decimal(*value) : none;
}

std::string gap_percent(double fraction) {
  const double share = 100 * fraction;
  if (!std::isfinite(share)) return none;
  return share >= 1 ? fmt::format("{:.1f}%", share) : fmt::format("{:.2g}%", share);
}

std::string duration(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} ms", 1e3 * seconds) : fmt::format("{:.2f} s", seconds);
}

}  // namespace fuselage::cli
