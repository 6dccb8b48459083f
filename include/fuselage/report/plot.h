// What a plot shows, before it is drawn: numbers and the words beside them. Each kind of table has a function
// (plot_kinds.h) that reads it into one of these; how it looks is decided once, in gnuplot.h, for all of
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fuselage::report {

struct PlotAxis {
  std::string label = {};  // with the unit
  bool log = false;
  // Of a logarithmic axis: what is less, zero included, is drawn here, and the tick here says so.
  std::optional<double> floor = {};
  // Of a linear axis of values: it shows 0 and this, whatever there is to draw, which then may be nothing.
  std::optional<double> to_at_least = {};
};

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low = {};  // an interval around y: both or none
  std::optional<double> high = {};
  std::string label = {};  // of points and spans, drawn where there is room
};

enum class PlotMark : std::uint8_t {
  lines,      // from point to point; the intervals are a band
  steps,      // a value counts until the next; the intervals are a band
  front,      // steps with a dot at each point
  points,     // on their own
  bars,       // side by side for each category, with their values
  estimates,  // a dot and its interval in a row for each category, values to the right
  spans,      // a box from the low to the high end of the interval, in the row of its category
};

struct PlotSeries {
  std::string name = {};
  std::vector<PlotPoint> points = {};
  std::optional<PlotMark> mark = {};  // points among lines; none: the plot's
};

// One of several drawings side by side. Series of the same name look alike in all of them.
struct PlotPanel {
  std::string title = {};
  std::vector<PlotSeries> series = {};
};

struct Plot {
  std::string title = {};
  std::string note = {};  // one line below: what the values are means of, what the bands are
  PlotMark mark = PlotMark::lines;
  PlotAxis x = {};
  PlotAxis y = {};
  std::vector<std::string> categories = {};  // of bars, estimates and spans, whose x is a place in this list
  std::vector<PlotPanel> panels = {};
};

// Error for a plot that can't be drawn: nothing in it, more than can be told apart, values that no axis has.
void check(const Plot& plot);

// The same numbers as CSV: panel, series, x (or the category's name), y, low, high.
std::string plot_data(const Plot& plot);

}  // namespace fuselage::report
