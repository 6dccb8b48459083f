// Habits of policies (oracle/habits.h) as a table for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuselage/oracle/habits.h"
#include "fuselage/walk/rules.h"

namespace fuselage::cli {

struct HabitsRow {
  std::string policy;
  bool reference = false;  // computed here, not from a transcript
  walk::Rules rules = walk::Rules::seed_honest;
  oracle::Habits habits = {};
};

// One table; every row under its own rules.
std::string habits_table(const std::vector<HabitsRow>& rows);
nlohmann::ordered_json habits_json(const oracle::Habits& habits);

}  // namespace fuselage::cli
