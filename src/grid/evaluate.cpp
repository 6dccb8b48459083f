#include "fuselage/grid/evaluate.h"

#include <array>

#include "evaluate_fusionops.h"
#include "evaluate_mlsys.h"
#include "fuselage/core/error.h"

namespace fuselage::grid {
namespace {

constexpr std::array<std::string_view, 15> fault_names = {
    "UNKNOWN_OP", "DUP",         "ORDER",         "NOT_AVAILABLE", "NOT_CONNECTED",
    "GRID",       "SUPERNATIVE", "SUPERNATIVE_K", "K_GT_OPK",      "PROLOGUE",
    "RETAIN",     "OOM",         "TRAVERSAL",     "COVERAGE",      "OUTPUT_NOT_STORED"};

}  // namespace

std::string_view fault_name(Fault fault) {
  return fault_names[static_cast<std::size_t>(fault)];
}

Evaluation evaluate(const Instance& instance, const Rules& rules, const Plan& plan) {
  switch (rules.set) {
    case RuleSet::mlsys:
      return evaluate_mlsys(instance, rules, plan);
    case RuleSet::fusionops:
    case RuleSet::fusionops_honest:
      return evaluate_fusionops(instance, rules, plan);
  }
  fail("rules: {} is no rule set", static_cast<int>(rules.set));
}

}  // namespace fuselage::grid
