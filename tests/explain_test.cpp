// The table and the JSON of a plan say what the Simulation says, and the table's columns line up.
#include "fuselage/oracle/explain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "golden_graph.h"

namespace fuselage::oracle {
namespace {

using nlohmann::json;
using walk::Rules;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Cells are divided by columns of blanks that are at least two wide in every line.
std::vector<std::vector<std::string>> cells_of(const std::vector<std::string>& lines) {
  std::vector<std::vector<std::string>> cells(lines.size());
  std::size_t begin = 0;
  const std::size_t width = lines.front().size();
  const auto blank = [&](std::size_t column) {
    return std::ranges::all_of(lines, [&](const std::string& line) { return line[column] == ' '; });
  };
  for (std::size_t column = 0; column <= width; ++column) {
    if (column < width && !(blank(column) && column + 1 < width && blank(column + 1))) continue;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string cell = lines[i].substr(begin, column - begin);
      const std::size_t first = cell.find_first_not_of(' ');
      cells[i].push_back(
          first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    while (column < width && blank(column)) ++column;
    begin = column;
  }
  return cells;
}

void check_table(const Workload& w, const walk::Plan& plan, const Simulation& simulation) {
  const auto lines = lines_of(explain_table(w.graph, w.hardware, plan, simulation));
  ASSERT_EQ(lines.size(), simulation.kernels.size() + 2);
  for (const std::string& line : lines) ASSERT_EQ(line.size(), lines.front().size()) << line;
  const auto cells = cells_of(lines);
  ASSERT_EQ(cells.front().size(), 12u) << lines.front();
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i) {
    const KernelReport& report = simulation.kernels[i];
    const auto& row = cells[i + 1];
    EXPECT_EQ(row[0], fmt::format("{}", i));
    EXPECT_EQ(row[7], fmt::format("{:.2f}", report.compute_cycles));
    EXPECT_EQ(row[8], fmt::format("{:.2f}", report.memory_cycles));
    EXPECT_EQ(row[9], fmt::format("{:.2f}", report.latency));
    EXPECT_THAT(row[11], testing::StartsWith(fmt::format("{} (", report.working_set)));
  }
  EXPECT_EQ(cells.back()[0], "total");
  EXPECT_EQ(cells.back()[9], fmt::format("{:.2f}", simulation.latency));
}

void check_json(const Workload& w, const walk::Plan& plan, const Simulation& simulation) {
  const auto result = explain_json(w.graph, w.hardware, plan, simulation);
  EXPECT_EQ(result.at("legal"), true);
  EXPECT_FALSE(result.contains("fault"));
  EXPECT_EQ(result.at("totals").at("latency"), simulation.latency);
  ASSERT_EQ(result.at("kernels").size(), simulation.kernels.size());
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i) {
    const KernelReport& report = simulation.kernels[i];
    const auto& kernel = result.at("kernels")[i];
    EXPECT_EQ(kernel.at("nodes"), plan[i].nodes);
    EXPECT_EQ(kernel.at("retain"), plan[i].retain);
    EXPECT_EQ(kernel.at("loads"), report.loads);
    EXPECT_EQ(kernel.at("stores"), report.writes);
    EXPECT_EQ(kernel.at("latency"), report.latency);
    EXPECT_EQ(kernel.at("compute_cycles"), report.compute_cycles);
    EXPECT_EQ(kernel.at("memory_cycles"), report.memory_cycles);
    EXPECT_EQ(kernel.at("working_set"), report.working_set);
    EXPECT_EQ(kernel.at("launches"), report.launches);
  }
}

TEST(Explain, numbers_are_the_simulations) {
  for (const json& row : read_lines(small_golden_dir() + "/optima_small.jsonl")) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    const Workload w = golden_workload(row.at("graph"));
    const walk::Plan plan = golden_plan(row.at("seed-honest").at("groups"));
    const Simulation simulation = simulate(w.graph, w.hardware, plan, {.rules = Rules::seed_honest});
    check_table(w, plan, simulation);
    check_json(w, plan, simulation);
  }
}

// A chain of 40 ops, 0 matmul and then relus, so that every kind of cell can be asked for.
Workload chain() {
  std::vector<Node> nodes = {derived_node(Op::matmul, 64, 64, {})};
  for (NodeId id = 1; id < 40; ++id) nodes.push_back(derived_node(Op::relu, 64, 64, {id - 1}));
  return {.name = "chain",
          .graph = Graph(std::move(nodes)),
          .hardware = {.fast_mem_capacity = 40000,
                       .slow_mem_bandwidth = 8,
                       .kernel_launch_cost = 500,
                       .max_fusion_depth = 40}};
}

walk::PlanKernel run_of(NodeId first, NodeId last, std::vector<NodeId> retain = {}) {
  walk::PlanKernel kernel = {.nodes = {}, .tile = 32, .retain = std::move(retain)};
  for (NodeId id = first; id <= last; ++id) kernel.nodes.push_back(id);
  return kernel;
}

TEST(Explain, cells_are_compact) {
  const Workload w = chain();
  const walk::Plan plan = {run_of(0, 0, {0, 0, 0}), run_of(1, 2), run_of(3, 39)};
  const Simulation simulation = simulate(w.graph, w.hardware, plan, {.rules = Rules::seed_honest});
  ASSERT_TRUE(simulation.legal()) << simulation.fault->message;
  check_table(w, plan, simulation);
  const auto rows = cells_of(lines_of(explain_table(w.graph, w.hardware, plan, simulation)));
  EXPECT_EQ(rows[1][1], "0");
  EXPECT_EQ(rows[1][3], "128");  // a fallback runs at tile 128 and retains nothing
  EXPECT_EQ(rows[1][6], "-");
  EXPECT_EQ(rows[1][10], "fallback");
  EXPECT_EQ(rows[1][11], "53248 (133%)");
  EXPECT_EQ(rows[2][1], "1,2");
  EXPECT_EQ(rows[2][2], "relu+relu");
  EXPECT_EQ(rows[2][4], "0");
  EXPECT_EQ(rows[2][5], "2");
  EXPECT_EQ(rows[2][10], "memory");
  EXPECT_EQ(rows[3][1], "3-39");
  EXPECT_EQ(rows[3][2], "relu+relu+relu+relu+relu+relu+... (31 more)");
  EXPECT_EQ(rows[3][10], "compute");
  EXPECT_EQ(rows[4][1], "40 of 40");
  EXPECT_EQ(rows[4][2], "3 launches");
}

TEST(Explain, the_fault_comes_last) {
  const Workload w = chain();
  const walk::Plan plan = {run_of(0, 1), run_of(3, 39)};
  const Simulation simulation = simulate(w.graph, w.hardware, plan, {.rules = Rules::seed});
  const auto lines = lines_of(explain_table(w.graph, w.hardware, plan, simulation));
  ASSERT_EQ(lines.size(), 4u);  // header, kernel 0, totals so far
  EXPECT_EQ(lines.back(), "illegal, ORDER: kernel 1: node 3 runs before its input 2");
  const auto result = explain_json(w.graph, w.hardware, plan, simulation);
  EXPECT_EQ(result.at("legal"), false);
  EXPECT_EQ(result.at("fault").at("code"), "ORDER");
  EXPECT_EQ(result.at("fault").at("kernel"), 1);
  EXPECT_EQ(result.at("kernels").size(), 1u);
  const Simulation empty = simulate(w.graph, w.hardware, {}, {.rules = Rules::seed});
  EXPECT_TRUE(explain_json(w.graph, w.hardware, {}, empty).at("fault").at("kernel").is_null());
}

}  // namespace
}  // namespace fuselage::oracle
