// A few curves as an SVG file, for the page beside the table that has the figures.
#pragma once

#include <string>
#include <vector>

namespace fuselage::experiments {

struct ChartLine {
  std::string name = {};
  std::vector<double> x = {};  // positive: the axis is logarithmic
  std::vector<double> y = {};
};

struct Chart {
  std::string title = {};
  std::string x = {};
  std::string y = {};
  std::vector<ChartLine> lines = {};
};

// The vertical axis runs from 0 to the largest value, or to 1 if that is more.
void write_chart(const std::string& path, const Chart& chart);

}  // namespace fuselage::experiments
