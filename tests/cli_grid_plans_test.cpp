// `fuselage explain` and `fuselage check` on plans of grid problems, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GridPlans : public CommandTest {
 protected:
  GridPlans() {
    write("problem.json", problem_.dump());
    write("plan.json", plan_.dump());
    plan_["subgraph_latencies"] = {2022.0, 3276.8};
    write("stated.json", plan_.dump());
  }
  void expect_refused(const std::string& arguments, const std::string& message) const {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_EQ(refused.out, "") << arguments;
    EXPECT_THAT(refused.err, StartsWith("fuselage: error: " + message)) << arguments;
  }

  // A matmul with K 64, then two pointwise ops, of which the second reads a graph input too.
  json problem_ = json::parse(R"({"widths": [64, 128, 128, 128, 128, 128],
    "heights": [128, 64, 128, 128, 128, 128], "inputs": [[0, 1], [2], [3, 4]], "outputs": [[2], [3], [5]],
    "base_costs": [1500, 300, 200], "op_types": ["MatMul", "Pointwise", "Pointwise"],
    "fast_memory_capacity": 40000, "slow_memory_bandwidth": 10, "native_granularity": [128, 128]})");
  // The first kernel computes longer in its last k-step, moves longer in its first.
  json plan_ = json::parse(R"({"subgraphs": [[0, 1], [2]], "granularities": [[128, 128, 32], [128, 64, 1]],
    "tensors_to_retain": [[3], []], "traversal_orders": [null, [1, 0]]})");
};

TEST_F(GridPlans, explain_says_where_the_time_goes) {
  const Finished finished = run("explain plan.json --problem problem.json");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_EQ(squeezed(finished.out),
            "problem.json: 3 ops in 2 kernels of plan.json; rules mlsys, compute k\n"
            "machine: 40,000 elements of fast memory, 10 elements per time unit, native 128 x 128\n"
            "\n"
            "kernel ops w x h x k traversal tiles k-steps loaded stored retain compute memory latency bound "
            "working set of capacity\n"
            " 0 0,1 128 x 128 x 32 raster 1 2 16,384 0 3 1,800.00 1,638.40 1,869.20 both 24,576 61%\n"
            " 1 2 128 x 64 x 1 1,0 2 1 16,384 16,384 - 400.00 3,276.80 3,276.80 memory 32,768 82%\n"
            " total 3 of 3 32,768 16,384 2,200.00 4,915.20 5,146.00 32,768\n"
            "\n"
            "legal: 5,146.00 time units in 2 kernels (rules mlsys, compute k)\n"
            "limited by memory: 63.68 % of the latency, 1 kernel; by both: 36.32 %, 1 kernel\n");
}

TEST_F(GridPlans, explain_has_every_figure_as_json) {
  const json all = run_json("explain stated.json --problem problem.json");
  EXPECT_EQ(all.at("problem"), "problem.json");
  EXPECT_EQ(all.at("solution"), "stated.json");
  EXPECT_EQ(all.at("rules"), "mlsys");
  EXPECT_EQ(all.at("legal"), true);
  EXPECT_FALSE(all.contains("fault"));
  EXPECT_EQ(all.at("capacity"), 40000);
  EXPECT_EQ(all.at("bandwidth"), 10);
  ASSERT_EQ(all.at("kernels").size(), 2U);
  EXPECT_EQ(all["kernels"][1], json::parse(R"({"ops": [2], "granularity": [128, 64, 1],
    "traversal": [1, 0], "retain": [], "tiles": 2, "k_steps": 1, "compute": 400.0, "memory": 3276.8,
    "bound": "memory", "transferred": 32768.0, "loaded": 16384.0, "stored": 16384.0, "latency": 3276.8,
    "working_set": 32768, "working_set_share": 0.8192, "stated_latency": 3276.8})"));
  const json& totals = all.at("totals");
  EXPECT_EQ(totals.at("latency"), 5146);
  EXPECT_EQ(totals.at("compute"), 2200);
  EXPECT_DOUBLE_EQ(double(totals.at("memory")), 4915.2);
  EXPECT_EQ(totals.at("loaded"), 32768);
  EXPECT_EQ(totals.at("stored"), 16384);
  EXPECT_EQ(totals.at("ops"), 3);
  EXPECT_EQ(totals.at("ops_run"), 3);
  EXPECT_EQ(totals.at("largest_working_set"), 32768);
  EXPECT_EQ(totals.at("limited_by"), json::parse(R"({"compute": 0.0, "memory": 3276.8, "both": 1869.2})"));
}

TEST_F(GridPlans, explain_names_traversals_and_ops_that_run_again) {
  problem_["native_granularity"] = {64, 64};
  write("small.json", problem_.dump());
  write("again.json", R"({"subgraphs": [[0], [1], [0, 1], [2]],
    "granularities": [[64, 64, 64], [64, 64, 1], [64, 64, 64], [64, 32, 1]],
    "tensors_to_retain": [[], [], [], []],
    "traversal_orders": [[0, 1, 3, 2], [0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 2, 3, 4, 5, 6, 7]]})");
  const Finished finished = run("explain again.json --problem small.json");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto rows = lines(squeezed(finished.out));
  ASSERT_GT(rows.size(), 8U);
  EXPECT_THAT(rows[4], StartsWith(" 0 0 64 x 64 x 64 snake by rows 4 1 "));
  EXPECT_THAT(rows[5], StartsWith(" 1 1 64 x 64 x 1 snake by columns 4 1 "));
  EXPECT_THAT(rows[6], StartsWith(" 2 0,1 64 x 64 x 64 0,3,1,2 4 1 "));
  EXPECT_THAT(rows[7], StartsWith(" 3 2 64 x 32 x 1 raster 8 1 "));
  EXPECT_THAT(rows[8], StartsWith(" total 3 of 3, 2 again "));
}

TEST_F(GridPlans, explain_ends_at_the_kernel_at_fault) {
  problem_["fast_memory_capacity"] = 30000;
  write("small.json", problem_.dump());
  const Finished finished = run("explain plan.json --problem small.json");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(squeezed(finished.out),
              AllOf(HasSubstr("\n 0 0,1 "), Not(HasSubstr("\n 1 2 ")), HasSubstr("\n total 2 of 3 "),
                    HasSubstr("\nillegal, OOM: kernel 1: working set 32768 exceeds fast_memory_capacity "
                              "30000 (rules mlsys, compute k)\n")));
  const json all = run_json("explain plan.json --problem small.json");
  EXPECT_EQ(all.at("legal"), false);
  EXPECT_EQ(all.at("fault").at("code"), "OOM");
  EXPECT_EQ(all.at("fault").at("kernel"), 1);
}

TEST_F(GridPlans, what_a_search_writes_is_explained_and_passes) {
  ASSERT_EQ(run("search all --family grid --rules fusionops --out plans").exit_code, 0);
  const Finished explained = run("explain plans/task1_linear.json --problem task1_linear --rules fusionops");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, AllOf(HasSubstr("legal: 3,900.00 time units in 1 kernels (rules fusionops)\n"),
                                   HasSubstr("\nscore 0.669 of a naive latency of 19,660.80"),
                                   EndsWith("limited by compute: 100.00 % of the latency, 1 kernel\n")));
  const Finished checked = run("check plans/task2_diamond.json --problem task2_diamond --rules fusionops");
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(checked.out,
            "plans/task2_diamond.json: ok, 6,600.00 time units as stated (1 kernels, rules fusionops)\n");
  // What fusionops gives away, the honest rules don't.
  const Finished honest = run("check plans/task3_matmul.json --problem task3_matmul");
  EXPECT_EQ(honest.exit_code, 1);
  EXPECT_THAT(honest.out, StartsWith("plans/task3_matmul.json: illegal, OUTPUT_NOT_STORED: "));
}

TEST_F(GridPlans, check_prices_every_solution_of_a_problem) {
  plan_["subgraph_latencies"] = {2022.0, 3276.9};
  write("off.json", plan_.dump());
  plan_["granularities"][1] = {256, 64, 1};
  write("wide.json", plan_.dump());
  write("broken.json", "{\"subgraphs\": [[0]");
  plan_ = json::parse(read("stated.json"));
  plan_["subgraph_latencies"] = {1869.2, 3276.8};
  write("stated.json", plan_.dump());
  const std::string files = "plan.json stated.json off.json wide.json";
  const Finished finished = run("check " + files + " --problem problem.json");
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(
      lines(finished.out),
      ElementsAre("plan.json: ok, 5,146.00 time units (2 kernels, rules mlsys, compute k)",
                  "stated.json: ok, 5,146.00 time units as stated (2 kernels, rules mlsys, compute k)",
                  "off.json: subgraph_latencies: 2 of 2 differ; kernel 0 states 2022.0 and takes 1869.2",
                  StartsWith("wide.json: illegal, SUPER")));
  const Finished broken = run("check broken.json stated.json --problem problem.json");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, StartsWith("fuselage: error: broken.json: "));
  EXPECT_THAT(broken.out, StartsWith("stated.json: ok, ")) << "the others are still done";
}

TEST_F(GridPlans, check_has_every_figure_as_json) {
  plan_["subgraph_latencies"] = {1869.2, 3276.9};
  write("off.json", plan_.dump());
  const json all = run_json("check plan.json off.json --problem problem.json --compute native-k");
  ASSERT_EQ(all.at("plans").size(), 2U);
  const json& plain = all["plans"][0];
  EXPECT_EQ(plain.at("file"), "plan.json");
  EXPECT_EQ(plain.at("ok"), true);
  EXPECT_EQ(plain.at("problem"), nullptr);
  EXPECT_EQ(plain.at("fault"), nullptr);
  EXPECT_EQ(plain.at("claimed_latency"), nullptr);
  EXPECT_EQ(plain.at("rules"), "mlsys");
  EXPECT_EQ(plain.at("compute"), "native-k");
  EXPECT_EQ(plain.at("co_consumers"), false);
  EXPECT_EQ(plain.at("kernels"), 2);
  const json& off = all["plans"][1];
  EXPECT_EQ(off.at("ok"), false);
  EXPECT_THAT(std::string(off.at("problem")), StartsWith("subgraph_latencies: "));
  EXPECT_EQ(off.at("claimed_latency"), 1869.2 + 3276.9);
}

TEST_F(GridPlans, walk_plans_need_no_problem_and_take_none) {
  ASSERT_EQ(run("search task1_chain --out walk.json").exit_code, 0);
  EXPECT_EQ(run("check walk.json").exit_code, 0);
  expect_refused("explain plan.json", "plan.json: is a solution of a grid problem, which doesn't name its");
  expect_refused("explain walk.json --problem problem.json",
                 "--problem: is about grid plans, but walk.json has no \"subgraphs\"");
  expect_refused("explain walk.json --rules mlsys", "--rules: is about grid plans, but walk.json has no");
  expect_refused("check walk.json --co-consumers", "--co-consumers: is about grid plans, but walk.json");
  const Finished mixed = run("check walk.json plan.json");
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.out, StartsWith("walk.json: ok, "));
  EXPECT_THAT(mixed.err, StartsWith("fuselage: error: plan.json: is a solution of a grid problem"));
}

TEST_F(GridPlans, reads_stdin_once) {
  const Finished plan = shell("\"$FUSELAGE\" explain - --problem problem.json < plan.json");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, StartsWith("problem.json: 3 ops in 2 kernels of stdin;"));
  const Finished problem = shell("\"$FUSELAGE\" check plan.json plan.json --problem - < problem.json");
  EXPECT_EQ(problem.exit_code, 0) << problem.err;
  EXPECT_EQ(lines(problem.out).size(), 2U);
  expect_refused("explain - --problem -", "--problem and PLAN: both are '-'; expected a file for one");
  expect_refused("check - - --problem problem.json", "PLAN: '-' is given 2 times; expected it once");
}

TEST_F(GridPlans, bad_input_is_two) {
  for (const std::string command : {"explain", "check"}) {
    expect_refused(command + " plan.json --problem missing.json", "missing.json: cannot be opened");
    expect_refused(command + " plan.json --problem ''", "--problem: \"\" is no problem; expected a file");
    expect_refused(command + " plan.json --problem problem.json --rules contest",
                   "--rules: \"contest\" is unknown; expected one of fusionops, fusionops-honest, mlsys");
    expect_refused(command + " plan.json --problem task1_linear --compute k",
                   "--compute: does not exist under the rules fusionops-honest; expected --rules mlsys");
  }
  problem_["heights"][1] = 32;
  write("odd.json", problem_.dump());
  expect_refused(
      "explain plan.json --problem odd.json",
      "odd.json: op 0: MatMul of LHS tensor 0, 64 x 128, and RHS tensor 1, 128 x 32 (width x height)");
}

TEST_F(GridPlans, help_has_examples) {
  for (const std::string command : {"explain", "check"}) {
    const Finished help = run(command + " --help");
    EXPECT_THAT(help.out, AllOf(HasSubstr("--problem PROBLEM"), HasSubstr(" --problem problem.json")));
    for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
  }
}

}  // namespace
}  // namespace fuselage
