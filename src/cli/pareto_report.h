// A front of latency against bytes moved, as a table for people and as one JSON document for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/oracle/pareto.h"

namespace fuselage::cli {

// One target whose front was looked for, or could not be.
struct FrontAnswer {
  std::string name;
  int ops = 0;
  std::optional<oracle::ParetoFront> front;  // none: refused before the search, see `error`
  double seconds = 0;
  std::string error;  // why there is no front; empty: all is well
};

// A row a point, what the columns mean, and a line for each front that is not proven.
std::string pareto_table(const std::vector<FrontAnswer>& answers, const oracle::ParetoOptions& options);

// {rules, order, budget, results: [{name, ops, error, proof, ..., points: [...]}]}. Only `seconds` differs
// between two runs.
nlohmann::ordered_json pareto_json(const std::vector<FrontAnswer>& answers,
                                   const oracle::ParetoOptions& options);

}  // namespace fuselage::cli
