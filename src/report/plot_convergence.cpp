#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/report/search_log.h"
#include "fuselage/search/outcome.h"
#include "plot_tables.h"

namespace fuselage::report {
namespace {

constexpr double least_gap = 0.01;        // percent; less is drawn at the bottom
constexpr double least_share = 1e-12;     // a gap of less is one of rounding: none
constexpr std::size_t most_points = 600;  // of a curve; of more events, the last of every so many
constexpr double none = std::numeric_limits<double>::infinity();

struct Event {
  double x = 0;  // steps or seconds
  std::size_t graph = 0;
  double incumbent = none;
  double lower_bound = 0;
};

struct Log {
  std::string name = {};
  std::vector<std::string> graphs = {};  // by number
  std::vector<Event> events = {};        // of a graph in order of time
};

constexpr std::string_view expected =
    "a log of 'fuselage search --log', or a CSV with the columns engine, steps, gap_percent, ms";

// What a first line that is no object of its own belongs to, for messages: a document over many lines.
void refuse_document(const PlotInput& file) {
  Json document;
  try {
    document = parse_json(file.text, file.source);
  } catch (const Error&) {
    return;  // then what is wrong with the line says more
  }
  fail("{}: {}; expected {}", file.source, contents_of(document), expected);
}

// Is it a log at all? What is wrong with one, its reader says.
void check_log(const PlotInput& file) {
  const std::string_view text = file.text;
  const std::string_view from = text.substr(text.find_first_not_of(" \t\r\n"));
  Json line;
  try {
    line = parse_json(from.substr(0, from.find('\n')), file.source);
  } catch (const Error&) {
    refuse_document(file);
    return;
  }
  if (!line.is_object() || !(line.contains("incumbent") || line.contains("lower_bound")))
    fail("{}: the first line {}; expected {}", file.source, contents_of(line), expected);
}

Log read_log(const PlotInput& file, bool by_seconds) {
  check_log(file);
  Log log{.name = file.name};
  std::map<std::string, std::size_t> places;
  for (const LogLine& line : read_search_log(file.text, file.source)) {
    const auto [place, is_new] = places.emplace(line.graph, log.graphs.size());
    if (is_new) log.graphs.push_back(line.graph);
    log.events.push_back({.x = by_seconds ? line.entry.seconds : line.entry.steps,
                          .graph = place->second,
                          .incumbent = line.entry.incumbent.value_or(none),
                          .lower_bound = line.entry.lower_bound.value_or(-none)});
  }
  return log;
}

std::map<std::string, double> best_of(const std::vector<Log>& logs) {
  std::map<std::string, double> best;
  for (const Log& log : logs)
    for (const Event& event : log.events) {
      const auto place = best.emplace(log.graphs[event.graph], none).first;
      place->second = std::min(place->second, event.incumbent);
    }
  return best;
}

// Curves over different graphs say nothing about each other.
void check_graphs(const std::vector<Log>& logs, std::span<const PlotInput> files) {
  const auto sorted = [](const Log& log) {
    return std::set<std::string>(log.graphs.begin(), log.graphs.end());
  };
  const auto refuse_missing = [](const std::set<std::string>& graphs, const Log& log, const std::string& with,
                                 const std::string& without) {
    for (const std::string& graph : log.graphs)
      if (!graphs.contains(graph))
        fail("{}: says nothing of graph {}, which is in {}; expected logs of the same graphs", without,
             quote(graph), with);
  };
  const std::set<std::string> first = sorted(logs.front());
  for (std::size_t i = 1; i < logs.size(); ++i) {
    refuse_missing(sorted(logs[i]), logs.front(), files.front().source, files[i].source);
    refuse_missing(first, logs[i], files[i].source, files.front().source);
  }
}

// A gap is a share of a latency.
void check_incumbents(const Log& log, const std::string& source, const std::map<std::string, double>* best) {
  for (const Event& event : log.events) {
    if (event.incumbent == none) continue;
    const std::string& graph = log.graphs[event.graph];
    const double least = best ? best->at(graph) : event.incumbent;
    const bool is_wrong = best ? event.incumbent <= 0 || (least > 0 && std::isinf(event.incumbent / least))
                               : event.incumbent <= 0 && event.incumbent > event.lower_bound;
    if (is_wrong)
      fail("{}: graph {}: no gap is a share of a plan of latency {}; expected latencies > 0", source,
           quote(graph), least);
  }
}

// Of what no curve comes.
[[noreturn]] void refuse_empty(const Log& log, const std::string& source) {
  std::set<std::size_t> planned;
  for (const Event& event : log.events)
    if (event.incumbent < none) planned.insert(event.graph);
  if (2 * planned.size() > log.graphs.size())
    fail("{}: no bound is known for half of the graphs that have a plan; expected bounds, or --gap best",
         source);
  fail("{}: no plan was found for half of the graphs; expected a log with incumbents", source);
}

// In percent; infinite while there is no plan.
double gap_of(const Event& event, const std::optional<double>& best) {
  if (event.incumbent == none) return none;
  const double gap = best ? event.incumbent / *best - 1 : search::gap(event.incumbent, event.lower_bound);
  return gap < least_share ? 0 : 100 * gap;
}

// What the graphs' gaps are after each event, or, of very many, after the last of every so many.
std::vector<PlotPoint> curve_of(const Log& log, const std::map<std::string, double>* best) {
  std::vector<Event> events = log.events;
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.x < b.x; });
  std::vector<double> gaps(log.graphs.size(), none);
  std::vector<PlotPoint> points;
  const std::size_t every = 1 + events.size() / most_points;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    gaps[event.graph] = gap_of(event, best ? std::optional(best->at(log.graphs[event.graph])) : std::nullopt);
    const bool is_last = i + 1 == events.size();
    if (!is_last && (events[i + 1].x == event.x || (i + 1) % every != 0)) continue;
    std::vector<double> sorted = gaps;
    std::sort(sorted.begin(), sorted.end());
    const Quartiles now = quartiles_of(sorted);
    if (!std::isfinite(now.median)) continue;
    PlotPoint point{.x = event.x, .y = now.median};
    if (log.graphs.size() > 1 && std::isfinite(now.high)) {
      point.low = now.low;
      point.high = now.high;
    }
    const bool same = !points.empty() && points.back().y == point.y && points.back().low == point.low &&
                      points.back().high == point.high;
    if (!same || is_last) points.push_back(point);
  }
  return points;
}

// Steps that begin at 0 have no place on a logarithmic axis; they are drawn where the others begin.
double floor_of(const Plot& plot) {
  double least = none;
  double most = 0;
  for (const PlotPanel& panel : plot.panels)
    for (const PlotSeries& series : panel.series)
      for (const PlotPoint& point : series.points) {
        if (point.x > 0) least = std::min(least, point.x);
        most = std::max(most, point.x);
      }
  if (most == 0) return 1;
  return std::pow(10, std::floor(std::log10(std::max(least, most * 1e-7)) + 1e-9));
}

Plot begin_plot(const ConvergenceOptions& options) {
  return {.title = options.above_best ? "How far above the best plan" : "Gap between plan and bound",
          .x = {.label = options.by_seconds ? "seconds" : "steps (kernels priced)", .log = true},
          .y = {.label = options.above_best ? "above the best plan: (plan - best) / best, %"
                                            : "gap to the bound: (plan - bound) / plan, %",
                .log = true,
                .floor = least_gap}};
}

Plot plot_logs(std::span<const PlotInput> files, const ConvergenceOptions& options) {
  std::vector<Log> logs;
  for (const PlotInput& file : files) logs.push_back(read_log(file, options.by_seconds));
  check_graphs(logs, files);
  const std::vector<std::string>& graphs = logs.front().graphs;
  const std::map<std::string, double> of_all = best_of(logs);
  const std::map<std::string, double>* best = options.above_best ? &of_all : nullptr;
  for (std::size_t i = 0; i < logs.size(); ++i) check_incumbents(logs[i], files[i].source, best);
  Plot plot = begin_plot(options);
  plot.mark = PlotMark::steps;
  plot.note = graphs.size() == 1
                  ? graphs.front()
                  : fmt::format("Median over {} graphs; the bands are the quartiles.", graphs.size());
  PlotPanel& panel = panel_of(plot, "");
  Sources sources;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    std::vector<PlotPoint> points = curve_of(logs[i], best);
    if (points.empty()) refuse_empty(logs[i], files[i].source);
    sources.add("", logs[i].name, "", files[i].source);
    panel.series.push_back({.name = logs[i].name, .points = std::move(points)});
  }
  plot.x.floor = floor_of(plot);
  return plot;
}

void add_table(Plot& plot, const PlotInput& file, const ConvergenceOptions& options, bool only_one) {
  const CsvTable table = read_table(file, "engine,steps,gap_percent,ms", expected);
  const std::size_t engine = column_of(table, "engine", expected);
  const std::size_t x = column_of(table, options.by_seconds ? "ms" : "steps", expected);
  const std::size_t gap =
      column_of(table, options.above_best ? "above_best_percent" : "gap_percent", expected);
  const auto rules = table.find("rules");
  for (const CsvRow* row : rows_where(table, options.where)) {
    const auto value = optional_number(table, *row, gap);
    if (!value) continue;
    const std::string name =
        only_one ? row->fields[engine] : fmt::format("{}, {}", row->fields[engine], file.name);
    PlotPanel& panel = panel_of(plot, rules ? row->fields[*rules] : std::string());
    series_of(panel, name)
        .points.push_back({.x = table.number(*row, x) / (options.by_seconds ? 1e3 : 1.0), .y = *value});
  }
}

Plot plot_tables(std::span<const PlotInput> files, const ConvergenceOptions& options) {
  Plot plot = begin_plot(options);
  plot.mark = PlotMark::points;
  plot.note = "Where each engine ended.";
  for (const PlotInput& file : files) add_table(plot, file, options, files.size() == 1);
  plot.x.floor = floor_of(plot);
  return plot;
}

}  // namespace

Plot convergence_plot(std::span<const PlotInput> files, const ConvergenceOptions& options) {
  const auto logs =
      std::count_if(files.begin(), files.end(), [](const auto& file) { return is_json(file.text); });
  if (logs == 0) return plot_tables(files, options);
  if (logs != static_cast<std::ptrdiff_t>(files.size()))
    fail("convergence: some files are logs and some are tables; expected one or the other");
  if (!options.where.empty()) fail("--where: is about tables; expected no such option with logs");
  return plot_logs(files, options);
}

}  // namespace fuselage::report
