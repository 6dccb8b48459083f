#include "chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "fuselage/core/files.h"

namespace fuselage::experiments {
namespace {

constexpr double width = 640, height = 400;
constexpr double left = 60, right = 210, top = 40, bottom = 50;  // margins
constexpr std::array colors = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                               "#17becf", "#8c564b", "#7f7f7f", "#e377c2", "#bcbd22"};

struct Frame {
  double low = 0, high = 1, most = 1;  // of log x, of y

  double x(double value) const {
    return left + (std::log(value) - low) / std::max(1e-9, high - low) * (width - left - right);
  }
  double y(double value) const { return height - bottom - value / most * (height - top - bottom); }
};

Frame frame_of(const Chart& chart) {
  Frame frame{.low = 1e300, .high = -1e300};
  for (const ChartLine& line : chart.lines) {
    for (const double x : line.x) {
      frame.low = std::min(frame.low, std::log(x));
      frame.high = std::max(frame.high, std::log(x));
    }
    for (const double y : line.y) frame.most = std::max(frame.most, y);
  }
  return frame;
}

std::string axes(const Chart& chart, const Frame& frame) {
  std::string text = fmt::format("<text x=\"{}\" y=\"22\" font-size=\"15\">{}</text>\n", left, chart.title);
  const double base = height - bottom;
  text += fmt::format("<path d=\"M{} {} V{} H{}\" fill=\"none\" stroke=\"black\"/>\n", left, top, base,
                      width - right);
  std::set<double> ticks;
  for (const ChartLine& line : chart.lines) ticks.insert(line.x.begin(), line.x.end());
  for (const double x : ticks)
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", frame.x(x),
                        base + 16, x);
  for (int part = 0; part <= 5; ++part) {
    const double y = frame.most * part / 5;
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.2f}</text>\n", left - 6,
                        frame.y(y) + 4, y);
    text += fmt::format("<path d=\"M{} {:.1f} H{}\" stroke=\"#dddddd\"/>\n", left, frame.y(y), width - right);
  }
  text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                      (left + width - right) / 2, height - 12, chart.x);
  text += fmt::format("<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      (top + base) / 2, chart.y);
  return text;
}

}  // namespace

void write_chart(const std::string& path, const Chart& chart) {
  const Frame frame = frame_of(chart);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
  text += axes(chart, frame);
  for (std::size_t l = 0; l < chart.lines.size(); ++l) {
    const ChartLine& line = chart.lines[l];
    const char* color = colors[l % colors.size()];
    std::string points;
    for (std::size_t i = 0; i < line.x.size(); ++i)
      points += fmt::format("{:.1f},{:.1f} ", frame.x(line.x[i]), frame.y(line.y[i]));
    text += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points,
                        color);
    text += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", width - right + 10,
                        top + 12 + 18 * static_cast<double>(l), color, line.name);
  }
  write_file_atomically(path, text + "</svg>\n");
}

}  // namespace fuselage::experiments
