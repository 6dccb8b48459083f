// What the upper-bound analysis answers, as tables for people and as one JSON document for programs; both
// print the same figures.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/oracle/headroom.h"
#include "fuselage/oracle/headroom_claims.h"

namespace fuselage::cli {

// One target, under each of the rule sets that were asked for.
struct HeadroomAnswer {
  std::string name;
  int ops = 0;
  Hardware hardware;
  std::optional<oracle::Published> published;  // if the target is one of the five tasks
  std::vector<oracle::Headroom> headrooms;
  std::string error;  // why there are none
};

// For each target the schedules of policies and optima, what each decision is worth, and what the dashes
// stand for; then two tables of all targets: scores, and headroom.
std::string headroom_table(const std::vector<HeadroomAnswer>& answers);

// Its last two tables, with the mean of each rule set where there are several targets.
std::string headroom_summary(const std::vector<HeadroomAnswer>& answers);

// An asterisk for a latency that nobody has proven to be the least; the notes say more.
std::string optimum_cell(const oracle::Solution& solution);

// {budget, unseen, results: [{name, ops, published, rules: [...]}]}; figures that don't exist are null. Only
// `seconds` differs between two runs.
nlohmann::ordered_json headroom_json(const std::vector<HeadroomAnswer>& answers, const Budget& budget);

// Claim by claim the figure of every reading, by task, and whether the claim holds in it.
std::string claims_table(const std::vector<oracle::Claim>& claims);
nlohmann::ordered_json claims_json(const std::vector<oracle::Claim>& claims);

}  // namespace fuselage::cli
