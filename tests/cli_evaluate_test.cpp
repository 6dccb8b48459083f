// fuselage evaluate, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Evaluate : public CommandTest {
 protected:
  Evaluate() {
    write("problem.json", problem_.dump());
    write("plan.json", plan_.dump());
  }
  // A matmul with K 64 and a pointwise op after it.
  json problem_ = json::parse(R"({"widths": [64, 128, 128, 128], "heights": [128, 64, 128, 128],
    "inputs": [[0, 1], [2]], "outputs": [[2], [3]], "base_costs": [1500, 300],
    "op_types": ["MatMul", "Pointwise"], "fast_memory_capacity": 40000, "slow_memory_bandwidth": 10,
    "native_granularity": [128, 128]})");
  json plan_ = json::parse(R"({"subgraphs": [[0], [1]], "granularities": [[128, 128, 32], [128, 128, 1]],
    "tensors_to_retain": [[2], []], "traversal_orders": [null, null]})");
};

TEST_F(Evaluate, tells_what_each_kernel_takes) {
  const Finished finished = run("evaluate problem.json plan.json");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_EQ(squeezed(finished.out),
            "kernel ops w x h x k retain tiles k-steps compute moved latency working set\n"
            " 0 0 128 x 128 x 32 2 1 2 1,500.00 16,384.00 1,638.40 24,576\n"
            " 1 1 128 x 128 x 1 - 1 1 300.00 16,384.00 1,638.40 32,768\n"
            "\n"
            "legal: 3,276.80 time units in 2 kernels (rules mlsys, compute k)\n");
}

TEST_F(Evaluate, the_json_has_every_figure) {
  const json all = run_json("evaluate problem.json plan.json --compute native-k");
  EXPECT_EQ(all.at("problem"), "problem.json");
  EXPECT_EQ(all.at("solution"), "plan.json");
  EXPECT_EQ(all.at("rules"), "mlsys");
  EXPECT_EQ(all.at("compute"), "native-k");
  EXPECT_EQ(all.at("co_consumers"), false);
  EXPECT_EQ(all.at("valid"), true);
  EXPECT_EQ(all.at("latency"), 3276.8);
  EXPECT_EQ(all.at("violation"), nullptr);
  EXPECT_EQ(all.at("stated_differ"), json::array());
  ASSERT_EQ(all.at("kernels").size(), 2U);
  EXPECT_EQ(all["kernels"][0], json::parse(R"({"ops": [0], "granularity": [128, 128, 32],
    "traversal": null, "retain": [2], "tiles": 1, "k_steps": 2, "compute": 750.0, "memory": 1638.4,
    "bound": "memory", "transferred": 16384.0, "loaded": 16384.0, "stored": 0.0, "latency": 1638.4,
    "working_set": 24576, "working_set_share": 0.6144, "stated_latency": null})"));
  EXPECT_EQ(all["kernels"][1].at("stored"), 16384.0);
}

TEST_F(Evaluate, stated_latencies_are_compared) {
  plan_["subgraph_latencies"] = {1638.4000001, 1638.4};
  write("close.json", plan_.dump());
  const Finished close = run("evaluate problem.json close.json");
  EXPECT_EQ(close.exit_code, 0) << close.out;
  EXPECT_THAT(close.out, HasSubstr("stated"));

  plan_["subgraph_latencies"] = {1638.4, 1638.41};
  write("off.json", plan_.dump());
  const Finished off = run("evaluate problem.json off.json");
  EXPECT_EQ(off.exit_code, 1);
  EXPECT_THAT(off.out, HasSubstr("legal: 3,276.80 time units"));
  EXPECT_THAT(off.out,
              HasSubstr("\nsubgraph_latencies: 1 of 2 differ; kernel 1 states 1638.41 and takes 1638.4\n"));
  const json all = run_json("evaluate problem.json off.json");
  EXPECT_THAT(all.at("stated_differ"), ElementsAre(1));
  EXPECT_EQ(all.at("kernels").at(1).at("stated_latency"), 1638.41);
}

TEST_F(Evaluate, an_illegal_plan_is_one) {
  problem_["fast_memory_capacity"] = 32000;
  write("small.json", problem_.dump());
  const Finished finished = run("evaluate small.json plan.json");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(squeezed(finished.out), StartsWith("kernel ops w x h x k retain tiles"));
  EXPECT_THAT(finished.out, HasSubstr("\nillegal, OOM: kernel 1: working set 32768 exceeds "
                                      "fast_memory_capacity 32000 (rules mlsys, compute k)\n"));
  const json all = run_json("evaluate small.json plan.json");
  EXPECT_EQ(all.at("valid"), false);
  EXPECT_EQ(all.at("latency"), nullptr);
  EXPECT_EQ(all.at("kernels").size(), 1U);
  EXPECT_EQ(all.at("violation"), json::parse(R"({"fault": "OOM", "kernel": 1, "message":
    "kernel 1: working set 32768 exceeds fast_memory_capacity 32000"})"));

  write("none.json", R"({"subgraphs": [], "granularities": [], "tensors_to_retain": []})");
  const Finished none = run("evaluate problem.json none.json");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.out, "illegal, COVERAGE: no kernel runs op 0 (rules mlsys, compute k)\n");
  EXPECT_EQ(run_json("evaluate problem.json none.json").at("violation").at("kernel"), nullptr);
}

TEST_F(Evaluate, co_consumers_are_a_flag) {
  problem_["inputs"][1] = {0};
  problem_["widths"] = {128, 128, 128, 128};
  problem_["heights"] = {128, 128, 128, 128};
  problem_["fast_memory_capacity"] = 100000;
  write("pair.json", problem_.dump());
  write("joined.json",
        R"({"subgraphs": [[0, 1]], "granularities": [[128, 128, 128]], "tensors_to_retain": [[]]})");
  const Finished strict = run("evaluate pair.json joined.json");
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_THAT(strict.out, StartsWith("illegal, NOT_CONNECTED: kernel 0: ops 0 and 1 are not linked"));
  const Finished allowed = run("evaluate pair.json joined.json --co-consumers");
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_THAT(allowed.out, HasSubstr("(rules mlsys, compute k, co-consumers)"));
}

TEST_F(Evaluate, other_rules_judge_too) {
  const Finished finished = run("evaluate problem.json plan.json --rules fusionops");
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("(rules fusionops)\n"));
}

TEST_F(Evaluate, reads_stdin) {
  const Finished finished = shell("\"$FUSELAGE\" evaluate problem.json - --json < plan.json");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json::parse(finished.out).at("solution"), "stdin");
}

TEST_F(Evaluate, bad_input_is_two) {
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Finished finished = run("evaluate " + arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments;
    EXPECT_EQ(finished.out, "") << arguments;
    EXPECT_THAT(finished.err, StartsWith("fuselage: error: " + message)) << arguments;
  };
  refused("problem.json", "SOLUTION is required\nSee 'fuselage evaluate --help'.");
  refused("missing.json plan.json", "missing.json: cannot be opened: No such file");
  refused("plan.json plan.json",
          "plan.json: granularities: an array of 2 values is the value of an unknown field");
  refused("- -", "PROBLEM and SOLUTION: both are '-'; expected a file for one of them");
  refused("problem.json plan.json --rules contest",
          "--rules: \"contest\" is unknown; expected one of fusionops, fusionops-honest, mlsys");
  refused("problem.json plan.json --compute 2", "--compute: \"2\" is unknown; expected one of k, native-k");
  refused("problem.json plan.json --rules fusionops --compute k",
          "--compute: does not exist under the rules fusionops; expected --rules mlsys");
  refused("problem.json plan.json --rules fusionops-honest --co-consumers", "--co-consumers: does not exist");
  plan_["granularities"][1] = {128, 128};
  write("short.json", plan_.dump());
  refused("problem.json short.json", "short.json: granularities[1]: [128, 128] is no granularity");
  problem_["heights"][1] = 32;
  write("odd.json", problem_.dump());
  refused("odd.json plan.json",
          "odd.json: op 0: MatMul of LHS tensor 0, 64 x 128, and RHS tensor 1, 128 x 32 (width x height)");
}

TEST_F(Evaluate, explains_itself) {
  const Finished help = run("evaluate --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:\n  fuselage evaluate problem.json solution.json\n"));
  for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
  EXPECT_THAT(run("").out, HasSubstr("  evaluate "));
}

}  // namespace
}  // namespace fuselage
