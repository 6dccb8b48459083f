// What a search answers, as a table for people and as one JSON document for programs; both print the same
// solutions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/oracle/solve.h"

namespace fuselage::cli {

// One target that was searched, or could not be.
struct Answer {
  std::string name;
  int ops = 0;
  std::optional<oracle::Solution> solution;  // none: refused before the search, see `error`
  std::optional<double> known;               // cost of the best plan in the store before the search
  double seconds = 0;                        // of the whole solve, the check of the plan included
  std::string plan_path;                     // of the file written; empty: none
  std::string error;                         // why there is no plan, or no file of it; empty: all is well
};

// A row a target, what the columns mean, and a line for each best plan that is not proven.
std::string search_table(const std::vector<Answer>& answers, const oracle::SolveOptions& options);

// {rules, order, price, engine, seed, threads, budget, results: [...]}; figures that don't exist are null.
// Only `seconds`, and what the store knows, differ between two runs of one search.
nlohmann::ordered_json search_json(const std::vector<Answer>& answers, const oracle::SolveOptions& options);

}  // namespace fuselage::cli
