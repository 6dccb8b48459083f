#include "fuselage/report/gnuplot.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/program.h"
#include "fuselage/report/label.h"
#include "plot_curves.h"
#include "plot_frame.h"
#include "plot_text.h"

namespace fuselage::report {
namespace {

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
  PlotScript script(plot, size);
  begin_picture(script);
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    const PanelLayout& placed = script.layout().panels[i];
    begin_panel(script, placed);
    add_curves(script, plot.panels[i], placed);
    end_panel(script);
  }
  script.line("unset multiplot");
  return std::move(script).take();
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
