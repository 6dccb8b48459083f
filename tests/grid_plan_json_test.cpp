// The contest's solution files, read, written and refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"
#include "fuselage/grid/plan_json.h"

namespace fuselage::grid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::StartsWith;

constexpr const char* text = R"({"subgraphs": [[0, 2], [1]], "granularities": [[128, 64, 32], [16, 8, 1]],
  "tensors_to_retain": [[3], []], "traversal_orders": [[0, 1, 3, 2], null],
  "subgraph_latencies": [4400, 0.5]})";

// The message for the plan with one value changed; "gone" removes the field.
std::string refusal(const char* pointer, const std::string& value) {
  Json json = Json::parse(text);
  const Json::json_pointer at(pointer);
  if (value == "gone") {
    json.erase(at.back());
  } else {
    json[at] = Json::parse(value);
  }
  return error_of([&] { read_plan(json.dump(), "s.json"); });
}

TEST(GridPlanJson, reads_every_field) {
  const PlanFile file = read_plan(text, "s.json");
  ASSERT_EQ(file.plan.kernels.size(), 2U);
  const Kernel& first = file.plan.kernels[0];
  EXPECT_THAT(first.ops, ElementsAre(0, 2));
  EXPECT_EQ(first.granularity, (Granularity{.w = 128, .h = 64, .k = 32}));
  EXPECT_THAT(first.retain, ElementsAre(3));
  EXPECT_THAT(first.traversal, Optional(ElementsAre(0, 1, 3, 2)));
  const Kernel& second = file.plan.kernels[1];
  EXPECT_THAT(second.retain, IsEmpty());
  EXPECT_FALSE(second.traversal.has_value());
  EXPECT_THAT(file.latencies, ElementsAre(4400, 0.5));
}

TEST(GridPlanJson, traversals_and_latencies_may_be_missing) {
  const PlanFile file =
      read_plan(R"({"subgraphs": [[0]], "granularities": [[1, 2, 3]], "tensors_to_retain": [[]]})", "s.json");
  EXPECT_FALSE(file.plan.kernels.at(0).traversal.has_value());
  EXPECT_THAT(file.latencies, IsEmpty());
}

TEST(GridPlanJson, an_empty_traversal_is_not_raster) {
  Json json = Json::parse(text);
  json["traversal_orders"][1] = Json::array();
  EXPECT_THAT(read_plan(json.dump(), "s.json").plan.kernels[1].traversal, Optional(IsEmpty()));
}

TEST(GridPlanJson, writes_what_reads_back) {
  const PlanFile file = read_plan(text, "s.json");
  const std::string written = plan_to_json(file.plan, file.latencies);
  EXPECT_EQ(written, R"({
  "subgraphs": [
    [0, 2],
    [1]
  ],
  "granularities": [
    [128, 64, 32],
    [16, 8, 1]
  ],
  "tensors_to_retain": [
    [3],
    []
  ],
  "traversal_orders": [
    [0, 1, 3, 2],
    null
  ],
  "subgraph_latencies": [
    4400.0,
    0.5
  ]
}
)");
  const PlanFile again = read_plan(written, "again.json");
  EXPECT_EQ(again.plan, file.plan);
  EXPECT_EQ(again.latencies, file.latencies);
  EXPECT_THAT(plan_to_json(file.plan, {}), Not(HasSubstr("subgraph_latencies")));
  EXPECT_EQ(read_plan(plan_to_json({}, {}), "empty.json").plan, Plan{});
}

TEST(GridPlanJson, refuses_fields_by_name) {
  EXPECT_THAT(refusal("/subgraphs", "gone"), StartsWith("s.json: subgraphs: this field is missing"));
  EXPECT_THAT(refusal("/granularities", "gone"), StartsWith("s.json: granularities: this field is missing"));
  EXPECT_THAT(refusal("/tensors_to_retain", "gone"),
              StartsWith("s.json: tensors_to_retain: this field is missing"));
  EXPECT_THAT(refusal("/retain", "[]"), StartsWith("s.json: retain: [] is the value of an unknown field"));
  EXPECT_THAT(refusal("/traversal_orders", "null"), HasSubstr("traversal_orders: null is no value"));
  EXPECT_EQ(refusal("/granularities/1", "[128, 128]"),
            "s.json: granularities[1]: [128, 128] is no granularity; expected [w, h, k]");
  EXPECT_THAT(refusal("/granularities/1/2", "0.5"), StartsWith("s.json: granularities[1][2]: 0.5 is not"));
  EXPECT_THAT(refusal("/granularities/1/0", "1e300"), StartsWith("s.json: granularities[1][0]: 1e+300"));
  EXPECT_EQ(refusal("/subgraphs/0/1", "2147483648"),
            "s.json: subgraphs[0][1]: 2147483648 is out of range; expected an integer from -2147483648 to "
            "2147483647");
  EXPECT_THAT(refusal("/subgraphs/0", "3"), StartsWith("s.json: subgraphs[0]: 3 is a number; expected an"));
  EXPECT_THAT(refusal("/tensors_to_retain/0/0", "\"3\""), HasSubstr("tensors_to_retain[0][0]: \"3\""));
  EXPECT_THAT(refusal("/traversal_orders/0/1", "null"),
              HasSubstr("traversal_orders[0][1]: null is no value"));
  EXPECT_EQ(refusal("/subgraph_latencies/0", "-1"),
            "s.json: subgraph_latencies[0]: -1 is negative; expected a finite number >= 0");
}

TEST(GridPlanJson, refuses_lists_of_different_lengths) {
  for (const char* list : {"granularities", "tensors_to_retain", "traversal_orders", "subgraph_latencies"})
    EXPECT_EQ(refusal(fmt::format("/{}", list).c_str(), "[]"),
              fmt::format("s.json: {}: its length is 0; expected 2, the length of subgraphs", list));
}

TEST(GridPlanJson, refuses_what_is_no_json) {
  const auto error = [](std::string_view bad) { return error_of([&] { read_plan(bad, "s.json"); }); };
  EXPECT_THAT(error("[[0]]"), StartsWith("s.json: line 1, column 1"));
  EXPECT_THAT(error(std::string_view(text).substr(0, 60)), HasSubstr("the text ends too early"));
  EXPECT_THAT(error_of([] { read_plan_file("no/such.json"); }), StartsWith("no/such.json: "));
}

}  // namespace
}  // namespace fuselage::grid
