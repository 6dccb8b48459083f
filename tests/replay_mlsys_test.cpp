// Recorded plans of the contest pass as they are, and a row in which a figure is changed fails at that
// figure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "error_of.h"
#include "fuselage/oracle/replay.h"
#include "replay_rows.h"

namespace fuselage::oracle {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using Pointer = json::json_pointer;

const std::string full_file = FUSELAGE_SOURCE_DIR "/../shared/golden/grid/mlsys.jsonl";

void expect_all_pass(const std::string& path, std::size_t rows) {
  const ReplayReport report = Replay().check(path);
  EXPECT_EQ(report.passed, rows);
  EXPECT_EQ(report.failed, 0U);
  EXPECT_EQ(report.rows, (std::map<std::string, std::size_t>{{"mlsys", rows}}));
  for (const std::string& difference : report.differences) ADD_FAILURE() << difference;
}

TEST(ReplayMlsys, the_small_file_passes) {
  expect_all_pass(small_golden_dir() + "/mlsys_small.jsonl", 64);
}

TEST(ReplayMlsys, the_full_file_passes) {
  if (!std::filesystem::exists(full_file)) GTEST_SKIP() << "the full record is not beside this checkout";
  expect_all_pass(full_file, 196);
}

TEST(ReplayMlsys, the_small_file_has_every_source_and_error) {
  std::set<std::string> sources;
  std::map<std::string, int> errors;
  int native = 0;
  int co_consumers = 0;
  for (const json& row : small_rows("mlsys_small.jsonl")) {
    sources.insert(row.at("source"));
    ++errors[row.at("error")];
    if (row.at("co_consumers")) ++co_consumers;
    if (row.at("valid") && row.contains("expected_latency_native_k") &&
        row["expected_latency_native_k"] != row["expected_latency"])
      ++native;
  }
  EXPECT_EQ(sources.size(), 6U);
  EXPECT_EQ(errors.size(), 15U) << "14 errors, and none";
  EXPECT_GE(native, 3);
  EXPECT_GE(co_consumers, 1);
}

// Another value of the same kind.
json changed(const json& figure) {
  if (figure.is_number_float()) return figure.get<double>() * (1 + 1e-6);
  if (figure.is_number()) return figure.get<std::int64_t>() + 1;
  if (figure.is_boolean()) return !figure.get<bool>();
  if (figure.is_null()) return 1;
  return figure == "DUP" ? "OOM" : "DUP";
}

TEST(ReplayMlsys, every_figure_counts) {
  const GoldenDirectory directory;
  int figures = 0;
  for (const json& row : small_rows("mlsys_small.jsonl")) {
    std::vector<std::string> paths = {"/valid", "/error", "/expected_latency"};
    if (row.contains("expected_latency_native_k")) paths.emplace_back("/expected_latency_native_k");
    for (std::size_t i = 0; i < row["working_set"].size(); ++i)
      for (const char* list : {"/working_set/", "/per_step_latency/"})
        paths.push_back(list + std::to_string(i));
    for (const std::string& path : paths) {
      json spoilt = row;
      spoilt[Pointer(path)] = changed(row.at(Pointer(path)));
      ++figures;
      EXPECT_THAT(directory.difference_of(spoilt), HasSubstr(path.substr(1, path.find('/', 1) - 1)))
          << path << " in " << row.dump().substr(0, 200);
    }
  }
  EXPECT_GT(figures, 350);
}

TEST(ReplayMlsys, the_flag_of_a_row_counts) {
  const GoldenDirectory directory;
  int rows = 0;
  for (json row : small_rows("mlsys_small.jsonl")) {
    if (!row["co_consumers"].get<bool>()) continue;
    ++rows;
    row["co_consumers"] = false;
    EXPECT_THAT(directory.difference_of(row), HasSubstr("error: "));
  }
  EXPECT_GE(rows, 1);
}

TEST(ReplayMlsys, malformed_rows_are_refused) {
  const GoldenDirectory directory;
  const json good = small_rows("mlsys_small.jsonl")[0];
  const auto error = [&](auto change) {
    json row = good;
    change(row);
    const std::string path = directory.write_rows("rows.jsonl", {row});
    const std::string message = error_of([&] { Replay().check(path); });
    return message.starts_with(path) ? message.substr(path.size()) : message;
  };
  EXPECT_THAT(error([](json& row) { row.erase("solution"); }),
              StartsWith(":1: solution: this field is missing"));
  EXPECT_THAT(error([](json& row) { row.erase("problem"); }),
              StartsWith(":1: problem: this field is missing"));
  EXPECT_THAT(error([](json& row) { row.erase("error"); }), StartsWith(":1: error: this field is missing"));
  EXPECT_THAT(error([](json& row) { row["luck"] = 1; }),
              StartsWith(":1: luck: 1 is the value of an unknown field"));
  EXPECT_THAT(error([](json& row) { row["working_set"][0] = 0.5; }),
              StartsWith(":1: working_set[0]: 0.5 is no integer"));
  EXPECT_THAT(error([](json& row) { row["problem"]["widths"][0] = 0; }),
              StartsWith(":1: problem.widths[0]: 0 is out of range"));
  EXPECT_THAT(error([](json& row) { row["solution"]["granularities"][0].erase(2); }),
              StartsWith(":1: solution.granularities[0]: [128, 128] is no granularity"));
}

TEST(ReplayMlsys, lists_of_another_length_differ) {
  const GoldenDirectory directory;
  json row = small_rows("mlsys_small.jsonl")[0];
  row["working_set"].push_back(1);
  EXPECT_THAT(directory.difference_of(row), HasSubstr("working_set: expected 3 steps, got 2"));
  row["working_set"] = nullptr;
  EXPECT_THAT(directory.difference_of(row), HasSubstr("working_set: expected no steps, got a legal plan"));
}

}  // namespace
}  // namespace fuselage::oracle
