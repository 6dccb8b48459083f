// The contest's problem files, read, written and refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/grid/problem_json.h"

namespace fuselage::grid {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* text = R"({"widths": [256, 128, 64, 64], "heights": [128, 128, 256, 128],
  "inputs": [[0, 2], [3]], "outputs": [[3], [1]], "base_costs": [1500, 12.5],
  "op_types": ["MatMul", "Pointwise"], "fast_memory_capacity": 50000, "slow_memory_bandwidth": 2.5,
  "native_granularity": [128, 64]})";

// The message for the problem with one value changed; "null" as JSON text removes the field.
std::string refusal(const char* pointer, const char* value) {
  Json json = Json::parse(text);
  const Json::json_pointer at(pointer);
  json[at] = Json::parse(value);
  if (json[at].is_null()) json.erase(at.back());
  return error_of([&] { read_problem(json.dump(), "p.json"); });
}

TEST(GridProblemJson, reads_every_field) {
  const Instance instance = read_problem(text, "p.json");
  ASSERT_EQ(instance.tensor_count(), 4);
  EXPECT_EQ(instance.tensor(0).width, 256);
  EXPECT_EQ(instance.tensor(0).height, 128);
  EXPECT_EQ(instance.tensor(2).size(), 64 * 256);
  ASSERT_EQ(instance.op_count(), 2);
  EXPECT_EQ(instance.op(0).kind, OpKind::matmul);
  EXPECT_THAT(instance.op(0).inputs, ElementsAre(0, 2));
  EXPECT_THAT(instance.op(0).outputs, ElementsAre(3));
  EXPECT_EQ(instance.op(1).kind, OpKind::pointwise);
  EXPECT_EQ(instance.op(1).base_cost, 12.5);
  EXPECT_EQ(instance.machine().capacity, 50000);
  EXPECT_EQ(instance.machine().bandwidth, 2.5);
  EXPECT_EQ(instance.machine().native_width, 128);
  EXPECT_EQ(instance.machine().native_height, 64);
}

TEST(GridProblemJson, writes_what_reads_back) {
  const std::string written = problem_to_json(read_problem(text, "p.json"));
  EXPECT_EQ(written, R"({
  "widths": [256, 128, 64, 64],
  "heights": [128, 128, 256, 128],
  "inputs": [[0, 2], [3]],
  "outputs": [[3], [1]],
  "base_costs": [1500, 12.5],
  "op_types": ["MatMul", "Pointwise"],
  "fast_memory_capacity": 50000,
  "slow_memory_bandwidth": 2.5,
  "native_granularity": [128, 64]
}
)");
  EXPECT_EQ(problem_to_json(read_problem(written, "again.json")), written);
}

TEST(GridProblemJson, refuses_fields_by_name) {
  EXPECT_THAT(refusal("/widths", "null"), StartsWith("p.json: widths: this field is missing; expected it"));
  EXPECT_THAT(refusal("/native_granularity", "null"),
              StartsWith("p.json: native_granularity: this field is missing"));
  EXPECT_THAT(refusal("/bandwidth", "3"),
              StartsWith("p.json: bandwidth: 3 is the value of an unknown field"));
  EXPECT_THAT(refusal("/op_types/1", "\"Softmax\""),
              Eq("p.json: op_types[1]: \"Softmax\" is no op type; expected one of Pointwise, MatMul"));
  EXPECT_EQ(refusal("/heights/2", "1.5"),
            "p.json: heights[2]: 1.5 is not an integer; expected an integer >= 1");
  EXPECT_EQ(refusal("/heights/2", "0"), "p.json: heights[2]: 0 is out of range; expected an integer >= 1");
  EXPECT_EQ(refusal("/inputs/0/1", "4"), "p.json: inputs[0][1]: 4 names no tensor; expected ids from 0 to 3");
  EXPECT_EQ(refusal("/outputs/1/0", "-1"),
            "p.json: outputs[1][0]: -1 names no tensor; expected ids from 0 to 3");
  EXPECT_EQ(refusal("/inputs/0/1", "4294967296"),
            "p.json: inputs[0][1]: 4294967296 names no tensor; expected ids from 0 to 3");
  EXPECT_EQ(refusal("/base_costs/1", "-2"),
            "p.json: base_costs[1]: -2 is negative; expected a finite number >= 0");
  EXPECT_EQ(refusal("/native_granularity", "[128]"),
            "p.json: native_granularity: [128] is no granularity; expected [width, height]");
  EXPECT_EQ(refusal("/native_granularity/1", "0"),
            "p.json: native_granularity[1]: 0 is out of range; expected an integer >= 1");
  EXPECT_EQ(refusal("/fast_memory_capacity", "-5"),
            "p.json: fast_memory_capacity: -5 is negative; expected an integer >= 1");
  EXPECT_EQ(refusal("/slow_memory_bandwidth", "0"),
            "p.json: slow_memory_bandwidth: 0 is out of range; expected a finite number > 0");
}

TEST(GridProblemJson, refuses_lists_of_different_lengths) {
  EXPECT_EQ(refusal("/heights", "[1, 2]"),
            "p.json: heights: its length is 2; expected 4, the length of widths");
  EXPECT_EQ(refusal("/outputs", "[[3]]"),
            "p.json: outputs: its length is 1; expected 2, the length of inputs");
  EXPECT_EQ(refusal("/base_costs", "[1, 2, 3]"),
            "p.json: base_costs: its length is 3; expected 2, the length of inputs");
  EXPECT_EQ(refusal("/op_types", "[]"),
            "p.json: op_types: its length is 0; expected 2, the length of inputs");
}

TEST(GridProblemJson, refuses_what_is_no_graph) {
  EXPECT_EQ(refusal("/inputs/0", "[0]"),
            "p.json: inputs[0]: the MatMul has 1 inputs; expected two, LHS and RHS");
  EXPECT_EQ(refusal("/outputs/1/0", "3"),
            "p.json: outputs[1][0]: tensor 3 is an output of op 0 already; expected one producer, once");
  EXPECT_EQ(refusal("/inputs/0/1", "1"),
            "p.json: inputs: the ops form a cycle: 0 -> 1 -> 0; expected a directed acyclic graph");
}

TEST(GridProblemJson, refuses_what_is_no_json) {
  const auto error = [](std::string_view bad) { return error_of([&] { read_problem(bad, "p.json"); }); };
  EXPECT_THAT(error(""), StartsWith("p.json"));
  EXPECT_THAT(error("[]"), StartsWith("p.json: line 1, column 1"));
  EXPECT_THAT(error(R"({"widths": [1], "widths": [1]})"), HasSubstr("widths"));
  EXPECT_THAT(error(std::string_view(text).substr(0, 100)), HasSubstr("the text ends too early"));
}

TEST(GridProblemJson, a_problem_within_a_row_says_where_it_is) {
  Json row = {{"problem", Json::parse(text)}};
  row["problem"]["inputs"][0] = {0, 1, 2};
  const std::string source = "rows.jsonl:7";
  const JsonField field(row, source);
  const JsonField problem = field.required("problem");
  EXPECT_EQ(error_of([&] { read_problem(problem); }),
            "rows.jsonl:7: problem: inputs[0]: the MatMul has 3 inputs; expected two, LHS and RHS");
}

TEST(GridProblemJson, the_files_are_named) {
  EXPECT_THAT(error_of([] { read_problem_file("no/such.json"); }), StartsWith("no/such.json: "));
  const std::filesystem::path folder = FUSELAGE_SOURCE_DIR "/../shared/benchmarks/mlsys-2026";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << folder << " is not there";
  for (const int number : {1, 5, 9, 13, 17}) {
    const auto path = folder / ("mlsys-2026-" + std::to_string(number) + ".json");
    const Instance instance = read_problem_file(path.string());
    const std::string written = problem_to_json(instance);
    EXPECT_EQ(problem_to_json(read_problem(written, "again")), written);
    EXPECT_EQ(Json::parse(written), Json::parse(read_file(path.string()))) << "nothing is lost";
  }
}

}  // namespace
}  // namespace fuselage::grid
