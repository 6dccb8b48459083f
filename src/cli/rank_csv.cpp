#include "rank_csv.h"

#include <map>
#include <optional>

#include "fuselage/core/csv.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/learn/ranking_metrics.h"

namespace fuselage::cli {
namespace {

struct Columns {
  std::size_t group = 0;
  std::size_t cost = 0;
  std::optional<std::size_t> weight = {};
  std::vector<std::size_t> scores = {};
};

Columns columns_of(const CsvTable& csv) {
  Columns columns{.group = csv.column("group"), .cost = csv.column("cost"), .weight = csv.find("weight")};
  for (std::size_t c = 0; c < csv.names().size(); ++c)
    if (c != columns.group && c != columns.cost && c != columns.weight) columns.scores.push_back(c);
  if (columns.scores.empty())
    fail("{}: line 1: there is no column of scores; expected names such as group,cost,score", csv.source());
  return columns;
}

double ranked_number(const CsvTable& csv, const CsvRow& row, std::size_t column) {
  const double value = csv.positive_number(row, column);
  if (value < learn::least_ranked || value > learn::most_ranked)
    csv.refuse(row, column, fmt::format("a number from {} to {}", learn::least_ranked, learn::most_ranked));
  return value;
}

}  // namespace

ScoreTable parse_scores(std::string_view text, const std::string& source) {
  const CsvTable csv(text, source, "group,cost,score");
  const Columns columns = columns_of(csv);
  if (csv.rows().empty()) fail("{}: has no rows after its first line; expected some to rank", source);
  ScoreTable table;
  table.rows = csv.rows().size();
  for (const std::size_t column : columns.scores) table.rankers.push_back(csv.names()[column]);
  std::map<std::string, std::size_t> places;
  for (const CsvRow& row : csv.rows()) {
    const double weight = columns.weight ? ranked_number(csv, row, *columns.weight) : 1;
    const auto [place, is_new] = places.emplace(row.fields[columns.group], table.groups.size());
    if (is_new)
      table.groups.push_back({.name = place->first,
                              .weight = weight,
                              .costs = {},
                              .scores = std::vector<std::vector<double>>(table.rankers.size())});
    ScoredGroup& group = table.groups[place->second];
    if (weight != group.weight)
      csv.refuse(
          row, *columns.weight,
          fmt::format("{}, as in the rows of group {} before", json_number(group.weight), quote(group.name)));
    group.costs.push_back(ranked_number(csv, row, columns.cost));
    for (std::size_t r = 0; r < columns.scores.size(); ++r)
      group.scores[r].push_back(csv.number(row, columns.scores[r]));
  }
  return table;
}

}  // namespace fuselage::cli
