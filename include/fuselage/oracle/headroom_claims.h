// The environment's authors verify three properties of their tasks: retention matters (a gap of 12 to 18 % on
// graphs with skips), tiles matter (218 %), and greedy can be beaten (by 5 to 17 %). What a sentence like
// that says depends on what is compared with what, so every reading of it that makes sense gets its figure,
// the one of their own verification script first; none is picked because it suits.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/core/budget.h"

namespace fuselage::oracle {

struct ClaimReading {
  std::string name;                             // short, the same under every rule set
  std::string definition;                       // what is divided by what
  std::string rules;                            // the rule set's name, or whose accounting else it is
  std::array<std::optional<double>, 5> values;  // by task, fractions; none where a plan is illegal
  bool proven = true;                           // do all the optima that it needs have their proof?
};

struct Claim {
  std::string name;
  std::string text;  // what is claimed
  int low = 0;       // percent, both included
  int high = 0;
  std::array<bool, 5> scope = {};  // the tasks that it is about
  std::vector<ClaimReading> readings;

  int in_scope() const;
  // Tasks of the scope whose value, rounded to whole percent, is within the range.
  int within(const ClaimReading& reading) const;
  bool holds(const ClaimReading& reading) const { return within(reading) == in_scope(); }
};

// `budget` is that of each search.
std::vector<Claim> check_claims(const Budget& budget = {});

}  // namespace fuselage::oracle
