#include "fuselage/report/schedule_plots.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/core/figures.h"

namespace fuselage::report {
namespace {

std::string title_of(const Subject& subject, const Schedule& schedule, std::string_view what) {
  return fmt::format("{}: {} of {}, {} {}", subject.name, what, schedule.label, cycles(schedule.latency),
                     subject.time_unit);
}

// In row `row`; what takes no time is not drawn.
void add_span(PlotSeries& series, double row, double from, double to, std::string label = {}) {
  if (to > from)
    series.points.push_back({.x = row, .y = from, .low = from, .high = to, .label = std::move(label)});
}

// Where a kernel stands on the roofline.
struct Place {
  double intensity = 0;  // compute time per size moved; 0: it computes nothing
  double share = 0;      // of the latency that computes
  bool moves = true;
};

Place place_of(const Kernel& kernel) {
  const double moved = kernel.loaded + kernel.stored;
  return {.intensity = moved > 0 ? kernel.compute / moved : 0,
          .share = kernel.latency > 0 ? kernel.compute / kernel.latency : 0,
          .moves = moved > 0};
}

struct Range {
  double low = 0;
  double high = 0;
};

// Of intensities: those of the kernels and the ridge, with room on both sides.
Range intensities_of(const std::vector<Place>& places, double bandwidth) {
  std::vector<double> all;
  for (const Place& place : places)
    if (place.intensity > 0) all.push_back(place.intensity);
  if (bandwidth > 0) all.push_back(1 / bandwidth);
  if (all.empty()) all.push_back(1);
  const auto [low, high] = std::ranges::minmax(all);
  return {low / 4, high * 4};
}

PlotSeries roof_of(double bandwidth, const Range& range) {
  PlotSeries roof = {.name = "roof"};
  const auto add = [&](double x) {
    roof.points.push_back({.x = x, .y = bandwidth > 0 ? std::min(1.0, bandwidth * x) : 1.0});
  };
  add(range.low);
  if (bandwidth > 0) add(1 / bandwidth);
  add(range.high);
  return roof;
}

}  // namespace

Plot timeline_plot(const Subject& subject, const Schedule& schedule) {
  PlotSeries launch = {.name = "launch"};
  PlotSeries compute = {.name = "compute"};
  PlotSeries memory = {.name = "transfers"};
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    const double launched = kernel.start + kernel.launch;
    add_span(launch, 0, kernel.start, launched);
    add_span(compute, 0, launched, launched + kernel.compute, fmt::format("{}", k));
    add_span(memory, 1, launched, launched + kernel.memory, fmt::format("{}", k));
  }
  Plot plot = {.title = title_of(subject, schedule, "kernels"),
               .mark = PlotMark::spans,
               .y = {.label = fmt::format("time ({})", subject.time_unit), .to_at_least = schedule.latency},
               .categories = {"compute", "memory"}};
  plot.panels = {{.series = {std::move(launch), std::move(compute), std::move(memory)}}};
  return plot;
}

Plot memory_plot(const Subject& subject, const Schedule& schedule) {
  PlotSeries needed = {.name = "working set"};
  PlotSeries held = {.name = "tensors that stay"};
  for (const Kernel& kernel : schedule.kernels) {
    needed.points.push_back({.x = kernel.start, .y = static_cast<double>(kernel.working_set)});
    held.points.push_back({.x = kernel.start, .y = static_cast<double>(kernel.held_size)});
  }
  for (PlotSeries* series : {&needed, &held})
    if (!series->points.empty())
      series->points.push_back({.x = schedule.latency, .y = series->points.back().y});
  const auto capacity = static_cast<double>(subject.machine.capacity);
  PlotSeries limit = {.name = "capacity",
                      .points = {{.x = 0, .y = capacity}, {.x = schedule.latency, .y = capacity}}};
  Plot plot = {.title = title_of(subject, schedule, "fast memory"),
               .mark = PlotMark::steps,
               .x = {.label = fmt::format("time ({})", subject.time_unit), .to_at_least = schedule.latency},
               .y = {.label = fmt::format("fast memory ({})", subject.size_unit)}};
  plot.panels = {{.series = {std::move(needed), std::move(held), std::move(limit)}}};
  return plot;
}

Plot roofline_plot(const Subject& subject, const Schedule& schedule) {
  constexpr double least_share = 0.01;
  std::vector<Place> places;
  for (const Kernel& kernel : schedule.kernels) places.push_back(place_of(kernel));
  const Range range = intensities_of(places, subject.machine.bandwidth);
  PlotSeries kernels = {.name = "kernels", .mark = PlotMark::points};
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double x = places[k].moves ? std::max(places[k].intensity, range.low) : range.high;
    kernels.points.push_back({.x = x, .y = places[k].share, .label = fmt::format("{}", k)});
  }
  Plot plot = {.title = title_of(subject, schedule, "roofline"),
               .note = "Kernels that move nothing stand at the right edge, those that compute nothing below.",
               .mark = PlotMark::lines,
               .x = {.label = fmt::format("compute time per {} moved ({})",
                                          subject.size_unit == "B" ? "byte" : "element", subject.time_unit),
                     .log = true},
               .y = {.label = "share of the latency that computes", .log = true, .floor = least_share}};
  plot.panels = {{.series = {roof_of(subject.machine.bandwidth, range), std::move(kernels)}}};
  return plot;
}

}  // namespace fuselage::report
