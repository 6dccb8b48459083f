// Axes: where they begin and end, and where they have ticks.
#pragma once

#include <string>
#include <vector>

#include "fuselage/report/plot.h"

namespace fuselage::report {

struct Tick {
  double at = 0;
  std::string label = {};  // ASCII, or with a leading U+2264; empty: a small tick
};

struct Scale {
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks = {};
};

// What an axis has to show.
struct Extent {
  double low = 0;
  double high = 0;
  bool log = false;
  std::optional<double> floor = {};  // of PlotAxis
  bool from_zero = false;            // a linear axis begins at 0, or ends there
  bool to_ticks = false;             // a linear axis begins and ends at ticks
  int ticks = 5;                     // about so many that have a label
};

Scale scale_of(const Extent& extent);

}  // namespace fuselage::report
