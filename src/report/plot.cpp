#include "fuselage/report/plot.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "fuselage/core/csv.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "plot_limits.h"

namespace fuselage::report {
namespace {

constexpr double largest = 1e100;

void check_value(std::string_view what, const PlotAxis& axis, double value) {
  if (!std::isfinite(value) || std::abs(value) > largest)
    fail("{}: {} can't be drawn; expected numbers between -1e100 and 1e100", what, value);
  if (axis.log && !axis.floor && value < 1 / largest)
    fail("{}: {} is on no logarithmic axis; expected numbers above 0, or a linear axis", what, value);
}

void check(const Plot& plot, const PlotSeries& series) {
  const std::string what = series.name.empty() ? "the plot" : "the curve " + quote(series.name);
  for (const PlotPoint& point : series.points) {
    check_value(what, plot.x, point.x);
    check_value(what, plot.y, point.y);
    if (point.low) check_value(what, plot.y, *point.low);
    if (point.high) check_value(what, plot.y, *point.high);
  }
}

void check_axis(const PlotAxis& axis) {
  if (!axis.to_at_least) return;
  if (axis.log) fail("{}: a logarithmic axis has no 0; expected a linear one", quote(axis.label));
  check_value("the axis " + quote(axis.label), axis, *axis.to_at_least);
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

void check_count(std::string_view what, std::size_t count, std::size_t most) {
  if (count > most) fail("the plot has at least {} {}; expected at most {}", most + 1, what, most);
}

void check(const Plot& plot) {
  std::size_t points = 0;
  check_axis(plot.x);
  check_axis(plot.y);
  const bool has_range = plot.x.to_at_least || plot.y.to_at_least;
  check_count("panels", plot.panels.size(), most_panels);
  check_count("categories", plot.categories.size(), most_categories);
  for (const PlotPanel& panel : plot.panels) {
    std::size_t of_panel = 0;
    check_count("curves in a panel", panel.series.size(), most_series);
    for (const PlotSeries& series : panel.series) {
      check(plot, series);
      of_panel += series.points.size();
    }
    if (of_panel == 0 && !has_range) fail("there is nothing to draw; expected at least one row with figures");
    points += of_panel;
  }
  if (plot.panels.empty()) fail("there is nothing to draw; expected at least one row with figures");
  check_count("points", points, most_points);
}

std::string plot_data(const Plot& plot) {
  const bool categories = !plot.categories.empty();
  std::string text = csv_line(
      std::array<std::string, 6>{"panel", "series", categories ? "category" : "x", "y", "low", "high"});
  for (const PlotPanel& panel : plot.panels)
    for (const PlotSeries& series : panel.series)
      for (const PlotPoint& point : series.points)
        text += csv_line(std::array<std::string, 6>{
            panel.title, series.name,
            categories ? plot.categories.at(static_cast<std::size_t>(point.x)) : number(point.x),
            number(point.y), number(point.low), number(point.high)});
  return text;
}

}  // namespace fuselage::report
