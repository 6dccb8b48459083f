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

using TaskSet = std::array<bool, 5>;  // which of the five tasks, in their order

struct ClaimReading {
  std::string name;                             // short, the same under every rule set
  std::string definition;                       // what is divided by what
  std::string rules;                            // the rule set's name, or whose accounting else it is
  TaskSet scope = {};       // the claim's, but for the script, which measures some of the tasks only
  std::array<std::optional<double>, 5> values;  // by task, fractions; none where a plan is illegal
  bool proven = true;                           // do all the optima that it needs have their proof?
};

struct Claim {
  std::string name;
  std::string text;  // what is claimed
  int low = 0;       // percent, both included
  int high = 0;
  TaskSet scope = {};  // the tasks that it is about
  std::vector<ClaimReading> readings;

  // The tasks of the scope whose value, rounded to whole percent, is within the range.
  TaskSet within(const ClaimReading& reading) const;
  bool holds(const ClaimReading& reading) const { return within(reading) == reading.scope; }
};

// `budget` is that of each search.
std::vector<Claim> check_claims(const Budget& budget = {});

}  // namespace fuselage::oracle
