// Plots as SVG files, drawn by gnuplot. What gnuplot is told is all computed here (places, ranges, ticks), so
// that the picture depends on the numbers alone. Names in a table are somebody's input and gnuplot's language
// runs programs, so it never sees a name: of each text it gets a placeholder of the same length, a character
// of Unicode's private use area repeated, and the texts are put into the SVG that comes back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuselage/report/plot.h"

namespace fuselage::report {

struct PlotSize {
  int width = 800;                 // pixels
  std::optional<int> height = {};  // default: by what there is to show
};

struct GnuplotScript {
  std::string text;                 // numbers, gnuplot's words and placeholders
  std::vector<std::string> texts;   // what the placeholders stand for; the first is of U+E000
  std::vector<std::string> titles;  // of the curves, in the order in which they are drawn
};

GnuplotScript gnuplot_script(const Plot& plot, const PlotSize& size);

// An SVG document: the same bytes for the same plot, size and version of gnuplot. Error as check(plot), and
// if gnuplot is not installed.
std::string plot_svg(const Plot& plot, const PlotSize& size);

}  // namespace fuselage::report
