// The tables that commands and experiments write, as plots: one function for each kind of table. A file that
// is no such table is an Error with the place of what is wrong; figures are never made up, and a cell that is
// empty is a point less.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/report/plot.h"

namespace fuselage::report {

struct PlotInput {
  std::string source = {};  // what messages call it
  std::string name = {};    // what its curve is called
  std::string text = {};
};

// Rows of a CSV file that count. Of several conditions on one column one has to hold, or, of those that
// exclude, all.
struct Condition {
  std::string column = {};
  std::string value = {};
  bool excludes = false;
};

// How fast engines get near to the best: logs of `search --log`, a curve a file, the median over its graphs
// with the quartiles as band, from when so many have a plan; or a table of final gaps by engine (engine,
// steps, gap_percent, ms, perhaps rules), a point an engine.
struct ConvergenceOptions {
  bool by_seconds = false;  // else by steps
  bool above_best = false;  // above the best plan in any of the files, else above the log's own bound
  std::vector<Condition> where = {};  // of tables
};
Plot convergence_plot(std::span<const PlotInput> files, const ConvergenceOptions& options);

// `headroom --json`: what policies get, and what can be got, in percent of greedy, by task.
struct HeadroomOptions {
  std::optional<std::string> rules = {};  // default: the first of the file
};
Plot headroom_plot(std::span<const PlotInput> files, const HeadroomOptions& options);

// `search --pareto traffic --json`: cycles and bytes of every plan on a front; of several fronts relative to
// the fastest plan of each.
Plot pareto_plot(std::span<const PlotInput> files);

// Metrics of rankers with their intervals: experiments/ranking's table (set, schedules, ranker, metric, mean,
// low, high) or `rank-eval --json`. A panel a metric.
struct RankingOptions {
  std::vector<std::string> metrics = {"pairwise"};
  std::vector<Condition> where = {};  // schedules=all unless it says something of schedules
};
Plot ranking_plot(std::span<const PlotInput> files, const RankingOptions& options);

// experiments/budget's table (kind, graph, filter, seed, gap_N_percent...): mean gaps after N measurements.
Plot budget_plot(std::span<const PlotInput> files, const std::vector<Condition>& where);

// Columns of any CSV file. Rows that agree in x and curve become their mean, in a band from the least to the
// largest.
struct LinesOptions {
  std::string x = {};
  std::vector<std::string> y = {};   // of several, a curve each
  std::vector<std::string> by = {};  // a curve for each combination of their values
  std::string panel = {};            // a panel for each of its values
  std::string low = {};              // columns of an interval around y; means of rows, as y
  std::string high = {};
  bool log_x = false;
  bool log_y = false;
  std::vector<Condition> where = {};
};
Plot lines_plot(std::span<const PlotInput> files, const LinesOptions& options);

}  // namespace fuselage::report
