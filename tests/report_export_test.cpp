#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "fuselage/report/export.h"
#include "report_plans.h"

namespace fuselage::report {
namespace {

using nlohmann::json;

struct Span {
  double start = 0;
  double end = 0;
};

// Perfetto's clock: nanoseconds.
double nanoseconds(double microseconds) {
  return std::round(1000 * microseconds);
}

// Spans of a track, in order of their start; each lies in those that are open, or after them. The sum of the
// outer ones.
double check_nesting(const std::vector<Span>& spans) {
  std::vector<Span> open;
  double sum = 0;
  double last = 0;
  for (const Span& span : spans) {
    EXPECT_GE(nanoseconds(span.start), nanoseconds(last)) << "time goes back";
    last = span.start;
    while (!open.empty() && nanoseconds(open.back().end) <= nanoseconds(span.start)) open.pop_back();
    if (open.empty())
      sum += span.end - span.start;
    else
      EXPECT_LE(nanoseconds(span.end), nanoseconds(open.back().end)) << "not nested";
    open.push_back(span);
  }
  return sum;
}

void check_trace(const Subject& subject, const Schedule& schedule) {
  const json trace = json::parse(chrome_trace(subject, schedule));
  std::map<int, std::vector<Span>> tracks;
  std::vector<std::pair<double, double>> counters;
  std::size_t kernels = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      const double start = event["ts"].get<double>();
      EXPECT_GE(event["dur"].get<double>(), 0);
      tracks[event["tid"].get<int>()].push_back({start, start + event["dur"].get<double>()});
      kernels += event["args"].contains("tile");
    } else if (event["ph"] == "C") {
      counters.emplace_back(event["ts"].get<double>(),
                            event["args"]["held"].get<double>() + event["args"]["tiles"].get<double>());
    } else {
      EXPECT_EQ(event["ph"], "M");
    }
  }
  EXPECT_EQ(kernels, schedule.kernels.size());
  EXPECT_NEAR(check_nesting(tracks[1]), schedule.latency, 1e-6 * (1 + schedule.latency));
  EXPECT_NEAR(check_nesting(tracks[2]), schedule.totals.memory, 1e-6 * (1 + schedule.totals.memory));
  ASSERT_EQ(counters.size(), schedule.kernels.size() + 1);
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    EXPECT_EQ(counters[k].first, schedule.kernels[k].start);
    EXPECT_EQ(counters[k].second, static_cast<double>(schedule.kernels[k].working_set));
  }
  EXPECT_EQ(counters.back(), (std::pair{schedule.latency, 0.0}));
}

TEST(ReportExport, TracesNestAndAddUp) {
  Dice dice(31);
  for (int round = 0; round < 120; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 2 + round % 14});
    if (const auto best = best_plan(workload, walk::Rules::seed_honest))
      check_trace(subject_of(workload), schedule_of(*best, "best"));
  }
}

TEST(ReportExport, ATraceOfKernelsThatFallBackNestsToo) {
  Dice dice(32);
  for (int round = 0; round < 120; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 3 + round % 9});
    const Schedule schedule = schedule_of(diced_plan(workload, walk::Rules::seed, dice), "diced");
    check_trace(subject_of(workload), schedule);
  }
}

TEST(ReportExport, NamesInTracesAreText) {
  Workload workload = {.name = "a \"b\"",
                       .graph = Graph({derived_node(fuselage::Op::relu, 8, 8, {})}),
                       .hardware = {4096, 1, 1, 1},
                       .node_names = {"</script>\"\\\n" + std::string(10'000, 'y')}};
  const Schedule schedule = schedule_of(*best_plan(workload, walk::Rules::seed_honest), "x\"");
  const json trace = json::parse(chrome_trace(subject_of(workload), schedule));
  EXPECT_EQ(trace["otherData"]["plan"], "x\"");
  EXPECT_LT(trace.dump().size(), 3000U);
}

TEST(ReportExport, CsvHasARowAKernel) {
  Dice dice(33);
  const Workload workload = random_workload(dice, {.nodes = 8});
  const Schedule schedule = schedule_of(*best_plan(workload, walk::Rules::seed_honest), "best");
  std::istringstream in(schedule_csv(schedule));
  std::string header;
  std::getline(in, header);
  const auto columns = std::count(header.begin(), header.end(), ',');
  std::size_t rows = 0;
  double sum = 0;
  for (std::string line; std::getline(in, line); ++rows) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns) << line;
    std::vector<std::string> cells;
    std::istringstream of_line(line);
    for (std::string cell; std::getline(of_line, cell, ',');) cells.push_back(cell);
    EXPECT_EQ(std::stod(cells[13]), schedule.kernels[rows].latency);
    sum += std::stod(cells[13]);
  }
  EXPECT_EQ(rows, schedule.kernels.size());
  EXPECT_NEAR(sum, schedule.latency, 1e-9 * (1 + sum));
}

TEST(ReportExport, JsonHasAllOfIt) {
  Dice dice(34);
  const Workload workload = random_workload(dice, {.nodes = 8});
  const Schedule schedule = schedule_of(*best_plan(workload, walk::Rules::seed_honest), "best");
  const nlohmann::ordered_json plan = schedule_json(schedule);
  EXPECT_EQ(plan["latency"], schedule.latency);
  EXPECT_EQ(plan["kernels"].size(), schedule.kernels.size());
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    EXPECT_EQ(plan["kernels"][k]["other"].get<std::int64_t>(), kernel.working_set - kernel.held_size);
    EXPECT_EQ(plan["kernels"][k]["held"].get<std::vector<TensorId>>(), kernel.held);
  }
  EXPECT_EQ(subject_json(subject_of(workload))["tensors"].size(), 8U);
}

}  // namespace
}  // namespace fuselage::report
