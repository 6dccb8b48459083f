// A user's scores: a CSV file (RFC 4180, commas, names in the first line) with the columns `group`, `cost`
// and one column of scores for each ranker; `weight`, of a group, is optional. Rows of a group may stand
// anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuselage::cli {

struct ScoredGroup {
  std::string name;
  double weight = 1;
  std::vector<double> costs;                // of the range that rankers are judged by, as weights
  std::vector<std::vector<double>> scores;  // by ranker, finite, as many as costs
};

struct ScoreTable {
  std::vector<std::string> rankers;  // at least one
  std::vector<ScoredGroup> groups;   // by first appearance; at least one
  std::size_t rows = 0;
};

// Error with `source`, line, column and what would be right.
ScoreTable parse_scores(std::string_view text, const std::string& source);

}  // namespace fuselage::cli
