#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "fuselage/core/error.h"
#include "plot_tables.h"

namespace fuselage::report {
namespace {

constexpr std::string_view expected = "the budget.csv of experiments/budget";

struct GapColumn {
  std::size_t column = 0;
  double measurements = 0;
};

// "gap_16_percent"; what is no number between is another figure.
std::vector<GapColumn> gap_columns(const CsvTable& table) {
  constexpr std::string_view begin = "gap_";
  constexpr std::string_view end = "_percent";
  std::vector<GapColumn> columns;
  for (std::size_t c = 0; c < table.names().size(); ++c) {
    std::string_view name = table.names()[c];
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() <= begin.size() + end.size())
      continue;
    name = name.substr(begin.size(), name.size() - begin.size() - end.size());
    int count = 0;
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), count);
    if (error == std::errc() && last == name.data() + name.size() && count > 0)
      columns.push_back({.column = c, .measurements = static_cast<double>(count)});
  }
  if (columns.empty())
    fail(
        "{}: line 1: no column has the gap after so many measurements, as gap_16_percent; expected {}; the "
        "columns are {}",
        table.source(), expected, listed(table.names(), 12));
  return columns;
}

struct Sum {
  double sum = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double mean() const { return sum / count; }
};

using Key = std::pair<std::string, std::string>;            // kind, filter
using Gaps = std::map<double, std::map<std::string, Sum>>;  // by measurements and graph: over seeds

PlotPoint mean_over_graphs(double measurements, const std::map<std::string, Sum>& graphs) {
  const auto count = static_cast<double>(graphs.size());
  double mean = 0;
  for (const auto& [graph, sum] : graphs) mean += sum.mean() / count;
  double squares = 0;
  for (const auto& [graph, sum] : graphs) squares += (sum.mean() - mean) * (sum.mean() - mean);
  PlotPoint point{.x = measurements, .y = mean};
  if (graphs.size() < 2) return point;
  const double error = 1.96 * std::sqrt(squares / (count - 1) / count);
  point.low = std::max(0.0, mean - error);
  point.high = mean + error;
  return point;
}

void add_file(Plot& plot, const PlotInput& file, const std::vector<Condition>& where, bool only_one) {
  const CsvTable table = read_table(file, "kind,graph,filter,seed,gap_16_percent,gap_64_percent", expected);
  const std::size_t graph = column_of(table, "graph", expected);
  const std::size_t filter = column_of(table, "filter", expected);
  const auto kind = table.find("kind");
  const std::vector<GapColumn> columns = gap_columns(table);
  std::vector<Key> order;
  std::map<Key, Gaps> all;
  for (const CsvRow* row : rows_where(table, where)) {
    const Key key = {kind ? row->fields[*kind] : "", row->fields[filter]};
    if (!all.contains(key)) order.push_back(key);
    Gaps& gaps = all[key];
    for (const GapColumn& column : columns)
      if (const auto gap = optional_number(table, *row, column.column))
        gaps[column.measurements][row->fields[graph]].add(*gap);
  }
  for (const Key& key : order) {
    const std::string name = only_one ? key.second : fmt::format("{}, {}", key.second, file.name);
    PlotSeries& series = series_of(panel_of(plot, key.first), name);
    for (const auto& [measurements, graphs] : all[key])
      series.points.push_back(mean_over_graphs(measurements, graphs));
  }
}

}  // namespace

Plot budget_plot(std::span<const PlotInput> files, const std::vector<Condition>& where) {
  Plot plot{.title = "How good a schedule after how many measurements",
            .note = "Means over graphs; the bands are 1.96 standard errors to each side.",
            .x = {.label = "measurements", .log = true},
            .y = {.label = "gap to the optimum, %"}};
  for (const PlotInput& file : files) add_file(plot, file, where, files.size() == 1);
  return plot;
}

}  // namespace fuselage::report
