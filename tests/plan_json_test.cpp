#include "fuselage/walk/plan_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"
#include "fuselage/graph/graph_json.h"

namespace fuselage::walk {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Workload small_workload() {
  return {.name = "small",
          .graph = Graph({derived_node(Op::matmul, 64, 64, {}), derived_node(Op::relu, 64, 64, {0}),
                          derived_node(Op::add, 64, 64, {1, 0})}),
          .hardware = {65536, 8.5, 100, 3}};
}

PlanFile small_plan() {
  PlanFile plan{.workload = small_workload()};
  plan.kernels = {{.nodes = {0, 1}, .tile = 64, .retain = {0, 0}}, {.nodes = {2}, .tile = 128, .retain = {}}};
  plan.latency = 1234.5;
  plan.greedy_latency = 2000;
  plan.naive_latency = 118360.31999999999;
  plan.lower_bound = 1234.5;
  plan.proof = "optimal";
  plan.actions = actions_of(plan.kernels);
  return plan;
}

const std::string small_text = R"({
  "fuselage_plan": 1,
  "family": "walk",
  "rules": "seed-honest",
  "order": "fixed",
  "name": "small",
  "graph": {
    "nodes": [
      {"id": 0, "op": "matmul", "shape": [64, 64], "inputs": [], "flops": 16384.0, "output_bytes": 16384},
      {"id": 1, "op": "relu", "shape": [64, 64], "inputs": [0], "flops": 409.6, "output_bytes": 16384},
      {"id": 2, "op": "add", "shape": [64, 64], "inputs": [1, 0], "flops": 409.6, "output_bytes": 16384}
    ],
    "hardware": {"fast_mem_capacity": 65536, "slow_mem_bandwidth": 8.5, "kernel_launch_cost": 100.0, "max_fusion_depth": 3}
  },
  "kernels": [
    {"nodes": [0, 1], "tile": 64, "retain": [0, 0]},
    {"nodes": [2], "tile": 128, "retain": []}
  ],
  "latency": 1234.5,
  "greedy_latency": 2000.0,
  "naive_latency": 118360.31999999999,
  "lower_bound": 1234.5,
  "proof": "optimal",
  "actions": [
    {"fuse_with_prev": false, "tile": 32, "retain": []},
    {"fuse_with_prev": true, "tile": 64, "retain": [0, 0]},
    {"fuse_with_prev": false, "tile": 128, "retain": []}
  ]
}
)";

// The small plan's text with one part replaced.
std::string with(const std::string& part, const std::string& replacement) {
  std::string text = small_text;
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), replacement);
}

TEST(ActionsOf, LastNodeOfAKernelStatesTileAndRetain) {
  const Plan plan = {{.nodes = {0}, .tile = 256, .retain = {0}},
                     {.nodes = {2, 1, 3}, .tile = 64, .retain = {3, 3}}};
  const std::vector<Action> expected = {
      {false, 256, {0}}, {false, 32, {}}, {true, 32, {}}, {true, 64, {3, 3}}};
  EXPECT_EQ(actions_of(plan), expected);
  EXPECT_TRUE(actions_of({}).empty());
}

TEST(PlanJson, WritesOneKernelPerLine) {
  EXPECT_EQ(plan_to_json(small_plan()), small_text);
}

TEST(PlanJson, ReadsBack) {
  const PlanFile written = small_plan();
  const PlanFile read = read_plan(small_text, "p.json");
  EXPECT_EQ(workload_to_json(read.workload), workload_to_json(written.workload));
  EXPECT_EQ(read.rules, Rules::seed_honest);
  EXPECT_EQ(read.order, Order::fixed);
  EXPECT_EQ(read.kernels, written.kernels);
  EXPECT_EQ(read.latency, written.latency);
  EXPECT_EQ(read.greedy_latency, written.greedy_latency);
  EXPECT_EQ(read.naive_latency, written.naive_latency);
  EXPECT_EQ(read.lower_bound, written.lower_bound);
  EXPECT_EQ(read.proof, "optimal");
  EXPECT_EQ(read.actions, written.actions);
}

TEST(PlanJson, LeavesOutWhatIsNotThere) {
  PlanFile plan = small_plan();
  plan.rules = Rules::physical;
  plan.order = Order::free;
  plan.greedy_latency = {};
  plan.lower_bound = {};
  plan.proof = "none";
  plan.actions = {};
  plan.kernels = {};
  const std::string text = plan_to_json(plan);
  EXPECT_THAT(text, AllOf(HasSubstr("\"greedy_latency\": null"), HasSubstr("\"lower_bound\": null"),
                          HasSubstr("\"kernels\": [],")));
  EXPECT_THAT(text, testing::Not(HasSubstr("actions")));
  const PlanFile read = read_plan(text, "p.json");
  EXPECT_EQ(read.order, Order::free);
  EXPECT_FALSE(read.greedy_latency || read.lower_bound);
  EXPECT_EQ(plan_to_json(read), text);
}

TEST(PlanJson, LeavesLegalityToTheCheck) {
  EXPECT_NO_THROW(read_plan(with("[0, 1], \"tile\": 64", "[7, -1, 7], \"tile\": 13"), "p.json"));
  EXPECT_NO_THROW(read_plan(with("\"retain\": [0, 0]", "\"retain\": [99, -5]"), "p.json"));
}

TEST(PlanJson, RefusesBadFiles) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"", {"empty"}},
      {small_text.substr(0, 300), {"truncated"}},
      {"[]", {"expected an object"}},
      {"{}", {"fuselage_plan: this field is missing"}},
      {with("\"fuselage_plan\": 1", "\"fuselage_plan\": 2"), {"fuselage_plan: 2", "expected the integer 1"}},
      {with("\"walk\"", "\"grid\""), {"family: \"grid\"", "\"walk\""}},
      {with("\"seed-honest\"", "\"honest\""), {"rules: \"honest\"", "seed, seed-honest, physical"}},
      {with("\"fixed\"", "\"any\""), {"order: \"any\"", "fixed, free"}},
      {with("\"fixed\"", "\"free\""), {"order: \"free\"", "seed-honest", "\"fixed\""}},
      {with("\"small\"", "\"../small\""), {"name: \"../small\""}},
      {with("\"name\": \"small\",", ""), {"name: this field is missing"}},
      {with("\"latency\": 1234.5", "\"cost\": 1234.5"), {"cost: 1234.5", "unknown field"}},
      {with("\"latency\": 1234.5", "\"latency\": -1"), {"latency: -1 is negative"}},
      {with("\"latency\": 1234.5", "\"latency\": null"), {"latency: null"}},
      {with("\"latency\": 1234.5", "\"latency\": NaN"), {"(latency)", "NaN"}},
      {with("\"greedy_latency\": 2000.0", "\"greedy_latency\": \"2000\""),
       {"greedy_latency: \"2000\" is a string"}},
      {with("\"proof\": \"optimal\"", "\"proof\": \"proven\""),
       {"proof: \"proven\"", "none, optimal in the declared space, optimal"}},
      {with("\"op\": \"relu\"", "\"op\": \"tanh\""), {"graph.nodes[1].op: \"tanh\"", "gelu"}},
      {with("\"inputs\": [0]", "\"inputs\": [2]"), {"graph: nodes: ", "cycle"}},
      {with("\"max_fusion_depth\": 3", "\"max_fusion_depth\": 0"), {"graph.hardware.max_fusion_depth: 0"}},
      {with("\"nodes\": [0, 1]", "\"nodes\": []"), {"kernels[0].nodes: []", "at least one"}},
      {with("\"nodes\": [0, 1]", "\"nodes\": [0, 2147483648]"),
       {"kernels[0].nodes[1]: 2147483648 is out of range"}},
      {with("\"nodes\": [0, 1]", "\"nodes\": [0.5]"), {"kernels[0].nodes[0]: 0.5 is not an integer"}},
      {with("\"tile\": 64", "\"tile\": \"64\""), {"kernels[0].tile: \"64\" is a string"}},
      {with("\"tile\": 64, ", ""), {"kernels[0].tile: this field is missing"}},
      {with("\"tile\": 64", "\"tile\": 64, \"cost\": 1"), {"kernels[0].cost: 1", "nodes, tile, retain"}},
      {with("\"fuse_with_prev\": true", "\"fuse_with_prev\": 1"),
       {"actions[1].fuse_with_prev: 1", "true or false"}},
      {with(",\n    {\"fuse_with_prev\": false, \"tile\": 128, \"retain\": []}", ""),
       {"actions: an array of 2 values", "3 actions"}},
      {with("\"seed-honest\"", "\"physical\""), {"actions", "physical"}},
  };
  for (const auto& [text, says] : cases) {
    const std::string error = error_of([&] { read_plan(text, "p.json"); });
    EXPECT_THAT(error, StartsWith("p.json: ")) << text;
    for (const std::string& words : says) EXPECT_THAT(error, HasSubstr(words));
  }
}

}  // namespace
}  // namespace fuselage::walk
