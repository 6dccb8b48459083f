// What gnuplot is told (gnuplot.h), as it grows: plot_frame.h writes what is around the data, plot_curves.h
// the data and what is drawn of them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot_layout.h"
#include "plot_text.h"

namespace fuselage::report {

inline constexpr std::string_view ink = "#222222";
inline constexpr std::string_view bold = "bold";  // a font's name for gnuplot, which knows no weights

// How a curve looks, by its place among the plot's names; gnuplot's words.
struct PlotStyle {
  std::string color;
  std::string dash;
  int shape;
};
PlotStyle style_of(std::size_t place);

class PlotScript {
 public:
  PlotScript(const Plot& plot, const PlotSize& size) : plot_(plot), layout_(lay_out(plot, size)) {}

  const Plot& plot() const { return plot_; }
  const PlotLayout& layout() const { return layout_; }
  GnuplotScript take() && {
    return {.text = std::move(text_), .texts = std::move(texts_).take(), .titles = std::move(titles_)};
  }

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  std::string quoted(const std::string& label) { return "'" + texts_.add(label) + "'"; }
  void add_title(const std::string& of_curve) { titles_.push_back(of_curve); }

  // Of the whole picture, in gnuplot's units.
  double across(double x) const { return x / layout_.width; }
  double up(double y) const { return 1 - y / layout_.height; }

  bool is_steps() const { return plot_.mark == PlotMark::steps || plot_.mark == PlotMark::front; }
  bool is_line() const { return plot_.mark == PlotMark::lines || is_steps(); }
  // Are the categories below each other, and the values across?
  bool is_rows() const { return plot_.mark == PlotMark::estimates || plot_.mark == PlotMark::spans; }
  PlotMark mark_of(const PlotSeries& series) const { return series.mark.value_or(plot_.mark); }

 private:
  const Plot& plot_;
  PlotLayout layout_;
  std::string text_;
  Placeholders texts_;
  std::vector<std::string> titles_;
};

}  // namespace fuselage::report
