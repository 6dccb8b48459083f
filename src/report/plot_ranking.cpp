#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fuselage/core/error.h"
#include "plot_tables.h"

namespace fuselage::report {
namespace {

struct Metric {
  std::string_view name;
  std::string_view label;
  double scale = 1;
  bool less_is_better = false;
};

// Those of `rank-eval`.
constexpr std::array<Metric, 6> metrics = {{
    {"pairwise", "pairs in the right order, share"},
    {"tau", "Kendall's tau-b"},
    {"top_1", "top-1: best / first choice"},
    {"top_5", "top-5: best / best of the first five"},
    {"regret", "regret, % (lower is better)", 100, true},
    {"ndcg_5", "NDCG@5"},
}};

const Metric& metric_of(const std::string& name) {
  for (const Metric& metric : metrics)
    if (metric.name == name) return metric;
  std::string names;
  for (const Metric& metric : metrics) names += fmt::format("{}{}", names.empty() ? "" : ", ", metric.name);
  fail("--metric: {} is unknown; expected one of {}", quote(name), names);
}

std::vector<Metric> metrics_of(const std::vector<std::string>& names) {
  std::vector<Metric> wanted;
  for (const std::string& name : names) {
    if (std::any_of(wanted.begin(), wanted.end(), [&](const Metric& m) { return m.name == name; }))
      fail("--metric: {} is given twice; expected each once", quote(name));
    wanted.push_back(metric_of(name));
  }
  return wanted;
}

struct Estimate {
  std::size_t metric = 0;  // of those that are wanted
  std::string curve = {};
  std::string ranker = {};
  double mean = 0;
  double low = 0;
  double high = 0;
  std::string source = {};
};

class RankingPlot {
 public:
  explicit RankingPlot(std::vector<Metric> of) : wanted(std::move(of)) {
    for (const Metric& metric : wanted)
      plot.panels.push_back({.title = wanted.size() > 1 ? std::string(metric.label) : std::string()});
    if (wanted.size() == 1) plot.y.label = wanted.front().label;
  }

  void add(const Estimate& estimate) {
    const Metric& metric = wanted[estimate.metric];
    PlotSeries& series = series_of(plot.panels[estimate.metric], estimate.curve);
    const std::size_t category = category_of(plot, estimate.ranker);
    sources_.add(metric.name, estimate.curve, estimate.ranker, estimate.source);
    series.points.push_back({.x = static_cast<double>(category),
                             .y = metric.scale * estimate.mean,
                             .low = metric.scale * estimate.low,
                             .high = metric.scale * estimate.high});
  }

  void check_metrics() const {
    for (std::size_t m = 0; m < wanted.size(); ++m)
      if (plot.panels[m].series.empty())
        fail("--metric: no row that counts is about {}; expected a metric of the tables",
             quote(wanted[m].name));
  }

  const std::vector<Metric> wanted;
  Plot plot{.title = "Who ranks best?", .note = "Means with 95 % intervals.", .mark = PlotMark::estimates};

 private:
  Sources sources_;
};

constexpr std::string_view expected = "what 'fuselage rank-eval --json' or experiments/ranking writes";

// A file on its own needs no name: whose figures they are, the rows say.
void add_json(RankingPlot& plot, const PlotInput& file, bool only_one) {
  const Json json = read_document(file, "rankers", expected);
  const JsonField document(json, file.source);
  const JsonField rankers = document.required("rankers");
  for (std::size_t r = 0; r < rankers.array_size(); ++r) {
    const JsonField ranker = rankers.element(r);
    const JsonField figures = ranker.required("figures");
    const std::string& name = ranker.required("ranker").string();
    for (std::size_t m = 0; m < plot.wanted.size(); ++m) {
      const JsonField figure = figures.required(plot.wanted[m].name);
      const JsonField value = figure.required("value");
      const JsonField low = figure.required("low");
      const JsonField high = figure.required("high");
      plot.add({.metric = m,
                .curve = only_one ? std::string() : file.name,
                .ranker = name,
                .mean = value.number(),
                .low = low.number(),
                .high = high.number(),
                .source = source_of(ranker)});
    }
  }
}

void add_table(RankingPlot& plot, const PlotInput& file, std::vector<Condition> where, bool only_one) {
  const CsvTable table = read_table(file, "set,ranker,metric,mean,low,high", expected);
  const bool says_schedules =
      std::any_of(where.begin(), where.end(), [](const Condition& c) { return c.column == "schedules"; });
  if (table.find("schedules") && !says_schedules) where.push_back({.column = "schedules", .value = "all"});
  const std::size_t ranker = column_of(table, "ranker", expected);
  const std::size_t metric = column_of(table, "metric", expected);
  const std::array<std::size_t, 3> figures = {column_of(table, "mean", expected),
                                              column_of(table, "low", expected),
                                              column_of(table, "high", expected)};
  const auto set = table.find("set");
  const std::vector<Metric>& wanted = plot.wanted;
  for (const CsvRow* row : rows_where(table, where)) {
    const auto found = std::find_if(wanted.begin(), wanted.end(),
                                    [&](const Metric& m) { return m.name == row->fields[metric]; });
    if (found == wanted.end()) continue;
    std::string name = set ? row->fields[*set] : std::string();
    if (!only_one) name += (set ? ", " : "") + file.name;
    plot.add({.metric = static_cast<std::size_t>(found - wanted.begin()),
              .curve = std::move(name),
              .ranker = row->fields[ranker],
              .mean = table.number(*row, figures[0]),
              .low = table.number(*row, figures[1]),
              .high = table.number(*row, figures[2]),
              .source = source_of(table, *row)});
  }
}

// The best of the first series of the first panel on top; who is not in it goes last.
void sort_categories(Plot& plot, const Metric& metric) {
  const double sign = metric.less_is_better ? 1 : -1;
  std::vector<double> keys(plot.categories.size(), std::numeric_limits<double>::infinity());
  for (const PlotPoint& point : plot.panels.front().series.front().points)
    keys[static_cast<std::size_t>(point.x)] = sign * point.y;
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<std::string> categories;
  std::vector<double> places(order.size());
  for (const std::size_t i : order) {
    places[i] = static_cast<double>(categories.size());
    categories.push_back(plot.categories[i]);
  }
  plot.categories = std::move(categories);
  for (PlotPanel& panel : plot.panels)
    for (PlotSeries& series : panel.series)
      for (PlotPoint& point : series.points) point.x = places[static_cast<std::size_t>(point.x)];
}

}  // namespace

Plot ranking_plot(std::span<const PlotInput> files, const RankingOptions& options) {
  RankingPlot ranking(metrics_of(options.metrics));
  for (const PlotInput& file : files) {
    if (is_json(file.text))
      add_json(ranking, file, files.size() == 1);
    else
      add_table(ranking, file, options.where, files.size() == 1);
  }
  ranking.check_metrics();
  sort_categories(ranking.plot, ranking.wanted.front());
  return std::move(ranking.plot);
}

}  // namespace fuselage::report
