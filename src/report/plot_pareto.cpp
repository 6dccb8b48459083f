#include <fmt/format.h>

#include <algorithm>

#include "fuselage/core/error.h"
#include "plot_tables.h"

namespace fuselage::report {
namespace {

struct Front {
  std::string name = {};
  std::string source = {};
  bool proven = false;
  std::vector<PlotPoint> points = {};  // bytes moved, cycles; ascending bytes
};

constexpr std::string_view expected = "what 'fuselage search --pareto traffic --json' writes";

// A graph that was refused has none, but says why.
std::optional<JsonField> points_of(const JsonField& result) {
  auto points = result.optional("points");
  if (points) return points;
  const auto error = result.optional("error");
  if (!error || error->is_null()) result.refuse(fmt::format("has no field points; expected {}", expected));
  return std::nullopt;
}

std::vector<Front> read_fronts(const PlotInput& file) {
  std::vector<Front> fronts;
  const Json json = read_document(file, "results", expected);
  const JsonField document(json, file.source);
  const JsonField results = document.required("results");
  for (std::size_t i = 0; i < results.array_size(); ++i) {
    const JsonField result = results.element(i);
    const auto points = points_of(result);
    if (!points) continue;
    Front front{.name = result.required("name").string(),
                .source = source_of(result),
                .proven = result.required("proof").string() == "optimal"};
    for (std::size_t p = 0; p < points->array_size(); ++p) {
      const JsonField point = points->element(p);
      const JsonField bytes = point.required("bytes_moved");
      const JsonField latency = point.required("latency");
      front.points.push_back({.x = bytes.number(0), .y = latency.number(0)});
    }
    std::sort(front.points.begin(), front.points.end(),
              [](const auto& a, const auto& b) { return a.x < b.x; });
    if (!front.points.empty()) fronts.push_back(std::move(front));
  }
  return fronts;
}

// In percent of the fastest plan, the last one.
void make_relative(Front& front, const std::string& source) {
  const PlotPoint fastest = front.points.back();
  if (fastest.x <= 0 || fastest.y <= 0)
    fail(
        "{}: the fastest plan of {} moves nothing or takes no time; expected one front, which is drawn in "
        "bytes "
        "and cycles",
        source, quote(front.name));
  for (PlotPoint& point : front.points) {
    point.x *= 100 / fastest.x;
    point.y *= 100 / fastest.y;
  }
}

}  // namespace

Plot pareto_plot(std::span<const PlotInput> files) {
  std::vector<std::pair<Front, const PlotInput*>> fronts;
  for (const PlotInput& file : files)
    for (Front& front : read_fronts(file)) fronts.emplace_back(std::move(front), &file);
  Plot plot{.title = "Latency against traffic", .mark = PlotMark::front};
  plot.x.label = fronts.size() > 1 ? "bytes moved, % of the fastest plan's" : "bytes moved";
  plot.y.label = fronts.size() > 1 ? "latency, % of the fastest plan's" : "latency, cycles";
  plot.note = "A point a plan: none is both faster and moves fewer bytes.";
  PlotPanel& panel = panel_of(plot, "");
  Sources sources;
  for (auto& [front, file] : fronts) {
    if (fronts.size() > 1) make_relative(front, file->source);
    std::string name = files.size() > 1 ? fmt::format("{}, {}", front.name, file->name) : front.name;
    sources.add("", name, "", front.source);
    if (!front.proven) name += " (not proven)";
    panel.series.push_back({.name = std::move(name), .points = std::move(front.points)});
  }
  return plot;
}

}  // namespace fuselage::report
