// Where everything of a plot stands, in pixels from the upper left corner: title, legend (never over data),
// panels in rows, and a note. Texts are cut here to what there is room for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuselage/report/gnuplot.h"
#include "plot_scale.h"

namespace fuselage::report {

struct PlotBox {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

struct LegendEntry {
  std::string text = {};
  double x = 0;  // of its sample of the curve
  double y = 0;  // of its middle
};

struct PanelLayout {
  PlotBox box = {};  // the area that data are drawn in
  std::string title = {};
  Scale across = {};  // of values; of categories it has no ticks
  Scale up = {};
};

struct PlotLayout {
  int width = 0;
  int height = 0;
  std::string title = {};
  std::string note = {};
  std::vector<std::string> names = {};   // of all series, once; a legend entry each
  std::vector<LegendEntry> legend = {};  // empty if there is nothing to tell apart
  std::vector<std::string> categories = {};
  double slant = 0;        // degrees, of the categories' names below
  double label_below = 0;  // from a panel to the middle of its axis' label
  std::vector<PanelLayout> panels = {};

  std::size_t place_of(const std::string& name) const;  // among `names`
};

inline constexpr double margin = 12;         // around everything
inline constexpr double legend_sample = 24;  // width of what stands before a name

// Error if `size` leaves no room for the panels.
PlotLayout lay_out(const Plot& plot, const PlotSize& size);

}  // namespace fuselage::report
