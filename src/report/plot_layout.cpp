#include "plot_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fuselage/core/error.h"
#include "fuselage/report/label.h"
#include "plot_text.h"

namespace fuselage::report {
namespace {

constexpr double title_height = 26;
constexpr double legend_row = 19;
constexpr double panel_title_height = 22;
constexpr double tick_height = 24;   // of the figures below an axis
constexpr double label_height = 20;  // of what an axis is about, also turned
constexpr double note_height = 20;
constexpr double tick_room = 15;   // beside the figures of an axis, to the axis
constexpr double right_room = 14;  // for half of the last figure below an axis
constexpr double least_panel = 40;
constexpr double usual_least_panel = 60;  // of what nobody has asked to be lower
constexpr std::size_t longest_name = 40;

bool is_across(PlotMark mark) {  // categories one below the other
  return mark == PlotMark::estimates || mark == PlotMark::spans;
}

std::string fitting(const std::string& text, double width) {
  std::size_t most = std::max<std::size_t>(4, static_cast<std::size_t>(width / 6.9));
  return label_of(text, most);
}

struct Bounds {
  double low = 1e300;
  double high = -1e300;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

// Of what the axis shows without any data.
Bounds least_bounds(const PlotAxis& axis) {
  Bounds bounds;
  if (!axis.to_at_least) return bounds;
  bounds.add(0);
  bounds.add(*axis.to_at_least);
  return bounds;
}

Bounds x_bounds(const PlotAxis& axis, const PlotPanel& panel) {
  Bounds bounds = least_bounds(axis);
  for (const PlotSeries& series : panel.series)
    for (const PlotPoint& point : series.points) bounds.add(point.x);
  return bounds;
}

Bounds y_bounds(const PlotAxis& axis, const PlotPanel& panel) {
  Bounds bounds = least_bounds(axis);
  for (const PlotSeries& series : panel.series)
    for (const PlotPoint& point : series.points) {
      bounds.add(point.y);
      if (point.low) bounds.add(*point.low);
      if (point.high) bounds.add(*point.high);
    }
  return bounds;
}

Extent extent_of(const PlotAxis& axis, Bounds bounds, double pixels_a_tick, double pixels) {
  if (bounds.empty()) bounds = axis.log ? Bounds{1, 10} : Bounds{0, 1};
  return {.low = bounds.low,
          .high = bounds.high,
          .log = axis.log,
          .floor = axis.floor,
          .ticks = std::clamp(static_cast<int>(pixels / pixels_a_tick), 2, 10)};
}

// The axis of values. It begins at zero unless all of them are far from it.
Scale value_scale(const Plot& plot, const PlotPanel& panel, double pixels_a_tick, double pixels) {
  const Bounds bounds = y_bounds(plot.y, panel);
  Extent extent = extent_of(plot.y, bounds, pixels_a_tick, pixels);
  const bool near_zero =
      bounds.low >= 0 ? bounds.low <= 0.4 * bounds.high : bounds.high <= 0 && bounds.high >= 0.4 * bounds.low;
  extent.from_zero = plot.mark == PlotMark::bars || near_zero;
  extent.to_ticks = !is_across(plot.mark);
  return scale_of(extent);
}

Scale category_scale(const Plot& plot) {
  return {.low = -0.5, .high = static_cast<double>(plot.categories.size()) - 0.5, .ticks = {}};
}

double widest_tick(const Scale& scale) {
  double widest = 0;
  for (const Tick& tick : scale.ticks) widest = std::max(widest, text_width(tick.label));
  return widest;
}

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text));
  return width;
}

// Fills the layout from above.
class Arrangement {
 public:
  Arrangement(const Plot& plot, const PlotSize& size) : plot_(plot) {
    layout_.width = size.width;
    const double inner = size.width - 2 * margin;
    layout_.title = fitting(plot.title, inner * 0.7);  // it is larger, and bold
    layout_.note = fitting(plot.note, inner * 1.1);    // it is smaller
    if (!plot.title.empty()) top_ += title_height;
    collect_names();
    place_legend(inner);
    name_categories();
    place_panels(size);
  }
  PlotLayout take() && { return std::move(layout_); }

 private:
  void collect_names() {
    for (const PlotPanel& panel : plot_.panels)
      for (const PlotSeries& series : panel.series)
        if (std::find(layout_.names.begin(), layout_.names.end(), series.name) == layout_.names.end())
          layout_.names.push_back(series.name);
  }

  void place_legend(double inner) {
    if (layout_.names.size() == 1 && layout_.names.front().empty()) return;
    double x = margin;
    double y = top_ + legend_row / 2;
    for (const std::string& name : layout_.names) {
      const std::string text = fitting(name, std::min(inner - legend_sample, 6.9 * longest_name));
      const double width = legend_sample + 6 + text_width(text);
      if (x > margin && x + width > margin + inner) {
        x = margin;
        y += legend_row;
      }
      layout_.legend.push_back({.text = text, .x = x, .y = y});
      x += width + 16;
    }
    top_ = y + legend_row / 2 + 6;
  }

  void name_categories() {
    const double most = is_across(plot_.mark) ? 0.4 * layout_.width : 180;
    for (const std::string& category : plot_.categories)
      layout_.categories.push_back(fitting(category, most));
  }

  std::size_t columns() const {
    const std::size_t count = plot_.panels.size();
    return count == 4 ? 2 : std::min<std::size_t>(count, is_across(plot_.mark) ? 2 : 3);
  }
  bool has_panel_titles() const {
    return std::any_of(plot_.panels.begin(), plot_.panels.end(),
                       [](const PlotPanel& panel) { return !panel.title.empty(); });
  }
  double usual_panel_height() const {
    if (!is_across(plot_.mark)) return plot_.panels.size() == 1 ? 320 : 250;
    const auto rows = static_cast<double>(plot_.categories.size());
    if (plot_.mark == PlotMark::spans) return 44 * rows;
    return std::max(usual_least_panel, rows * (8 + 9 * static_cast<double>(layout_.names.size())));
  }

  // Below a panel; a column is so wide.
  double room_below(double slot) {
    const double labels = (is_across(plot_.mark) ? plot_.y : plot_.x).label.empty() ? 4 : label_height;
    if (plot_.mark != PlotMark::bars) return tick_height + labels;
    const double name = widest(layout_.categories);
    if (name <= slot) return tick_height + labels;
    // Turned as little as possible: the first name must not leave the picture to the left.
    const bool is_short = name * std::cos(std::numbers::pi / 6) < 40 + slot / 2;
    layout_.slant = is_short ? 30 : 90;
    return tick_height + labels + name * std::sin(layout_.slant * std::numbers::pi / 180) - 6;
  }

  void place_panels(const PlotSize& size) {
    const std::size_t across = columns();
    const std::size_t rows = (plot_.panels.size() + across - 1) / across;
    const double label = room_of_names();
    const double column = (layout_.width - 2 * margin - label) / static_cast<double>(across);
    const double slot = (column - 50) / std::max<double>(1, static_cast<double>(plot_.categories.size()));
    const double above = has_panel_titles() ? panel_title_height : 8;
    const double below = room_below(slot);
    layout_.label_below = below - label_height / 2;
    const double end = margin / 2 + (plot_.note.empty() ? 0 : note_height);
    const double others = top_ + end + static_cast<double>(rows) * (above + below);
    layout_.height = size.height
                         ? *size.height
                         : static_cast<int>(others + static_cast<double>(rows) * usual_panel_height());
    const double height = (layout_.height - others) / static_cast<double>(rows);
    set_scales(column - right_room - 50, height);
    const double left = room_left();
    const double least = others + static_cast<double>(rows) * least_panel;
    if (height < least_panel)
      fail("a plot of {} by {} pixels has no room for what it shows; expected --height to be at least {}",
           layout_.width, layout_.height, std::ceil(least));
    if (column - left - right_room < least_panel)
      fail("a plot of {} by {} pixels has no room for what it shows; expected a larger --width",
           layout_.width, layout_.height);
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      const double x = margin + label + static_cast<double>(i % across) * column;
      const double y = top_ + static_cast<double>(i / across) * (above + height + below) + above;
      layout_.panels[i].title = fitting(plot_.panels[i].title, column - left);
      layout_.panels[i].box = {
          .left = x + left, .top = y, .right = x + column - right_room, .bottom = y + height};
    }
  }

  void set_scales(double width, double height) {
    for (const PlotPanel& panel : plot_.panels) {
      PanelLayout placed;
      const bool across = is_across(plot_.mark);
      const Scale values = value_scale(plot_, panel, across ? 50 : 45, across ? width : height);
      const Scale others = plot_.categories.empty()
                               ? scale_of(extent_of(plot_.x, x_bounds(plot_.x, panel), 60, width))
                               : category_scale(plot_);
      placed.across = across ? values : others;
      placed.up = across ? others : values;
      layout_.panels.push_back(std::move(placed));
    }
  }

  // To the left of the first column: what the axis of values is called, or the categories' names.
  double room_of_names() const {
    if (is_across(plot_.mark)) return widest(layout_.categories);
    return plot_.y.label.empty() ? 0 : label_height;
  }
  // To the left of every column.
  double room_left() const {
    double room = 0;
    for (const PanelLayout& panel : layout_.panels) room = std::max(room, widest_tick(panel.up));
    return room + tick_room;
  }

  const Plot& plot_;
  PlotLayout layout_;
  double top_ = margin;
};

}  // namespace

std::size_t PlotLayout::place_of(const std::string& name) const {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

PlotLayout lay_out(const Plot& plot, const PlotSize& size) {
  return Arrangement(plot, size).take();
}

}  // namespace fuselage::report
