#include "plot_curves.h"

#include <algorithm>

#include "fuselage/report/label.h"

namespace fuselage::report {
namespace {

constexpr std::size_t labelled_points = 40;      // more labels would hide each other
constexpr std::size_t longest_point_label = 12;  // characters
constexpr std::size_t marked_points = 24;        // a curve of more has no marks at its points
constexpr double least_bordered = 3;             // pixels: the border of a span takes one of them

std::string bar_label(double value) {
  const std::string label = fmt::format("{:.1f}", value);
  return label == "-0.0" ? "0.0" : label;
}

double drawn(const PlotAxis& axis, double value) {
  return axis.log && axis.floor ? std::max(value, *axis.floor) : value;
}

bool has_band(const PlotSeries& series) {
  return std::count_if(series.points.begin(), series.points.end(),
                       [](const PlotPoint& point) { return point.low && point.high; }) > 1;
}

class PanelCurves {
 public:
  PanelCurves(PlotScript& script, const PlotPanel& panel, const PanelLayout& placed)
      : script_(script),
        plot_(script.plot()),
        layout_(script.layout()),
        panel_(panel),
        pixels_((placed.box.right - placed.box.left) / (placed.across.high - placed.across.low)) {}

  // Numbers only; a datablock for each curve, and for its band.
  void add_data() {
    for (std::size_t s = 0; s < panel_.series.size(); ++s) {
      const PlotSeries& series = panel_.series[s];
      if (plot_.mark == PlotMark::spans) {
        add_block('d', s, series, [&](const PlotPoint& point) { return !is_thin(point); });
        add_block('t', s, series, [&](const PlotPoint& point) { return is_thin(point); });
        continue;
      }
      add_block('d', s, series, [](const PlotPoint&) { return true; });
      if (script_.is_line() && has_band(series)) add_band(series.points, s);
    }
  }

  void add_curves() {
    for (std::size_t s = 0; s < panel_.series.size(); ++s)
      if (script_.is_line() && has_band(panel_.series[s]))
        add_curve('b', s,
                  fmt::format("using 1:3:4 with filledcurves fc {} fs transparent solid 0.16 noborder",
                              style(panel_.series[s]).color));
    if (plot_.mark == PlotMark::spans) {  // thin ones last, so that no border of a neighbour covers them
      add_spans(false);
      add_spans(true);
    } else {
      for (std::size_t s = 0; s < panel_.series.size(); ++s)
        for (const std::string& how : ways(panel_.series[s])) add_curve('d', s, how);
    }
    if (plot_.mark == PlotMark::bars) {
      add_bar_labels();
      script_.line("set arrow from graph 0, first 0 to graph 1, first 0 nohead lw 1 lc rgb '#777777' front");
    }
    for (const PlotSeries& series : panel_.series) add_point_labels(series);
    if (curves_.empty()) {  // gnuplot draws no axes without a curve
      script_.add_title("");
      curves_ = "NaN";
    }
    script_.line("plot {}", curves_);
  }

 private:
  PlotStyle style(const PlotSeries& series) const { return style_of(layout_.place_of(series.name)); }

  // A border would hide it.
  bool is_thin(const PlotPoint& point) const {
    return (point.high.value_or(point.y) - point.low.value_or(point.y)) * pixels_ < least_bordered;
  }

  template <class Counts>
  void add_block(char kind, std::size_t s, const PlotSeries& series, Counts counts) {
    const double shift = shift_of(layout_.place_of(series.name));
    script_.line("${}{} << END", kind, s);
    for (const PlotPoint& point : series.points)
      if (counts(point)) add_point(point, point.x + shift);
    script_.line("END");
  }

  // Of the points that have an interval: of a log, not those from before enough graphs had a plan.
  void add_band(const std::vector<PlotPoint>& points, std::size_t s) {
    script_.line("$b{} << END", s);
    const PlotPoint* last = nullptr;
    for (const PlotPoint& point : points) {
      if (!point.low || !point.high) continue;
      if (last && script_.is_steps()) add_point(*last, point.x);
      add_point(point, point.x);
      last = &point;
    }
    script_.line("END");
  }

  void add_point(const PlotPoint& point, double x) {
    script_.line("{} {} {} {}", drawn(plot_.x, x), drawn(plot_.y, point.y),
                 drawn(plot_.y, point.low.value_or(point.y)), drawn(plot_.y, point.high.value_or(point.y)));
  }

  void add_curve(char kind, std::size_t s, const std::string& how) {
    curves_ += fmt::format("{}${}{} {}", curves_.empty() ? "" : ", \\\n  ", kind, s, how);
    script_.add_title(panel_.series[s].name);
  }

  void add_spans(bool thin) {
    for (std::size_t s = 0; s < panel_.series.size(); ++s) {
      const std::vector<PlotPoint>& points = panel_.series[s].points;
      if (std::none_of(points.begin(), points.end(),
                       [&](const PlotPoint& point) { return is_thin(point) == thin; }))
        continue;
      add_curve(thin ? 't' : 'd', s,
                fmt::format("using 2:1:3:4:($1-0.4):($1+0.4) with boxxyerror fc {} fs solid {}",
                            style(panel_.series[s]).color, thin ? "noborder" : "border lc rgb '#ffffff'"));
    }
  }

  // Series of a category stand beside each other.
  double slot() const {
    const double most = plot_.mark == PlotMark::bars ? 0.8 : 0.7;
    return most / static_cast<double>(layout_.names.size());
  }
  double shift_of(std::size_t place) const {
    if (plot_.categories.empty() || plot_.mark == PlotMark::spans) return 0;
    return (static_cast<double>(place) - static_cast<double>(layout_.names.size() - 1) / 2) * slot();
  }

  // Does some series differ from the plot, so that dots on its lines would be taken for those?
  bool has_marks_of_its_own() const {
    return std::any_of(plot_.panels.begin(), plot_.panels.end(), [](const PlotPanel& panel) {
      return std::any_of(panel.series.begin(), panel.series.end(),
                         [](const PlotSeries& series) { return series.mark.has_value(); });
    });
  }

  // How a curve is drawn: gnuplot's words, for each thing that is drawn of it.
  std::vector<std::string> ways(const PlotSeries& series) const {
    if (series.points.empty()) return {};
    const PlotStyle style = this->style(series);
    const auto dots = [&](double size) {
      return fmt::format("using 1:2 with points pt {} ps {} lc {}", style.shape, size, style.color);
    };
    if (plot_.mark == PlotMark::bars)
      return {fmt::format("using 1:2:({}) with boxes fc {}", slot() * 0.94, style.color)};
    if (plot_.mark == PlotMark::estimates)
      return {
          fmt::format("using 2:1:3:4 with xerrorbars pt {} ps 0.6 lw 1.5 lc {}", style.shape, style.color)};
    if (script_.mark_of(series) == PlotMark::points) return {dots(0.9)};
    if (series.points.size() == 1) return {dots(0.7)};
    std::vector<std::string> both = {fmt::format("using 1:2 with {} lw 2 lc {} dt {}",
                                                 script_.is_steps() ? "steps" : "lines", style.color,
                                                 style.dash)};
    const bool few =
        plot_.mark == PlotMark::lines && !has_marks_of_its_own() && series.points.size() <= marked_points;
    if (few || plot_.mark == PlotMark::front) both.push_back(dots(0.5));
    if (plot_.mark == PlotMark::steps)  // where it begins and ends
      both.push_back(fmt::format("every {} {}", series.points.size() - 1, dots(0.6)));
    return both;
  }

  // In the middle of a span that is wide enough; beside a point, unless there are too many.
  void add_point_labels(const PlotSeries& series) {
    const bool spans = plot_.mark == PlotMark::spans;
    if (!spans && series.points.size() > labelled_points) return;
    for (const PlotPoint& point : series.points) {
      if (point.label.empty()) continue;
      const std::string text = label_of(point.label, longest_point_label);
      const double low = point.low.value_or(point.y);
      const double high = point.high.value_or(point.y);
      if (!spans)
        script_.line("set label {} at first {},{} left offset 0.9,0 font 'sans-serif,10' textcolor rgb '{}'",
                     script_.quoted(text), drawn(plot_.x, point.x), drawn(plot_.y, point.y), ink);
      else if ((high - low) * pixels_ > text_width(text) + 4)
        script_.line("set label {} at first {},{} center front font 'sans-serif,11' textcolor rgb '#ffffff'",
                     script_.quoted(text), (low + high) / 2, point.x);
    }
  }

  // Above the bar, or below what goes down; none if they would run into each other.
  void add_bar_labels() {
    if (pixels_ * slot() < 19) return;
    for (const PlotSeries& series : panel_.series)
      for (const PlotPoint& point : series.points)
        script_.line(
            "set label '{}' at first {},{} center offset 0,{} font 'sans-serif,9' textcolor rgb '{}'",
            bar_label(point.y), point.x + shift_of(layout_.place_of(series.name)), point.y,
            point.y < 0 ? -0.55 : 0.55, ink);
  }

  PlotScript& script_;
  const Plot& plot_;
  const PlotLayout& layout_;
  const PlotPanel& panel_;
  double pixels_;  // across, for a unit of a linear axis
  std::string curves_;
};

}  // namespace

void add_curves(PlotScript& script, const PlotPanel& panel, const PanelLayout& placed) {
  PanelCurves curves(script, panel, placed);
  curves.add_data();
  curves.add_curves();
}

}  // namespace fuselage::report
