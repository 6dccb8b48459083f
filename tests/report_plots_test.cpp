// The charts of a schedule have the figures of its kernels, and every drawing is SVG that says which plan it
// is of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuselage/core/figures.h"
#include "fuselage/report/gnuplot.h"
#include "fuselage/report/schedule_plots.h"
#include "report_plans.h"

namespace fuselage::report {
namespace {

using testing::HasSubstr;

const PlotSeries& series(const Plot& plot, const std::string& name) {
  for (const PlotSeries& one : plot.panels.at(0).series)
    if (one.name == name) return one;
  throw std::logic_error("no series " + name);
}

// The point that is labelled with the number of the kernel.
const PlotPoint& point_of(const PlotSeries& of, std::size_t kernel) {
  for (const PlotPoint& point : of.points)
    if (point.label == std::to_string(kernel)) return point;
  throw std::logic_error("no point of kernel " + std::to_string(kernel));
}

TEST(ReportPlots, HaveTheFiguresOfTheKernels) {
  Dice dice(51);
  int moved_nothing = 0;
  for (int round = 0; round < 60; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 3 + round % 9});
    const Schedule schedule = schedule_of(diced_plan(workload, walk::Rules::seed, dice), "diced");
    const Subject subject = subject_of(workload);
    const Plot timeline = timeline_plot(subject, schedule);
    const Plot memory = memory_plot(subject, schedule);
    const Plot roofline = roofline_plot(subject, schedule);
    EXPECT_EQ(timeline.y.to_at_least, schedule.latency);
    EXPECT_EQ(series(memory, "capacity").points.at(0).y,
              static_cast<double>(workload.hardware.fast_mem_capacity));
    for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
      const Kernel& kernel = schedule.kernels[k];
      const double launched = kernel.start + kernel.launch;
      if (kernel.compute > 0 && launched + kernel.compute > launched) {
        const PlotPoint& computes = point_of(series(timeline, "compute"), k);
        EXPECT_EQ(computes.low, launched);
        EXPECT_EQ(computes.high, launched + kernel.compute);
      }
      if (kernel.memory > 0 && launched + kernel.memory > launched) {
        EXPECT_EQ(point_of(series(timeline, "transfers"), k).high, launched + kernel.memory);
      }
      EXPECT_EQ(series(memory, "working set").points[k].x, kernel.start);
      EXPECT_EQ(series(memory, "working set").points[k].y, static_cast<double>(kernel.working_set));
      EXPECT_EQ(series(memory, "tensors that stay").points[k].y, static_cast<double>(kernel.held_size));
      const PlotPoint& place = point_of(series(roofline, "kernels"), k);
      if (kernel.latency > 0) {
        EXPECT_EQ(place.y, kernel.compute / kernel.latency);
      }
      const double moved = kernel.loaded + kernel.stored;
      if (moved > 0 && kernel.compute > 0) {
        EXPECT_EQ(place.x, kernel.compute / moved);
      }
      moved_nothing += moved == 0;
      // No kernel is above the roof.
      const double bandwidth = workload.hardware.slow_mem_bandwidth;
      if (bandwidth > 0 && moved > 0) {
        EXPECT_LE(place.y, std::min(1.0, bandwidth * place.x) * (1 + 1e-9));
      }
    }
  }
  EXPECT_GT(moved_nothing, 3);
}

TEST(ReportPlots, SayWhatTheyShow) {
  Dice dice(52);
  const Workload workload = random_workload(dice, {.nodes = 8});
  const Schedule schedule = schedule_of(*best_plan(workload, walk::Rules::seed_honest), "my <plan>");
  const Subject subject = subject_of(workload);
  for (const Plot& plot :
       {timeline_plot(subject, schedule), memory_plot(subject, schedule), roofline_plot(subject, schedule)}) {
    const std::string svg = plot_svg(plot, {});
    EXPECT_THAT(svg, HasSubstr("my &lt;plan&gt;, " + cycles(schedule.latency) + " cycles"));
    EXPECT_EQ(svg, plot_svg(plot, {}));
  }
}

TEST(ReportPlots, NothingToShowIsAnEmptyChart) {
  const Workload workload = {.name = "w",
                             .graph = Graph({derived_node(fuselage::Op::relu, 8, 8, {})}),
                             .hardware = {.fast_mem_capacity = 4096, .max_fusion_depth = 1}};
  const Schedule nothing = {.label = "nothing", .rules = "seed"};
  for (const auto plot : {timeline_plot, memory_plot, roofline_plot})
    EXPECT_THAT(plot_svg(plot(subject_of(workload), nothing), {}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace fuselage::report
