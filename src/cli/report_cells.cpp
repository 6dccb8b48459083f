#include "report_cells.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fuselage/core/cost.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

ordered_json limit_or_null(std::uint64_t limit) {
  return limit == std::numeric_limits<std::uint64_t>::max() ? ordered_json(nullptr) : ordered_json(limit);
}

}  // namespace

std::string proof_words(search::Proof proof, double gap) {
  if (proof == search::Proof::optimal) return "optimal";
  const bool space = proof == search::Proof::optimal_in_declared_space;
  const std::string words = space ? "best of space" : "not proven";
  return space && gap == 0 ? words : fmt::format("{}, gap {}", words, gap_percent(gap));
}

std::string known_words(double cost, const std::optional<double>& known) {
  if (!known) return "-";
  const double above = cost == *known ? 0 : (cost - *known) / *known;
  return percent(agree(cost, *known) ? 0.0 : above);
}

std::string_view ended_by(StopReason stop) {
  switch (stop) {
    case StopReason::steps:
      return "--steps";
    case StopReason::memory:
      return "--memory";
    case StopReason::time:
      return "--time";
    case StopReason::cancelled:
      return "an interrupt";
    case StopReason::exhausted:
      break;
  }
  return "itself";
}

ordered_json number_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}
ordered_json number_or_null(const std::optional<double>& value) {
  return value ? number_or_null(*value) : ordered_json(nullptr);
}
ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json budget_json(const Budget& budget) {
  return {{"steps", limit_or_null(budget.steps)},
          {"bytes", limit_or_null(budget.bytes)},
          {"seconds", number_or_null(budget.wall_seconds)}};
}

std::string dump(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace fuselage::cli
