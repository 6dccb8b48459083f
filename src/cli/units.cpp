#include "units.h"

#include <fmt/format.h>

#include <cmath>

#include "fuselage/core/cost.h"
#include "fuselage/search/outcome.h"

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

std::string gap_figure(double cost, double lower_bound, int decimals) {
  const double gap = meets(lower_bound, cost) ? 0 : search::gap(cost, lower_bound);
  const std::string text = fmt::format("{:.{}f}", 100 * gap, decimals);
  const bool reads_as_none = text.find_first_not_of("0.") == std::string::npos;
  return gap > 0 && reads_as_none ? fmt::format("<{:.{}f}", std::pow(10.0, -decimals), decimals) : text;
}

std::string duration(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} ms", 1e3 * seconds) : fmt::format("{:.2f} s", seconds);
}

}  // namespace fuselage::cli
