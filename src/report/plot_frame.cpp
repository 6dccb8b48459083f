#include "plot_frame.h"

#include <array>

namespace fuselage::report {
namespace {

// Okabe and Ito's palette, which colour-blind people can tell apart, in the order of contrast to white; grey
// stands for its yellow, which is hardly seen there. Then again, dashed.
constexpr std::array<const char*, 8> colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                               "#E69F00", "#56B4E9", "#000000", "#8A8A8A"};
constexpr std::array<const char*, 5> dashes = {"solid", "(6,4)", "(2,3)", "(8,3,2,3)", "(12,4)"};
// gnuplot's: disc, triangle, square, diamond, the triangle upside down, pentagon, ring.
constexpr std::array<int, 7> shapes = {7, 9, 5, 13, 11, 15, 6};
constexpr const char* faint = "#E4E4E4";

class Frame {
 public:
  explicit Frame(PlotScript& script) : script_(script), plot_(script.plot()), layout_(script.layout()) {}

  void begin() {
    script_.line("set encoding utf8");
    script_.line("set decimalsign '.'");
    script_.line(
        "set terminal svg size {},{} fixed font 'sans-serif,12' noenhanced background '#ffffff' linewidth 1",
        layout_.width, layout_.height);
    script_.line("set multiplot");
    script_.line("unset key");
    script_.line("set samples 100");
    script_.line("set border 3 lc rgb '#777777' lw 1");
    script_.line("set tics nomirror out scale 0.6,0.3 textcolor rgb '{}'", ink);
    script_.line("set style fill solid 1 noborder");
    script_.line("set bars 0");
  }

  void add_heading() {
    add_label(layout_.title, margin, margin + 8, fmt::format("font '{},15'", bold));
    add_label(layout_.note, margin, layout_.height - margin - 2, "font 'sans-serif,11'");
    for (std::size_t i = 0; i < layout_.legend.size(); ++i)
      add_legend(layout_.legend[i], style_of(i), mark_of(layout_.names[i]));
  }

  void begin_panel(const PanelLayout& placed) {
    const PlotBox& box = placed.box;
    script_.line("set lmargin at screen {:.6f}", script_.across(box.left));
    script_.line("set rmargin at screen {:.6f}", script_.across(box.right));
    script_.line("set tmargin at screen {:.6f}", script_.up(box.top));
    script_.line("set bmargin at screen {:.6f}", script_.up(box.bottom));
    add_axes(placed);
    add_label(placed.title, box.left, box.top - 11, fmt::format("font '{},12'", bold));
  }

 private:
  std::string at(double x, double y) const {
    return fmt::format("screen {:.6f},{:.6f}", script_.across(x), script_.up(y));
  }

  PlotMark mark_of(const std::string& name) const {
    for (const PlotPanel& panel : plot_.panels)
      for (const PlotSeries& series : panel.series)
        if (series.name == name) return script_.mark_of(series);
    return plot_.mark;
  }

  void add_label(const std::string& text, double x, double y, std::string_view options = "") {
    if (!text.empty())
      script_.line("set label {} at {} textcolor rgb '{}' {}", script_.quoted(text), at(x, y), ink, options);
  }

  void add_legend(const LegendEntry& entry, const PlotStyle& style, PlotMark mark) {
    const double middle = entry.x + legend_sample / 2;
    const bool is_box = mark == PlotMark::bars || mark == PlotMark::spans;
    if (is_box)
      script_.line("set object rectangle from {} to {} fc {} fs solid noborder", at(entry.x + 6, entry.y + 6),
                   at(entry.x + legend_sample - 4, entry.y - 6), style.color);
    if (!is_box && mark != PlotMark::points)
      script_.line("set arrow from {} to {} nohead lw 2 lc {} dt {}", at(entry.x, entry.y),
                   at(entry.x + legend_sample, entry.y), style.color, style.dash);
    if (!is_box)
      script_.line("set label '' at {} point pt {} ps 0.6 lc {}", at(middle, entry.y), style.shape,
                   style.color);
    add_label(entry.text, entry.x + legend_sample + 6, entry.y);
  }

  void add_axes(const PanelLayout& placed) {
    const PlotBox& box = placed.box;
    const bool rows = script_.is_rows();
    const PlotAxis& below = rows ? plot_.y : plot_.x;
    script_.line("unset logscale");
    script_.line("unset grid");
    add_axis('x', placed.across, below.log);
    add_axis('y', placed.up, !rows && plot_.y.log);
    const bool is_first = box.left < layout_.panels.front().box.left + 1;
    if (!plot_.categories.empty()) add_categories(rows ? 'y' : 'x', !rows || is_first);
    script_.line("set grid {} lt 1 lw 1 lc rgb '{}', lt 1 lw 1 lc rgb '{}' back",
                 plot_.mark == PlotMark::bars ? "noxtics ytics" : "xtics ytics", faint, faint);
    add_label(below.label, (box.left + box.right) / 2, box.bottom + layout_.label_below, "center");
    if (!rows && is_first)
      add_label(plot_.y.label, margin + 6, (box.top + box.bottom) / 2, "center rotate by 90");
  }

  void add_axis(char name, const Scale& scale, bool log) {
    const bool turned = name == 'y' && script_.is_rows();  // the first category above
    script_.line("set {}range [{}:{}]", name, turned ? scale.high : scale.low,
                 turned ? scale.low : scale.high);
    if (log) script_.line("set logscale {} 10", name);
    std::string ticks;
    for (const Tick& tick : scale.ticks)
      ticks += fmt::format("{}'{}' {} {}", ticks.empty() ? "" : ", ", tick.label, tick.at,
                           tick.label.empty() ? 1 : 0);
    script_.line("set {}tics norotate offset {} ({})", name, name == 'x' ? "0,0.35" : "0.4,0", ticks);
  }

  void add_categories(char axis, bool named) {
    std::string ticks;
    for (std::size_t i = 0; i < layout_.categories.size(); ++i)
      ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ",
                           named ? script_.quoted(layout_.categories[i]) : "''", i);
    const std::string slant =
        layout_.slant > 0 ? fmt::format("rotate by {} right", layout_.slant) : "norotate";
    script_.line("set {}tics {} scale 0,0 offset {} ({})", axis, slant, axis == 'x' ? "0,0.35" : "0,0",
                 ticks);
  }

  PlotScript& script_;
  const Plot& plot_;
  const PlotLayout& layout_;
};

}  // namespace

PlotStyle style_of(std::size_t place) {
  return {.color = fmt::format("rgb '{}'", colors[place % colors.size()]),
          .dash = dashes[place / colors.size() % dashes.size()],
          .shape = shapes[place % shapes.size()]};
}

void begin_picture(PlotScript& script) {
  Frame frame(script);
  frame.begin();
  frame.add_heading();
}

void begin_panel(PlotScript& script, const PanelLayout& placed) {
  Frame(script).begin_panel(placed);
}

void end_panel(PlotScript& script) {
  script.line("unset label");
  script.line("unset arrow");
  script.line("unset object");
}

}  // namespace fuselage::report
