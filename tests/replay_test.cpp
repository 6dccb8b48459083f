// Recorded figures pass as they are, and a row in which any of them is changed fails at that figure.

#include "fuselage/oracle/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fuselage/core/files.h"
#include "replay_rows.h"

namespace fuselage::oracle {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Pointer = json::json_pointer;

struct Golden {
  const char* file;
  const char* kind;
  std::size_t rows;
};

void expect_all_pass(const std::string& directory, const Golden& golden) {
  Replay replay;
  const ReplayReport report = replay.check(directory + "/" + golden.file);
  EXPECT_EQ(report.passed, golden.rows) << golden.file;
  EXPECT_EQ(report.failed, 0U) << golden.file;
  EXPECT_EQ(report.rows, (std::map<std::string, std::size_t>{{golden.kind, golden.rows}})) << golden.file;
  for (const std::string& difference : report.differences) ADD_FAILURE() << difference;
}

TEST(Replay, TheSmallFilesPass) {
  constexpr std::array<Golden, 7> files = {{{"episodes_small.jsonl", "episodes", 12},
                                            {"generator_small.jsonl", "generator", 26},
                                            {"observations_small.jsonl", "observations", 4},
                                            {"optima_small.jsonl", "optima", 11},
                                            {"physical_illegal_small.jsonl", "physical-illegal", 15},
                                            {"physical_small.jsonl", "physical", 14},
                                            {"tasks_small.json", "tasks", 2}}};
  for (const Golden& golden : files) expect_all_pass(small_golden_dir(), golden);
}

TEST(Replay, TheFullFilesPass) {
  if (!has_golden("episodes.jsonl")) GTEST_SKIP() << "the full record is not beside this checkout";
  constexpr std::array<Golden, 7> files = {{{"episodes.jsonl", "episodes", 400},
                                            {"generator.jsonl", "generator", 200},
                                            {"observations.jsonl", "observations", 400},
                                            {"optima.jsonl", "optima", 35},
                                            {"physical.jsonl", "physical", 85},
                                            {"physical_illegal.jsonl", "physical-illegal", 40},
                                            {"tasks.json", "tasks", 5}}};
  for (const Golden& golden : files) expect_all_pass(golden_dir(), golden);
}

// The least change that a figure can have; a little more than the tolerance for an optimum.
json changed(const json& figure, bool is_optimum) {
  if (is_optimum) return figure.get<double>() * (1 + 1e-6);
  if (figure.is_number_float())
    return std::nextafter(figure.get<double>(), std::numeric_limits<double>::infinity());
  if (figure.is_number()) return figure.get<std::int64_t>() + 1;
  if (figure.is_boolean()) return !figure.get<bool>();
  std::string text = figure.get<std::string>();
  text.back() = static_cast<char>(text.back() ^ 1);
  return text;
}

// Is the leaf at this path what a row is worked out from (or where it comes from), rather than a figure?
bool is_input(const std::string& path, const std::vector<std::string>& inputs) {
  const auto matches = [&](const std::string& input) { return path.find(input) != std::string::npos; };
  return std::any_of(inputs.begin(), inputs.end(), matches);
}

// Changes each figure of each row, one at a time. Returns how many.
int expect_every_figure_counts(const std::vector<json>& rows, const std::vector<std::string>& inputs) {
  const GoldenDirectory directory;
  int figures = 0;
  for (const json& row : rows) {
    const json leaves = row.flatten();
    for (const auto& [path, leaf] : leaves.items()) {
      if (leaf.is_null() || leaf.empty() || is_input(path, inputs)) continue;
      json spoilt = row;
      spoilt[Pointer(path)] = changed(leaf, path.ends_with("/optimum"));
      ++figures;
      EXPECT_NE(directory.difference_of(spoilt), "passed") << path << " in " << row.dump().substr(0, 300);
    }
  }
  return figures;
}

TEST(Replay, EveryFigureOfAnEpisodeCounts) {
  EXPECT_GT(expect_every_figure_counts(small_rows("episodes_small.jsonl"),
                                       {"/id", "/graph", "/max_steps", "/actions"}),
            600);
}

TEST(Replay, EveryFigureOfADrawnGraphCounts) {
  std::vector<json> rows = small_rows("generator_small.jsonl");
  // Written anew by this test, a seed of more than 64 bits would lose its digits.
  std::erase_if(rows, [](const json& row) {
    return row["kind"] == "generate_graph" && row["args"]["seed"].is_number_float();
  });
  EXPECT_GT(expect_every_figure_counts(rows, {"/kind", "/args", "/seed", "/level", "/shape"}), 500);
}

TEST(Replay, EveryFigureOfAnOptimumCounts) {
  EXPECT_GT(expect_every_figure_counts(small_rows("optima_small.jsonl"),
                                       {"/name", "/args", "/graph", "/groups", "/actions"}),
            30);
}

TEST(Replay, EveryFigureUnderPhysicalCounts) {
  EXPECT_GT(
      expect_every_figure_counts(small_rows("physical_small.jsonl"),
                                 {"/name", "/graph", "/order", "/feasible", "/nodes", "/tile", "/retain"}),
      100);
}

TEST(Replay, EveryFigureOfAnIllegalPlanCounts) {
  EXPECT_GT(expect_every_figure_counts(small_rows("physical_illegal_small.jsonl"),
                                       {"/name", "/based_on", "/graph", "/order", "/plan"}),
            25);
}

TEST(Replay, EveryFigureOfATaskCounts) {
  const json tasks = json::parse(read_file(small_golden_dir() + "/tasks_small.json"));
  EXPECT_GT(expect_every_figure_counts({tasks}, {"/description"}), 250);
}

TEST(Replay, EveryTextOfObservationsCounts) {
  const GoldenDirectory directory;
  directory.write_rows("episodes.jsonl", small_rows("episodes_small.jsonl"));
  json row = small_rows("observations_small.jsonl")[0];
  EXPECT_EQ(directory.difference_of(row), "passed");
  for (std::size_t i = 0; i < row.at("observations").size(); ++i) {
    json spoilt = row;
    spoilt["observations"][i] = changed(row["observations"][i], false);
    EXPECT_THAT(directory.difference_of(spoilt),
                HasSubstr(": id 140: observations[" + std::to_string(i) + "]: at byte "));
  }
}

TEST(Replay, TheFirstDifferenceSaysWhere) {
  const GoldenDirectory directory;
  json row = small_row("episodes_small.jsonl", 396);
  row["steps"][3]["reward"] = 0.25;
  row["steps"][5]["reward"] = 0.5;
  EXPECT_EQ(directory.difference_of(row),
            ":1: id 396: steps[3].reward: expected 0.25, got 0.024999999999999998");
  row = small_row("episodes_small.jsonl", 396);
  row["steps"][4]["current_group"] = {7};
  EXPECT_THAT(directory.difference_of(row),
              StartsWith(":1: id 396: steps[4].current_group: expected [7], got ["));
  row = small_row("episodes_small.jsonl", 396);
  std::string text = row["observations"][1];
  text.replace(text.find("\"capacity\""), 4, "\"Cap");
  row["observations"][1] = text;
  EXPECT_THAT(directory.difference_of(row),
              AllOf(StartsWith(":1: id 396: observations[1]: at byte "), HasSubstr("\"Capacity\":"),
                    HasSubstr("got '..."), HasSubstr("\"capacity\":")));
}

TEST(Replay, WhatIsNullCounts) {
  const GoldenDirectory directory;
  json row = small_row("episodes_small.jsonl", 396);
  row["steps"][0]["error"] = "OOM";
  EXPECT_EQ(directory.difference_of(row), ":1: id 396: steps[0].error: expected 'OOM', got none");
  row["steps"][0]["error"] = nullptr;
  row["steps"][0]["score"] = 0.5;
  EXPECT_EQ(directory.difference_of(row), ":1: id 396: steps[0].score: expected 0.5, got none");
  row["steps"][0]["score"] = nullptr;
  row["steps"].back()["score"] = nullptr;
  EXPECT_THAT(directory.difference_of(row), HasSubstr(".score: expected null, got "));
  json illegal = small_row("physical_illegal_small.jsonl", "illegal-coverage-1");
  illegal["kernel"] = 0;
  EXPECT_EQ(directory.difference_of(illegal), ":1: illegal-coverage-1: kernel: expected 0, got none");
  json stuck = small_row("physical_small.jsonl", "custom-1354-fixed");
  stuck["greedy_latency"] = 1.5;
  EXPECT_EQ(directory.difference_of(stuck), ":1: custom-1354-fixed: greedy_latency: expected 1.5, got none");
}

TEST(Replay, ARecordedScheduleHasToReachItsOptimum) {
  const GoldenDirectory directory;
  json row = small_row("optima_small.jsonl", "task1_chain");
  row["seed"]["actions"][1]["fuse_with_prev"] = true;
  EXPECT_THAT(
      directory.difference_of(row),
      StartsWith(":1: task1_chain: seed.actions: the recorded actions: expected a latency of 111806.72"));
  row["seed"]["actions"].erase(7);
  EXPECT_THAT(directory.difference_of(row), HasSubstr("the recorded actions end before the episode does"));
  row = small_row("optima_small.jsonl", "task1_chain");
  row["seed-honest"]["actions"][0]["retain"] = {7};
  EXPECT_THAT(directory.difference_of(row),
              EndsWith("the recorded action 0 retains 7, which the rules don't let it"));
  row = small_row("optima_small.jsonl", "task1_chain");
  row["seed-honest"]["groups"][0]["retain"] = {7};
  EXPECT_THAT(directory.difference_of(row),
              HasSubstr("seed-honest.groups: expected a legal plan, got kernel 0"));
  row["seed-honest"]["groups"][0]["retain"] = {0};
  row["seed-honest"]["groups"][0]["tile"] = 32;
  EXPECT_THAT(directory.difference_of(row), HasSubstr("seed-honest.groups: expected a latency of 111806.72"));
}

TEST(Replay, OneRuleSetIsEnough) {
  const GoldenDirectory directory;
  json row = small_row("optima_small.jsonl", "task1_chain");
  row.erase("seed");
  EXPECT_EQ(directory.difference_of(row), "passed");
}

TEST(Replay, WhetherThereIsAScheduleCounts) {
  const GoldenDirectory directory;
  const json feasible = small_row("physical_small.jsonl", "custom-1358-free");
  const json infeasible = small_row("physical_small.jsonl", "custom-1358-fixed");
  json claims_none = infeasible;
  claims_none["order"] = "free";
  EXPECT_THAT(directory.difference_of(claims_none),
              HasSubstr("optimum: expected no schedule, got one of 17671.7"));
  json claims_one = feasible;
  claims_one["order"] = "fixed";
  EXPECT_THAT(
      directory.difference_of(claims_one),
      EndsWith("optimum: expected 17671.799999999999, got no schedule (node 3 needs 12288 B of 11538 B)"));
}

TEST(Replay, ALegalPlanIsNoIllegalOne) {
  const GoldenDirectory directory;
  const json legal = small_row("physical_small.jsonl", "custom-1358-free");
  json row = {{"name", "x"}, {"based_on", "y"}, {"code", "OOM"}, {"kernel", 0}, {"order", "free"}};
  row["graph"] = legal["graph"];
  row["plan"] = json::array();
  for (const json& kernel : legal["plan"])
    row["plan"].push_back(
        {{"nodes", kernel["nodes"]}, {"tile", kernel["tile"]}, {"retain", kernel["retain"]}});
  EXPECT_EQ(directory.difference_of(row), ":1: x: code: expected 'OOM', got none");
}

TEST(Replay, ARecordedPlanHasToBeLegal) {
  const GoldenDirectory directory;
  json row = small_row("physical_small.jsonl", "custom-1358-free");
  row["plan"][1]["nodes"] = {0, 3};
  EXPECT_THAT(directory.difference_of(row), HasSubstr("plan: expected a legal plan, got "));
}

TEST(Replay, TrafficIsFreeWithANegativeBandwidth) {
  const GoldenDirectory directory;
  json row = small_row("episodes_small.jsonl", 188);
  ASSERT_EQ(row["graph"]["hardware"]["slow_mem_bandwidth"], 0.0);
  row["graph"]["hardware"]["slow_mem_bandwidth"] = -2.5;
  EXPECT_EQ(directory.difference_of(row), "passed");
}

TEST(Replay, HostileIntegersOfAnySizeAreRead) {
  const GoldenDirectory directory;
  json row = small_row("episodes_small.jsonl", 180);
  for (json& action : row["actions"]) {
    const int tile = action["tile"];
    if (tile < 32 || tile == 77 || tile == 100 || tile == 512) action["tile"] = 1e300;
    for (json& id : action["retain"])
      if (id < 0 || id > 100) id = -1e30;
  }
  EXPECT_EQ(directory.difference_of(row), "passed");
}

TEST(Replay, TheFirstTwentyDifferencesAreKept) {
  const GoldenDirectory directory;
  json row = small_row("episodes_small.jsonl", 140);
  row["final_score"] = 2;
  const ReplayReport report = directory.replay_rows(std::vector<json>(25, row));
  EXPECT_EQ(report.failed, 25U);
  ASSERT_EQ(report.differences.size(), 20U);
  EXPECT_THAT(report.differences.back(), HasSubstr(":20: id 140: final_score: expected 2, got "));
}

}  // namespace
}  // namespace fuselage::oracle
