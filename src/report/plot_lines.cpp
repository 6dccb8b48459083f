#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fuselage/core/error.h"
#include "plot_tables.h"

namespace fuselage::report {
namespace {

struct Columns {
  std::size_t x = 0;
  std::vector<std::size_t> y = {};
  std::vector<std::size_t> by = {};
  std::optional<std::size_t> panel = {};
  std::optional<std::size_t> low = {};
  std::optional<std::size_t> high = {};
};

Columns columns_of(const CsvTable& table, const LinesOptions& options) {
  const auto optional = [&](const std::string& name) {
    return name.empty() ? std::nullopt : std::optional(column_of(table, name));
  };
  Columns columns{.x = column_of(table, options.x),
                  .panel = optional(options.panel),
                  .low = optional(options.low),
                  .high = optional(options.high)};
  for (const std::string& name : options.y) columns.y.push_back(column_of(table, name));
  for (const std::string& name : options.by) columns.by.push_back(column_of(table, name));
  return columns;
}

// All rows of a curve with the same x.
struct Heap {
  double sum = 0;
  double least = 0;
  double most = 0;
  double low = 0;  // sums of the intervals' ends
  double high = 0;
  int count = 0;

  void add(double y, double low_end, double high_end) {
    least = count == 0 ? y : std::min(least, y);
    most = count == 0 ? y : std::max(most, y);
    sum += y;
    low += low_end;
    high += high_end;
    ++count;
  }
};

using Curve = std::map<double, Heap>;

class LinesPlot {
 public:
  explicit LinesPlot(const LinesOptions& options) : options_(options) {
    plot_.x = {.label = options.x, .log = options.log_x};
    plot_.y = {.label = options.y.size() == 1 ? options.y.front() : std::string(), .log = options.log_y};
  }

  void add(const PlotInput& file, bool only_one) {
    const CsvTable table = read_table(file, options_.x + "," + options_.y.front(),
                                      "a CSV, whose first line has names of columns");
    const Columns columns = columns_of(table, options_);
    for (const CsvRow* row : rows_where(table, options_.where))
      for (const std::size_t y : columns.y) add_cell(table, columns, *row, y, only_one ? "" : file.name);
  }

  Plot take() && {
    const bool has_interval = !options_.low.empty();
    bool differs = false;  // rows that became one point
    for (const auto& curves : curves_)
      for (const Curve& curve : curves)
        for (const auto& [x, heap] : curve) differs = differs || heap.least < heap.most;
    for (std::size_t p = 0; p < curves_.size(); ++p)
      for (std::size_t s = 0; s < curves_[p].size(); ++s)
        for (const auto& [x, heap] : curves_[p][s]) {
          PlotPoint point{.x = x, .y = heap.sum / heap.count};
          if (has_interval || differs) {
            point.low = has_interval ? heap.low / heap.count : heap.least;
            point.high = has_interval ? heap.high / heap.count : heap.most;
          }
          plot_.panels[p].series[s].points.push_back(point);
        }
    if (differs)
      plot_.note =
          has_interval ? "Means of rows." : "Means of rows; the bands go from the least to the largest.";
    return std::move(plot_);
  }

 private:
  void add_cell(const CsvTable& table, const Columns& columns, const CsvRow& row, std::size_t y,
                const std::string& file) {
    const auto across = number(table, row, columns.x, options_.log_x);
    const auto up = number(table, row, y, options_.log_y);
    if (!across || !up) return;
    const auto end = [&](const std::optional<std::size_t>& column) {
      const auto value = column ? number(table, row, *column, options_.log_y) : up;
      if (!value) table.refuse(row, *column, "an end of the interval of the figure that is there");
      return *value;
    };
    curve_of(columns.panel ? row.fields[*columns.panel] : "", name_of(table, columns, row, y, file))[*across]
        .add(*up, end(columns.low), end(columns.high));
  }

  static std::optional<double> number(const CsvTable& table, const CsvRow& row, std::size_t column,
                                      bool log) {
    const auto value = optional_number(table, row, column);
    if (log && value && *value <= 0)
      table.refuse(row, column, "a number > 0 on a logarithmic axis, or a linear one");
    return value;
  }

  std::string name_of(const CsvTable& table, const Columns& columns, const CsvRow& row, std::size_t y,
                      const std::string& file) const {
    std::string name;
    const auto add = [&](const std::string& part) { name += (name.empty() ? "" : ", ") + part; };
    for (const std::size_t column : columns.by) add(row.fields[column]);
    if (columns.y.size() > 1) add(table.names()[y]);
    if (!file.empty()) add(file);
    return name;
  }

  Curve& curve_of(std::string_view panel_title, std::string_view name) {
    PlotPanel& panel = panel_of(plot_, panel_title);
    const auto p = static_cast<std::size_t>(&panel - plot_.panels.data());
    const PlotSeries& series = series_of(panel, name);
    const auto s = static_cast<std::size_t>(&series - panel.series.data());
    if (p == curves_.size()) curves_.emplace_back();
    if (s == curves_[p].size()) curves_[p].emplace_back();
    return curves_[p][s];
  }

  const LinesOptions& options_;
  Plot plot_;
  std::vector<std::vector<Curve>> curves_;  // by panel and series
};

}  // namespace

Plot lines_plot(std::span<const PlotInput> files, const LinesOptions& options) {
  if (options.x.empty() || options.y.empty())
    fail("lines: what to draw is not said; expected --x COLUMN and --y COLUMN");
  if (options.low.empty() != options.high.empty())
    fail("lines: an interval has one end; expected --low COLUMN and --high COLUMN");
  if (!options.low.empty() && options.y.size() > 1)
    fail("lines: --low and --high are about one --y; expected one");
  LinesPlot plot(options);
  for (const PlotInput& file : files) plot.add(file, files.size() == 1);
  return std::move(plot).take();
}

}  // namespace fuselage::report
