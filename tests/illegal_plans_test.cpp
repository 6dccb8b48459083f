// Illegal plans made by hand, each with exactly one thing wrong, under all three rule sets: the check must
// name that thing, the kernel and the numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fuselage/core/error.h"
#include "fuselage/oracle/simulate.h"

namespace fuselage::oracle {
namespace {

using walk::Order;
using walk::Plan;
using walk::Rules;

// Five tensors of 64 x 64 (16384 B; a slice is 4096 B at tile 32, all of it from tile 64 on). Node 0 feeds 1,
// 2 and 3, node 1 feeds 3, node 3 feeds 4; 2 and 4 are the graph's outputs. The fixed order is 0, 1, 2, 3, 4.
Graph five_nodes() {
  return Graph({derived_node(Op::matmul, 64, 64, {}), derived_node(Op::relu, 64, 64, {0}),
                derived_node(Op::gelu, 64, 64, {0}), derived_node(Op::add, 64, 64, {0, 1}),
                derived_node(Op::softmax, 64, 64, {3})});
}

// "0 1 +1 | 2 @64 | 3 4": kernels between bars, @ a tile (32 if not said), + a retained tensor.
Plan read_plan(const std::string& text) {
  Plan plan;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (plan.empty() || word == "|") plan.push_back({.nodes = {}, .tile = 32, .retain = {}});
    if (word[0] == '@')
      plan.back().tile = std::stoi(word.substr(1));
    else if (word[0] == '+')
      plan.back().retain.push_back(std::stoi(word.substr(1)));
    else if (word != "|")
      plan.back().nodes.push_back(std::stoi(word));
  }
  return plan;
}

struct Machine {
  std::int64_t capacity = 40000;
  int depth = 3;
};

struct IllegalPlan {
  const char* what;
  const char* plan;
  FaultCode code;
  std::optional<int> kernel;
  const char* message;  // a piece of it
  Machine machine = {};
};

void expect_refused(const IllegalPlan& row, const SimulateOptions& options) {
  SCOPED_TRACE(fmt::format("{} ({}, {})", row.what, name(options.rules), name(options.order)));
  const Hardware hardware = {.fast_mem_capacity = row.machine.capacity,
                             .slow_mem_bandwidth = 8,
                             .kernel_launch_cost = 500,
                             .max_fusion_depth = row.machine.depth};
  const Plan plan = read_plan(row.plan);
  const Simulation result = simulate(five_nodes(), hardware, plan, options);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(name(result.fault->code), name(row.code)) << result.fault->message;
  EXPECT_EQ(result.fault->kernel, row.kernel) << result.fault->message;
  EXPECT_THAT(result.fault->message, testing::HasSubstr(row.message));
  // Pricing stops at the fault.
  EXPECT_EQ(result.kernels.size(),
            static_cast<std::size_t>(row.kernel.value_or(static_cast<int>(plan.size()))));
}

constexpr SimulateOptions seed = {.rules = Rules::seed};
constexpr SimulateOptions honest = {.rules = Rules::seed_honest};
constexpr SimulateOptions physical = {.rules = Rules::physical};
constexpr SimulateOptions physical_free = {.rules = Rules::physical, .order = Order::free};

// The one that the rows below break in one place each.
const char* const legal = "0 1 +1 | 2 +1 | 3 4";

TEST(IllegalPlans, the_plan_they_are_made_from_is_legal) {
  const Hardware hardware = {.fast_mem_capacity = 40000, .slow_mem_bandwidth = 8, .max_fusion_depth = 3};
  for (const SimulateOptions& options : {seed, honest, physical, physical_free})
    EXPECT_TRUE(simulate(five_nodes(), hardware, read_plan(legal), options).legal());
}

const std::vector<IllegalPlan> under_all_rules = {
    {"tile between two", "0 1 | 2 @100 | 3 4", FaultCode::tile, 1,
     "kernel 1: tile 100 is not one of 32, 64, 128, 256"},
    {"tile zero", "0 1 @0 | 2 | 3 4", FaultCode::tile, 0, "tile 0"},
    {"tile negative", "0 1 | 2 | 3 4 @-32", FaultCode::tile, 2, "tile -32"},
    {"tile too large", "0 1 | 2 | 3 4 @512", FaultCode::tile, 2, "tile 512"},
    {"no nodes", "0 1 |  | 2 | 3 4", FaultCode::order, 1, "kernel 1: has no nodes"},
    {"node past the last", "0 1 | 5 | 3 4", FaultCode::order, 1,
     "kernel 1: node 5 is not in the graph, whose ids are 0 to 4"},
    {"node below zero", "0 -1", FaultCode::order, 0, "node -1 is not in the graph"},
    {"first node has an input", "1 | 0", FaultCode::order, 0, "kernel 0: node 1 runs before its input 0"},
    {"kernel backwards", "0 | 3 1 | 2 | 4", FaultCode::order, 1, "kernel 1: node 3 runs before its input 1"},
    {"skips an input", "0 1 | 4 | 2 | 3", FaultCode::order, 1, "node 4 runs before its input 3"},
    {"twice in one kernel", "0 1 1 | 2 | 3 4", FaultCode::duplicate, 0, "kernel 0: node 1 is listed twice"},
    {"again in a later one", "0 1 | 2 | 1 | 3 4", FaultCode::duplicate, 2,
     "kernel 2: node 1 ran in kernel 0 already"},
    {"again after the end", "0 1 | 2 | 3 4 | 4", FaultCode::duplicate, 3, "node 4 ran in kernel 2 already"},
    {"siblings", "0 | 1 2 | 3 4", FaultCode::not_connected, 1,
     "kernel 1: node 2 reads nothing inside the kernel"},
    {"reads outside only", "0 1 | 2 3 | 4", FaultCode::not_connected, 1, "node 3 reads nothing inside"},
    {"one too many", "0 1 2 3 | 4", FaultCode::too_deep, 0,
     "kernel 0: node 3 is number 4 of the kernel, but max_fusion_depth is 3"},
    {"two where one is the limit",
     "0 | 1 | 2 | 3 4",
     FaultCode::too_deep,
     3,
     "node 4 is number 2",
     {.depth = 1}},
    {"retains past the last", "0 1 +5 | 2 | 3 4", FaultCode::retain, 0,
     "kernel 0: retains 5, which is not in the graph"},
    {"retains below zero", "0 1 | 2 | 3 4 +-1", FaultCode::retain, 2, "retains -1"},
    {"stops early", "0 1 | 2", FaultCode::coverage, std::nullopt, "no kernel runs node 3; 3 of 5 nodes run"},
    {"empty plan", "", FaultCode::coverage, std::nullopt, "no kernel runs node 0; 0 of 5"},
    {"working set at a large tile", "0 1 | 2 | 3 4 @64", FaultCode::oom, 2,
     "kernel 2: working set 49152 B exceeds fast_mem_capacity 40000 B"},
    {"one byte short",
     "0 1 | 2 | 3 4",
     FaultCode::oom,
     2,
     "working set 12288 B exceeds fast_mem_capacity 12287 B",
     {.capacity = 12287}},
};

const std::vector<IllegalPlan> under_the_fixed_order = {
    {"later kernel first", "0 | 2 | 1 | 3 4", FaultCode::order, 1,
     "kernel 1: node 2 runs where the fixed order has node 1"},
    {"jumps inside a kernel", "0 2 | 1 | 3 4", FaultCode::order, 0,
     "node 2 runs where the fixed order has node 1"},
    {"leaves one out", "0 1 3 | 4", FaultCode::order, 0, "node 3 runs where the fixed order has node 2"},
};

const std::vector<IllegalPlan> under_seed_and_honest = {
    {"retained members at a large tile", "0 1 @128 +1 | 2 | 3 4", FaultCode::oom, 0,
     "kernel 0: working set 49152 B exceeds fast_mem_capacity 40000 B when node 1 joins (tile 128"},
    {"retains one twice", "0 1 +1 +1 | 2 | 3 4", FaultCode::oom, 0, "working set 40960 B"},
    {"fits whole, not halfway",
     "0 1 2 3 | 4",
     FaultCode::oom,
     0,
     "working set 12288 B exceeds fast_mem_capacity 10000 B when node 2 joins, before the kernel is whole",
     {.capacity = 10000, .depth = 4}},
    {"a resident in the way", "0 1 | 2 +2 | 3 4 +0", FaultCode::oom, 2,
     "working set 45056 B exceeds fast_mem_capacity 40000 B when node 4 joins (tile 32, 16384 B resident, 1 "
     "retained)"},
};

const std::vector<IllegalPlan> under_seed = {
    {"too many phantoms", "0 1 +2 +3 | 2 | 3 4", FaultCode::oom, 0, "working set 40960 B"},
    {"one phantom twice", "0 1 +4 +4 | 2 | 3 4", FaultCode::oom, 0,
     "40000 B when node 1 joins (tile 32, 0 B resident, 2 retained)"},
};

const std::vector<IllegalPlan> under_honest = {
    {"retains what is yet to run", "0 +3 | 1 | 2 | 3 4", FaultCode::retain, 0,
     "kernel 0: retains 3, which is neither a member, an input nor resident"},
    {"retains the next node", "0 1 +2 | 2 | 3 4", FaultCode::retain, 0, "retains 2"},
    {"retains what it did not keep", "0 1 | 2 +1 | 3 4", FaultCode::retain, 1, "kernel 1: retains 1"},
    {"a good entry and a bad one", "0 1 +1 | 2 +1 +4 | 3 4", FaultCode::retain, 1, "retains 4"},
    {"retains an output that left", "0 1 | 2 +2 | 3 | 4 +2", FaultCode::retain, 3, "retains 2"},
    {"retains what its last reader dropped", "0 1 +1 | 2 | 3 | 4 +1", FaultCode::retain, 3, "retains 1"},
};

const std::vector<IllegalPlan> under_physical = {
    {"retains what is yet to run", "0 +3 | 1 | 2 | 3 4", FaultCode::retain, 0,
     "kernel 0: retains 3, which is neither a member, an input nor resident"},
    {"retains what was let go", "0 1 | 2 +1 | 3 4", FaultCode::retain, 1, "retains 1"},
    {"retains the dead", "0 1 +1 | 2 +1 | 3 +1 | 4 +1", FaultCode::retain, 3, "retains 1"},
    {"retains an output already written", "0 1 | 2 | 3 +2 | 4", FaultCode::retain, 2, "retains 2"},
    {"single node", "0 @64 +0 | 1 @64 +0 +1 | 2 @64 | 3 4", FaultCode::oom, 2,
     "kernel 2: working set 49152 B exceeds fast_mem_capacity 40000 B (tile 64, 32768 B resident, 0 B "
     "retained)"},
    {"retains one too many", "0 +0 | 1 +0 +1 | 2 +0 +1 | 3 +0 +1 +3", FaultCode::oom, 3,
     "working set 49152 B"},
    {"smaller than any slice", "0", FaultCode::oom, 0, "working set 4096 B", {.capacity = 4095}},
    {"last reads count in full", "0 1 +0 +1 | 2 +0 +1 | 3 +3 | 4", FaultCode::oom, 2, "working set 49152 B"},
};

const std::vector<IllegalPlan> under_physical_free = {
    {"retain lost on another way", "0 2 | 1 +1 | 3 4 +2", FaultCode::retain, 2, "retains 2"},
    {"leaves one out", "0 1 3 | 4", FaultCode::coverage, std::nullopt,
     "no kernel runs node 2; 4 of 5 nodes run"},
    {"not connected by a sibling", "0 | 2 1 | 3 4", FaultCode::not_connected, 1,
     "node 1 reads nothing inside"},
    {"input later in the kernel", "0 3 1 | 2 | 4", FaultCode::order, 0, "node 3 runs before its input 1"},
};

TEST(IllegalPlans, under_all_rules) {
  for (const IllegalPlan& row : under_all_rules)
    for (const SimulateOptions& options : {seed, honest, physical, physical_free})
      expect_refused(row, options);
}

TEST(IllegalPlans, under_the_fixed_order) {
  for (const IllegalPlan& row : under_the_fixed_order)
    for (const SimulateOptions& options : {seed, honest, physical}) expect_refused(row, options);
}

TEST(IllegalPlans, under_seed_and_honest) {
  for (const IllegalPlan& row : under_seed_and_honest)
    for (const SimulateOptions& options : {seed, honest}) expect_refused(row, options);
}

TEST(IllegalPlans, under_seed) {
  for (const IllegalPlan& row : under_seed) expect_refused(row, seed);
}

TEST(IllegalPlans, under_honest) {
  for (const IllegalPlan& row : under_honest) expect_refused(row, honest);
}

TEST(IllegalPlans, under_physical) {
  for (const IllegalPlan& row : under_physical)
    for (const SimulateOptions& options : {physical, physical_free}) expect_refused(row, options);
}

TEST(IllegalPlans, under_free_order) {
  for (const IllegalPlan& row : under_physical_free) expect_refused(row, physical_free);
}

// What the other rule sets refuse in the rows above is legal here.
TEST(IllegalPlans, one_rule_sets_fault_is_another_ones_plan) {
  const Hardware narrow = {.fast_mem_capacity = 10000, .slow_mem_bandwidth = 8, .max_fusion_depth = 4};
  EXPECT_TRUE(simulate(five_nodes(), narrow, read_plan("0 1 2 3 | 4"), physical).legal());
  const Hardware wide = {.fast_mem_capacity = 40000, .slow_mem_bandwidth = 8, .max_fusion_depth = 3};
  EXPECT_TRUE(simulate(five_nodes(), wide, read_plan("0 2 | 1 | 3 4"), physical_free).legal());
  EXPECT_TRUE(simulate(five_nodes(), wide, read_plan("0 1 +2 | 2 | 3 4"), seed).legal());
}

}  // namespace
}  // namespace fuselage::oracle
