// Recorded games of fusionops pass as they are, and a row in which any figure is changed fails at that
// figure.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "error_of.h"
#include "fuselage/oracle/replay.h"
#include "replay_rows.h"

namespace fuselage::oracle {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using Pointer = json::json_pointer;

constexpr const char* small_file = "fusionops_small.jsonl";

void expect_all_pass(const std::string& path, std::size_t rows) {
  const ReplayReport report = Replay().check(path);
  EXPECT_EQ(report.passed, rows);
  EXPECT_EQ(report.failed, 0U);
  EXPECT_EQ(report.rows, (std::map<std::string, std::size_t>{{"fusionops", rows}}));
  for (const std::string& difference : report.differences) ADD_FAILURE() << difference;
}

TEST(ReplayFusionops, TheSmallFilePasses) {
  expect_all_pass(small_golden_dir() + "/" + small_file, 60);
}

TEST(ReplayFusionops, TheFullFilePasses) {
  const std::string path = FUSELAGE_SOURCE_DIR "/../shared/golden/grid/fusionops.jsonl";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the full record is not beside this checkout";
  expect_all_pass(path, 300);
}

TEST(ReplayFusionops, TheSmallFileHasEveryClass) {
  std::set<std::string> classes;
  for (const json& row : small_rows(small_file))
    for (const json& step : row.at("steps"))
      if (step.at("error_class").is_string()) classes.insert(step.at("error_class"));
  EXPECT_EQ(classes.size(), 7U);
}

json changed(const json& figure) {
  if (figure.is_number_float())
    return std::nextafter(figure.get<double>(), std::numeric_limits<double>::infinity());
  if (figure.is_number()) return figure.get<std::int64_t>() + 1;
  if (figure.is_boolean()) return !figure.get<bool>();
  if (figure.is_null()) return 1;
  return figure.get<std::string>() + "!";
}

bool is_input(const std::string& path) {
  const auto within = [&](const char* input) { return path.find(input) != std::string::npos; };
  return within("/id") || within("/task") || within("/problem") || within("/max_steps") ||
         within("/allow_recomputation") || within("/command");
}

TEST(ReplayFusionops, EveryFigureCounts) {
  const GoldenDirectory directory;
  int figures = 0;
  for (const json& row : small_rows(small_file)) {
    if (row.dump().size() > 2500) continue;
    const json leaves = row.flatten();
    for (const auto& [path, leaf] : leaves.items()) {
      const json& original = row[Pointer(path)];
      if (is_input(path) || original.is_structured()) continue;
      json spoilt = row;
      spoilt[Pointer(path)] = changed(original);
      ++figures;
      try {
        EXPECT_NE(directory.difference_of(spoilt), "passed") << path << " in " << row.at("id");
      } catch (const Error& error) {
        // null became a number where a text is read, or "parsed" is there.
        EXPECT_TRUE(original.is_null()) << error.what();
      }
    }
  }
  EXPECT_GT(figures, 1000);
}

TEST(ReplayFusionops, ListsAreComparedToTheirEnds) {
  const GoldenDirectory directory;
  const json row = small_row(small_file, "best:task4_multistage:X");
  for (const char* path :
       {"/steps/0/ops", "/steps/0/config", "/steps/0/retain", "/steps/0/scheduled", "/steps/0/fast"}) {
    json spoilt = row;
    spoilt[Pointer(path)].push_back(77);
    EXPECT_THAT(
        directory.difference_of(spoilt),
        StartsWith(std::string(":1: best:task4_multistage:X: steps[0].") + (path + 9) + ": expected"));
  }
  json longer = row;
  longer["steps"].push_back(row.at("steps").back());
  EXPECT_THAT(directory.difference_of(longer), HasSubstr("a step after the end; expected none"));
  json unread = row;
  unread["steps"][0]["command"] = "hm";
  EXPECT_THAT(directory.difference_of(unread),
              HasSubstr("steps[0].command: expected an action, got a parse error"));
}

TEST(ReplayFusionops, MalformedRowsAreRefused) {
  const GoldenDirectory directory;
  const auto error_with = [&](const char* path, const json& value) {
    json row = small_row(small_file, "best:task4_multistage:X");
    row[Pointer(path)] = value;
    const std::string file = directory.write_rows("rows.jsonl", {row});
    return error_of([&] { Replay().check(file); }).substr(file.size());
  };
  EXPECT_THAT(error_with("/max_steps", 0), StartsWith(":1: max_steps: 0 is out of range"));
  EXPECT_THAT(error_with("/allow_recomputation", 1), StartsWith(":1: allow_recomputation: 1 is a number"));
  EXPECT_THAT(error_with("/luck", 1), StartsWith(":1: luck: 1 is the value of an unknown field"));
  EXPECT_THAT(error_with("/steps/0/luck", 1),
              StartsWith(":1: steps[0].luck: 1 is the value of an unknown field"));
  EXPECT_THAT(error_with("/final/luck", 1), StartsWith(":1: final.luck: 1 is the value of an unknown field"));
  EXPECT_THAT(error_with("/problem/widths/0", 0), StartsWith(":1: problem"));
  EXPECT_THAT(error_with("/steps/0/command", 3), StartsWith(":1: steps[0].command: 3 is a number"));
  EXPECT_THAT(error_with("/final/score", "good"), StartsWith(":1: final.score: \"good\" is a string"));
}

}  // namespace
}  // namespace fuselage::oracle
