// The environment's words for errors, its penalties and its two scores.

#include <algorithm>
#include <array>

#include "fuselage/grid/fusionops.h"

namespace fuselage::grid {

std::string_view step_error_class_name(StepErrorClass error_class) {
  constexpr std::array<std::string_view, 7> names = {
      "Parse Error (invalid action format)",
      "Invalid Action",
      "Already Scheduled (op already executed)",
      "Dependency Error (op not ready)",
      "Connectivity Error (ops do not form connected subgraph)",
      "Retention Error (tensor not produced by current subgraph)",
      "Memory Error (working set too large)",
  };
  return names[static_cast<std::size_t>(error_class)];
}

double step_penalty(StepErrorClass error_class) {
  switch (error_class) {
    case StepErrorClass::memory:
      return -0.05;
    case StepErrorClass::parse:
    case StepErrorClass::invalid_action:
    case StepErrorClass::already_scheduled:
      return -0.10;
    case StepErrorClass::connectivity:
    case StepErrorClass::retention:
      return -0.15;
    case StepErrorClass::dependency:
      return -0.20;
  }
  return 0;
}

StepErrorClass step_error_class(StepFault fault) {
  switch (fault) {
    case StepFault::parse:
      return StepErrorClass::parse;
    case StepFault::already_scheduled:
    case StepFault::duplicate_op:
      return StepErrorClass::already_scheduled;
    case StepFault::dependency:
    case StepFault::not_stored:
      return StepErrorClass::dependency;
    case StepFault::connectivity:
      return StepErrorClass::connectivity;
    case StepFault::retention:
      return StepErrorClass::retention;
    case StepFault::memory:
      return StepErrorClass::memory;
    case StepFault::unknown_op:
    case StepFault::dimensions:
    case StepFault::traversal_length:
    case StepFault::traversal_order:
      break;
  }
  return StepErrorClass::invalid_action;
}

double fusionops_score(const FusionopsTotals& totals) {
  if (totals.total_latency <= 0) return 0;
  if (!totals.complete)
    return static_cast<double>(totals.covered_ops) / static_cast<double>(totals.ops) * 0.1;
  const double ratio = totals.naive_latency / (totals.naive_latency + totals.total_latency);
  return std::min(std::max(0.0, (ratio - 0.5) * 2), 1.0);
}

std::optional<double> fusionops_readme_score(const FusionopsTotals& totals) {
  if (!totals.complete) return std::nullopt;
  return std::max(0.0, (totals.naive_latency - totals.total_latency) / totals.naive_latency);
}

}  // namespace fuselage::grid
