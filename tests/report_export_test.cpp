#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "fuselage/oracle/grid_solve.h"
#include "fuselage/report/export.h"
#include "grid_random.h"
#include "report_plans.h"

namespace fuselage::report {
namespace {

using nlohmann::json;

struct Span {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

// Spans of a track, in order of their start; each lies in those that are open, or after them. The sum of the
// outer ones.
std::int64_t check_nesting(const std::vector<Span>& spans) {
  std::vector<Span> open;
  std::int64_t sum = 0;
  std::int64_t last = 0;
  for (const Span& span : spans) {
    EXPECT_GE(span.start, last) << "time goes back";
    last = span.start;
    while (!open.empty() && open.back().end <= span.start) open.pop_back();
    if (open.empty())
      sum += span.end - span.start;
    else
      EXPECT_LE(span.end, open.back().end) << "not nested";
    open.push_back(span);
  }
  return sum;
}

void check_trace(const Subject& subject, const Schedule& schedule) {
  const json trace = json::parse(chrome_trace(subject, schedule));
  std::map<int, std::vector<Span>> tracks;
  std::vector<std::pair<std::int64_t, std::int64_t>> counters;
  std::size_t kernels = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    ASSERT_TRUE(event["ts"].is_number_integer()) << event;
    const auto start = event["ts"].get<std::int64_t>();
    if (event["ph"] == "X") {
      ASSERT_TRUE(event["dur"].is_number_integer()) << event;
      EXPECT_GE(event["dur"].get<std::int64_t>(), 0);
      tracks[event["tid"].get<int>()].push_back({start, start + event["dur"].get<std::int64_t>()});
      kernels += event["args"].contains("tile");
    } else {
      EXPECT_EQ(event["ph"], "C");
      counters.emplace_back(
          start, event["args"]["held"].get<std::int64_t>() + event["args"]["tiles"].get<std::int64_t>());
    }
  }
  EXPECT_EQ(kernels, schedule.kernels.size());
  EXPECT_EQ(check_nesting(tracks[1]), std::llround(1000 * schedule.latency)) << "thousandths of a cycle";
  const auto each = static_cast<double>(schedule.kernels.size());
  EXPECT_NEAR(static_cast<double>(check_nesting(tracks[2])), 1000 * schedule.totals.memory, 1 + each);
  ASSERT_EQ(counters.size(), schedule.kernels.size() + 1);
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    EXPECT_EQ(counters[k].first, std::llround(1000 * schedule.kernels[k].start));
    EXPECT_EQ(counters[k].second, schedule.kernels[k].working_set);
  }
  EXPECT_EQ(counters.back().first, std::llround(1000 * schedule.latency));
  EXPECT_EQ(counters.back().second, 0);
}

TEST(ReportExport, TracesNestAndAddUp) {
  Dice dice(31);
  for (int round = 0; round < 120; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 2 + round % 14});
    for (const walk::Rules rules : {walk::Rules::seed_honest, walk::Rules::physical})
      if (const auto best = best_plan(workload, rules))
        check_trace(subject_of(workload), schedule_of(*best, "best"));
  }
}

TEST(ReportExport, FiguresThatNoClockHasNestToo) {
  Dice dice(35);
  for (int round = 0; round < 40; ++round) {
    Workload workload = random_workload(dice, {.nodes = 20});
    workload.hardware.kernel_launch_cost = dice.pick({0.1, 33.3333333, 1e-9});
    workload.hardware.slow_mem_bandwidth = dice.pick({0.37, 7.0, 1e9});
    const Schedule schedule = schedule_of(diced_plan(workload, walk::Rules::seed_honest, dice), "diced");
    check_trace(subject_of(workload), schedule);
  }
}

TEST(ReportExport, TracesOfGridPlansNest) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const grid::Instance instance = grid::random_instance(random, {.ops = 8, .bandwidth = 7});
    for (const grid::RuleSet set : {grid::RuleSet::fusionops, grid::RuleSet::mlsys}) {
      const oracle::GridSolution solution =
          oracle::solve_grid(instance, {.rules = {.set = set}, .engine = oracle::Engine::greedy});
      check_trace(subject_of(instance, "g"), schedule_of(instance, {.set = set}, solution.plan, "greedy"));
    }
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
