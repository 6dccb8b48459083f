#include "fuselage/grid/rules.h"

#include <fmt/format.h>

namespace fuselage::grid {

std::string rules_text(const Rules& rules) {
  std::string text(name(rules.set));
  if (rules.set != RuleSet::mlsys) return text;  // the flags are about mlsys only
  text += fmt::format(", compute {}", name(rules.compute));
  if (rules.co_consumers) text += ", co-consumers";
  return text;
}

std::optional<Rules> parse_rules_text(std::string_view text) {
  for (const RuleSet set : {RuleSet::fusionops, RuleSet::fusionops_honest, RuleSet::mlsys})
    for (const Compute compute : {Compute::k, Compute::native_k})
      for (const bool co_consumers : {false, true}) {
        const Rules rules{.set = set, .compute = compute, .co_consumers = co_consumers};
        if (rules_text(rules) == text) return rules;
      }
  return std::nullopt;
}

}  // namespace fuselage::grid
