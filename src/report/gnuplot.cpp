#include "fuselage/report/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/core/program.h"
#include "fuselage/report/label.h"
#include "plot_layout.h"
#include "plot_text.h"

namespace fuselage::report {
namespace {

// Okabe and Ito's palette, which colour-blind people can tell apart, in the order of contrast to white; grey
// stands for its yellow, which is hardly seen there. Then again, dashed.
constexpr std::array<const char*, 8> colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                               "#E69F00", "#56B4E9", "#000000", "#8A8A8A"};
constexpr std::array<const char*, 5> dashes = {"solid", "(6,4)", "(2,3)", "(8,3,2,3)", "(12,4)"};
// gnuplot's: disc, triangle, square, diamond, the triangle upside down, pentagon, ring.
constexpr std::array<int, 7> shapes = {7, 9, 5, 13, 11, 15, 6};
constexpr const char* ink = "#222222";
constexpr const char* faint = "#E4E4E4";
constexpr const char* bold = "bold";             // a font's name for gnuplot, which knows no weights
constexpr std::size_t labelled_points = 40;      // more labels would hide each other
constexpr std::size_t longest_point_label = 12;  // characters
constexpr std::size_t marked_points = 24;        // a curve of more has no marks at its points

struct Style {
  std::string color;
  std::string dash;
  int shape;
};

Style style_of(std::size_t place) {
  return {.color = fmt::format("rgb '{}'", colors[place % colors.size()]),
          .dash = dashes[place / colors.size() % dashes.size()],
          .shape = shapes[place % shapes.size()]};
}

std::string bar_label(double value) {
  const std::string label = fmt::format("{:.1f}", value);
  return label == "-0.0" ? "0.0" : label;
}

class Writer {
 public:
  Writer(const Plot& plot, const PlotSize& size) : plot_(plot), layout_(lay_out(plot, size)) {}

  GnuplotScript take() && {
    begin();
    add_heading();
    for (std::size_t i = 0; i < plot_.panels.size(); ++i) add_panel(plot_.panels[i], layout_.panels[i]);
    line("unset multiplot");
    return {.text = std::move(text_), .texts = std::move(texts_).take(), .titles = std::move(titles_)};
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  std::string quoted(const std::string& text) { return "'" + texts_.add(text) + "'"; }
  // Of the whole picture, in gnuplot's units.
  double across(double x) const { return x / layout_.width; }
  double up(double y) const { return 1 - y / layout_.height; }
  std::string at(double x, double y) const { return fmt::format("screen {:.6f},{:.6f}", across(x), up(y)); }
  bool is_steps() const { return plot_.mark == PlotMark::steps || plot_.mark == PlotMark::front; }
  bool is_line() const { return plot_.mark == PlotMark::lines || is_steps(); }
  // Are the categories below each other, and the values across?
  bool is_rows() const { return plot_.mark == PlotMark::estimates || plot_.mark == PlotMark::spans; }
  PlotMark mark_of(const PlotSeries& series) const { return series.mark.value_or(plot_.mark); }
  PlotMark mark_of(const std::string& name) const {
    for (const PlotPanel& panel : plot_.panels)
      for (const PlotSeries& series : panel.series)
        if (series.name == name) return mark_of(series);
    return plot_.mark;
  }

  void begin() {
    line("set encoding utf8");
    line("set decimalsign '.'");
    line("set terminal svg size {},{} fixed font 'sans-serif,12' noenhanced background '#ffffff' linewidth 1",
         layout_.width, layout_.height);
    line("set multiplot");
    line("unset key");
    line("set samples 100");
    line("set border 3 lc rgb '#777777' lw 1");
    line("set tics nomirror out scale 0.6,0.3 textcolor rgb '{}'", ink);
    line("set style fill solid 1 noborder");
    line("set bars 0");
  }

  void add_label(const std::string& text, double x, double y, std::string_view options = "") {
    if (!text.empty()) line("set label {} at {} textcolor rgb '{}' {}", quoted(text), at(x, y), ink, options);
  }

  void add_heading() {
    add_label(layout_.title, margin, margin + 8, fmt::format("font '{},15'", bold));
    add_label(layout_.note, margin, layout_.height - margin - 2, "font 'sans-serif,11'");
    for (std::size_t i = 0; i < layout_.legend.size(); ++i)
      add_legend(layout_.legend[i], style_of(i), mark_of(layout_.names[i]));
  }

  void add_legend(const LegendEntry& entry, const Style& style, PlotMark mark) {
    const double middle = entry.x + legend_sample / 2;
    const bool is_box = mark == PlotMark::bars || mark == PlotMark::spans;
    if (is_box)
      line("set object rectangle from {} to {} fc {} fs solid noborder", at(entry.x + 6, entry.y + 6),
           at(entry.x + legend_sample - 4, entry.y - 6), style.color);
    if (!is_box && mark != PlotMark::points)
      line("set arrow from {} to {} nohead lw 2 lc {} dt {}", at(entry.x, entry.y),
           at(entry.x + legend_sample, entry.y), style.color, style.dash);
    if (!is_box)
      line("set label '' at {} point pt {} ps 0.6 lc {}", at(middle, entry.y), style.shape, style.color);
    add_label(entry.text, entry.x + legend_sample + 6, entry.y);
  }

  void add_panel(const PlotPanel& panel, const PanelLayout& placed) {
    const PlotBox& box = placed.box;
    line("set lmargin at screen {:.6f}", across(box.left));
    line("set rmargin at screen {:.6f}", across(box.right));
    line("set tmargin at screen {:.6f}", up(box.top));
    line("set bmargin at screen {:.6f}", up(box.bottom));
    add_axes(placed);
    add_label(placed.title, box.left, box.top - 11, fmt::format("font '{},12'", bold));
    add_data(panel);
    add_curves(panel, placed);
    line("unset label");
    line("unset arrow");
    line("unset object");
  }

  void add_axes(const PanelLayout& placed) {
    const PlotBox& box = placed.box;
    const bool rows = is_rows();
    const PlotAxis& below = rows ? plot_.y : plot_.x;
    line("unset logscale");
    line("unset grid");
    add_axis('x', placed.across, below.log);
    add_axis('y', placed.up, !rows && plot_.y.log);
    const bool is_first = box.left < layout_.panels.front().box.left + 1;
    if (!plot_.categories.empty()) add_categories(rows ? 'y' : 'x', !rows || is_first);
    line("set grid {} lt 1 lw 1 lc rgb '{}', lt 1 lw 1 lc rgb '{}' back",
         plot_.mark == PlotMark::bars ? "noxtics ytics" : "xtics ytics", faint, faint);
    add_label(below.label, (box.left + box.right) / 2, box.bottom + layout_.label_below, "center");
    if (!rows && is_first)
      add_label(plot_.y.label, margin + 6, (box.top + box.bottom) / 2, "center rotate by 90");
  }

  void add_axis(char name, const Scale& scale, bool log) {
    const bool turned = name == 'y' && is_rows();  // the first category above
    line("set {}range [{}:{}]", name, turned ? scale.high : scale.low, turned ? scale.low : scale.high);
    if (log) line("set logscale {} 10", name);
    std::string ticks;
    for (const Tick& tick : scale.ticks)
      ticks += fmt::format("{}'{}' {} {}", ticks.empty() ? "" : ", ", tick.label, tick.at,
                           tick.label.empty() ? 1 : 0);
    line("set {}tics norotate offset {} ({})", name, name == 'x' ? "0,0.35" : "0.4,0", ticks);
  }

  void add_categories(char axis, bool named) {
    std::string ticks;
    for (std::size_t i = 0; i < layout_.categories.size(); ++i)
      ticks +=
          fmt::format("{}{} {}", ticks.empty() ? "" : ", ", named ? quoted(layout_.categories[i]) : "''", i);
    const std::string slant =
        layout_.slant > 0 ? fmt::format("rotate by {} right", layout_.slant) : "norotate";
    line("set {}tics {} scale 0,0 offset {} ({})", axis, slant, axis == 'x' ? "0,0.35" : "0,0", ticks);
  }

  // Numbers only; a datablock for each curve, and for its band.
  void add_data(const PlotPanel& panel) {
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const std::vector<PlotPoint>& points = panel.series[s].points;
      const double shift = shift_of(layout_.place_of(panel.series[s].name));
      line("$d{} << END", s);
      for (const PlotPoint& point : points) add_point(point, point.x + shift);
      line("END");
      if (is_line() && has_band(panel.series[s])) add_band(points, s);
    }
  }

  // Of the points that have an interval: of a log, not those from before enough graphs had a plan.
  void add_band(const std::vector<PlotPoint>& points, std::size_t data) {
    line("$b{} << END", data);
    const PlotPoint* last = nullptr;
    for (const PlotPoint& point : points) {
      if (!point.low || !point.high) continue;
      if (last && is_steps()) add_point(*last, point.x);
      add_point(point, point.x);
      last = &point;
    }
    line("END");
  }

  void add_point(const PlotPoint& point, double x) {
    line("{} {} {} {}", drawn(plot_.x, x), drawn(plot_.y, point.y),
         drawn(plot_.y, point.low.value_or(point.y)), drawn(plot_.y, point.high.value_or(point.y)));
  }
  static double drawn(const PlotAxis& axis, double value) {
    return axis.log && axis.floor ? std::max(value, *axis.floor) : value;
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

  void add_curves(const PlotPanel& panel, const PanelLayout& placed) {
    std::string curves;
    const auto add = [&](const PlotSeries& series, const std::string& what) {
      curves += (curves.empty() ? "" : ", \\\n  ") + what;
      titles_.push_back(series.name);
    };
    for (std::size_t s = 0; s < panel.series.size(); ++s)
      if (is_line() && has_band(panel.series[s]))
        add(panel.series[s],
            fmt::format("$b{} using 1:3:4 with filledcurves fc {} fs transparent solid 0.16 noborder", s,
                        style_of(layout_.place_of(panel.series[s].name)).color));
    for (std::size_t s = 0; s < panel.series.size(); ++s)
      for (const std::string& how : ways(panel.series[s]))
        add(panel.series[s], fmt::format("$d{} {}", s, how));
    if (plot_.mark == PlotMark::bars) {
      add_bar_labels(panel, placed);
      line("set arrow from graph 0, first 0 to graph 1, first 0 nohead lw 1 lc rgb '#777777' front");
    }
    for (const PlotSeries& series : panel.series) add_point_labels(series, placed);
    line("plot {}", curves);
  }

  // Does some series differ from the plot, so that dots on its lines would be taken for those?
  bool has_marks_of_its_own() const {
    return std::any_of(plot_.panels.begin(), plot_.panels.end(), [](const PlotPanel& panel) {
      return std::any_of(panel.series.begin(), panel.series.end(),
                         [](const PlotSeries& series) { return series.mark.has_value(); });
    });
  }

  // In the middle of a span that is wide enough; beside a point, unless there are too many.
  void add_point_labels(const PlotSeries& series, const PanelLayout& placed) {
    const bool spans = plot_.mark == PlotMark::spans;
    if (!spans && series.points.size() > labelled_points) return;
    const double pixels = (placed.box.right - placed.box.left) / (placed.across.high - placed.across.low);
    for (const PlotPoint& point : series.points) {
      if (point.label.empty()) continue;
      const std::string text = label_of(point.label, longest_point_label);
      const double low = point.low.value_or(point.y);
      const double high = point.high.value_or(point.y);
      if (!spans)
        line("set label {} at first {},{} left offset 0.9,0 font 'sans-serif,10' textcolor rgb '{}'",
             quoted(text), drawn(plot_.x, point.x), drawn(plot_.y, point.y), ink);
      else if ((high - low) * pixels > text_width(text) + 4)
        line("set label {} at first {},{} center front font 'sans-serif,11' textcolor rgb '#ffffff'",
             quoted(text), (low + high) / 2, point.x);
    }
  }

  static bool has_band(const PlotSeries& series) {
    return std::count_if(series.points.begin(), series.points.end(),
                         [](const PlotPoint& point) { return point.low && point.high; }) > 1;
  }

  // How a curve is drawn: gnuplot's words, for each thing that is drawn of it.
  std::vector<std::string> ways(const PlotSeries& series) const {
    if (series.points.empty()) return {};
    const Style style = style_of(layout_.place_of(series.name));
    const auto dots = [&](double size) {
      return fmt::format("using 1:2 with points pt {} ps {} lc {}", style.shape, size, style.color);
    };
    if (plot_.mark == PlotMark::bars)
      return {fmt::format("using 1:2:({}) with boxes fc {}", slot() * 0.94, style.color)};
    if (plot_.mark == PlotMark::estimates)
      return {
          fmt::format("using 2:1:3:4 with xerrorbars pt {} ps 0.6 lw 1.5 lc {}", style.shape, style.color)};
    if (plot_.mark == PlotMark::spans)
      return {fmt::format(
          "using 2:1:3:4:($1-0.4):($1+0.4) with boxxyerror fc {} fs solid border lc rgb '#ffffff'",
          style.color)};
    if (mark_of(series) == PlotMark::points) return {dots(0.9)};
    if (series.points.size() == 1) return {dots(0.7)};
    std::vector<std::string> both = {fmt::format("using 1:2 with {} lw 2 lc {} dt {}",
                                                 is_steps() ? "steps" : "lines", style.color, style.dash)};
    const bool few =
        plot_.mark == PlotMark::lines && !has_marks_of_its_own() && series.points.size() <= marked_points;
    if (few || plot_.mark == PlotMark::front) both.push_back(dots(0.5));
    if (plot_.mark == PlotMark::steps)  // where it begins and ends
      both.push_back(fmt::format("every {} {}", series.points.size() - 1, dots(0.6)));
    return both;
  }

  // Above the bar, or below what goes down; none if they would run into each other.
  void add_bar_labels(const PlotPanel& panel, const PanelLayout& placed) {
    const double pixels =
        (placed.box.right - placed.box.left) / (placed.across.high - placed.across.low) * slot();
    if (pixels < 19) return;
    for (const PlotSeries& series : panel.series)
      for (const PlotPoint& point : series.points)
        line("set label '{}' at first {},{} center offset 0,{} font 'sans-serif,9' textcolor rgb '{}'",
             bar_label(point.y), point.x + shift_of(layout_.place_of(series.name)), point.y,
             point.y < 0 ? -0.55 : 0.55, ink);
  }

  const Plot& plot_;
  PlotLayout layout_;
  std::string text_;
  Placeholders texts_;
  std::vector<std::string> titles_;
};

void replace_between(std::string& text, std::size_t& from, std::string_view open, std::string_view close,
                     const std::string& content) {
  const std::size_t begin = text.find(open, from);
  const std::size_t end = begin == std::string::npos ? begin : text.find(close, begin);
  if (end == std::string::npos) fail("gnuplot: its SVG has no {}; expected gnuplot 5.4 or later", open);
  text.replace(begin + open.size(), end - begin - open.size(), content);
  from = begin + open.size() + content.size();
}

void make_bold(std::string& svg) {
  const std::string from = fmt::format("font-family=\"{}\"", bold);
  const std::string_view to = "font-family=\"sans-serif\" font-weight=\"bold\"";
  for (std::size_t at = svg.find(from); at != std::string::npos; at = svg.find(from, at + to.size()))
    svg.replace(at, from.size(), to);
}

}  // namespace

GnuplotScript gnuplot_script(const Plot& plot, const PlotSize& size) {
  check(plot);
  return Writer(plot, size).take();
}

std::string plot_svg(const Plot& plot, const PlotSize& size) {
  const GnuplotScript script = gnuplot_script(plot, size);
  std::string svg = with_texts(
      run_program({.arguments = {"gnuplot", "-d"}, .package = "gnuplot-nox"}, script.text), script.texts);
  make_bold(svg);
  // What gnuplot says of itself, and the numbers of its curves, give way to what readers of a screen and
  // pointers want to know.
  std::size_t from = 0;
  const auto text = [](const std::string& name) { return xml_escaped(label_of(name, 200)); };
  replace_between(svg, from, "<title>", "</title>", text(plot.title.empty() ? plot.y.label : plot.title));
  replace_between(svg, from, "<desc>", "</desc>", text(plot.note));
  for (const std::string& title : script.titles)
    replace_between(svg, from, "<title>", "</title>", text(title));
  return svg;
}

}  // namespace fuselage::report
