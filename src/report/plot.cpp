#include "fuselage/report/plot.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "fuselage/core/csv.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::report {
namespace {

// More than that nobody can tell apart, or wants in a file.
constexpr std::size_t most_panels = 12;
constexpr std::size_t most_series = 40;
constexpr std::size_t most_categories = 60;
constexpr std::size_t most_points = 200'000;
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

void check_count(std::string_view what, std::size_t count, std::size_t most) {
  if (count > most) fail("the plot has {} {}; expected at most {}", count, what, most);
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

}  // namespace

void check(const Plot& plot) {
  std::size_t points = 0;
  check_count("panels", plot.panels.size(), most_panels);
  check_count("categories", plot.categories.size(), most_categories);
  for (const PlotPanel& panel : plot.panels) {
    std::size_t of_panel = 0;
    check_count("curves in a panel", panel.series.size(), most_series);
    for (const PlotSeries& series : panel.series) {
      check(plot, series);
      of_panel += series.points.size();
    }
    if (of_panel == 0) fail("there is nothing to draw; expected at least one row with figures");
    points += of_panel;
  }
  if (points == 0) fail("there is nothing to draw; expected at least one row with figures");
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
