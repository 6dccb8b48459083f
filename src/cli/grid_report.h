// What a search of grid problems answers, as a table for people and as one JSON document for programs; both
// print the same solutions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/instance.h"
#include "fuselage/oracle/grid_solve.h"

namespace fuselage::cli {

// The scores of the environment: of fusionops problems only.
struct GridScores {
  double naive_latency = 0;  // the environment's: every op alone at native granularity
  std::optional<double> score = {};
  std::optional<double> readme_score = {};
};
// None under mlsys, which has no scores.
std::optional<GridScores> scores_of(const grid::Instance& instance, const grid::Rules& rules,
                                    const std::optional<double>& latency);

// One target that was searched, or could not be.
struct GridAnswer {
  std::string name;
  int ops = 0;
  grid::Rules rules = {};
  std::optional<oracle::GridSolution> solution = {};  // none: refused, see `error`
  std::optional<GridScores> scores = {};
  std::optional<double> known = {};  // latency of the best plan in the store before the search
  std::string plan_path = {};        // of the file written; empty: none
  std::string error = {};            // why there is no plan, or no file of it; empty: all is well

  // The environment's under its rules, the search's own otherwise.
  double naive_latency() const;
};

// A row a target, what the columns mean, and a line for each plan of a search that a budget ended.
std::string grid_table(const std::vector<GridAnswer>& answers, const oracle::GridSolveOptions& options);

// {compute, co_consumers, engine, seed, threads, budget, results: [...]}; figures that don't exist are null.
// Only `seconds`, and what the store knows, differ between two runs of one search.
nlohmann::ordered_json grid_json(const std::vector<GridAnswer>& answers,
                                 const oracle::GridSolveOptions& options);

}  // namespace fuselage::cli
