// `fuselage search` and the plans it writes, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Search = CommandTest;

constexpr std::array<const char*, 5> task_names = {"task1_chain", "task2_residual", "task3_attention",
                                                   "task4_mixed", "task5_adversarial"};

void expect_optima(const json& answer, const std::array<double, 5>& optima) {
  ASSERT_EQ(answer.at("results").size(), optima.size());
  for (std::size_t i = 0; i < optima.size(); ++i) {
    const json& result = answer["results"][i];
    EXPECT_EQ(result.at("name"), task_names[i]);
    EXPECT_NEAR(result.at("latency").get<double>(), optima[i], 0.005) << task_names[i];
    EXPECT_EQ(result.at("proof"), "optimal");
    EXPECT_EQ(result.at("gap"), 0);
    EXPECT_EQ(result.at("lower_bound"), result.at("latency"));
  }
}

// The figures of the public environment, and the optima known for it.
TEST_F(Search, FindsTheKnownOptima) {
  expect_optima(run_json("search all"), {111806.72, 1910476.16, 3922488.32, 3285973.65, 2157852.16});
  expect_optima(run_json("search all --rules seed"),
                {111806.72, 1910476.16, 3922488.32, 3283789.12, 2157852.16});
  expect_optima(run_json("search all --rules physical"),
                {111806.72, 1910476.16, 3922488.32, 3283789.12, 2157852.16});
  expect_optima(run_json("search all --rules physical --order free"),
                {111806.72, 1910476.16, 3914488.32, 3243787.73, 2157852.16});
}

TEST_F(Search, TableShowsBaselinesOptimaAndBothScores) {
  const Finished table = run("search all");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_EQ(table.err, "");
  const auto rows = lines(table.out);
  ASSERT_GE(rows.size(), 8U);
  EXPECT_THAT(squeezed(rows[1]),
              HasSubstr("task1_chain 8 165,858.99 118,360.32 111,806.72 5.54 0.277 - 2 optimal"));
  EXPECT_THAT(squeezed(rows[2]),
              HasSubstr("task2_residual 12 2,332,381.44 2,026,576.64 1,910,476.16 5.73 0.286 - 2 optimal"));
  EXPECT_THAT(squeezed(rows[3]),
              HasSubstr("task3_attention 16 4,158,689.28 4,138,689.28 3,922,488.32 5.22 0.261 - 12 optimal"));
  EXPECT_THAT(squeezed(rows[4]),
              HasSubstr("task4_mixed 24 4,544,990.72 3,917,982.19 3,285,973.65 16.13 0.807 - 9 optimal"));
  EXPECT_THAT(
      squeezed(rows[5]),
      HasSubstr("task5_adversarial 20 3,044,848.64 2,323,274.24 2,157,852.16 7.12 0.356 - 6 optimal"));
  EXPECT_THAT(table.out, HasSubstr("cycles; rules seed-honest, order fixed"));
}

TEST_F(Search, TableColumnsLineUp) {
  write("odd.json", dense_graph(9));
  const auto rows = lines(run("search all odd.json").out);
  ASSERT_GE(rows.size(), 7U);
  for (const char* header :
       {"ops", "naive", "greedy", "best", "improvement %", "score", "kernels", "states"}) {
    const std::size_t end = rows[0].find(header) + std::string(header).size();
    for (std::size_t row = 1; row <= 6; ++row) {
      EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(rows[row].at(end - 1)))) << header << '\n'
                                                                                   << rows[row];
      EXPECT_EQ(rows[row].at(end), ' ') << header << '\n' << rows[row];
    }
  }
  for (std::size_t row = 1; row <= 6; ++row) {
    EXPECT_EQ(rows[row].size(), rows[0].size());
    EXPECT_EQ(rows[row].find("optimal"), rows[0].find("proof"));
  }
}

// A table up to its time column, which is the last; the lines under it in full.
std::vector<std::string> without_times(std::vector<std::string> rows) {
  const std::size_t end = rows.at(0).find("states") + 6;
  for (std::string& row : rows) {
    if (row.empty()) break;
    row.resize(end);
  }
  return rows;
}

TEST_F(Search, SaysTheSameTwice) {
  for (const char* command :
       {"search all --no-store", "search all --rules physical --order free --no-store"}) {
    EXPECT_EQ(without_times(lines(run(command).out)), without_times(lines(run(command).out)));
    json first = run_json(command);
    json second = run_json(command);
    for (json* answer : {&first, &second})
      for (json& result : answer->at("results")) EXPECT_EQ(result.erase("seconds"), 1U);
    EXPECT_EQ(first, second);
  }
}

TEST_F(Search, PlansPassTheCheckAndAreTheSameTwice) {
  for (const char* options : {"--rules seed", "--rules seed-honest", "--rules physical --order free",
                              "--engine greedy", "--rules physical --engine naive"}) {
    const Finished search = run(fmt::format("search all --out plans {}", options));
    EXPECT_EQ(search.exit_code, 0) << search.err;
    EXPECT_THAT(search.out, HasSubstr("5 plans written to plans\n"));
    EXPECT_THAT(list("plans"), ElementsAre("task1_chain.json", "task2_residual.json", "task3_attention.json",
                                           "task4_mixed.json", "task5_adversarial.json"));
    const Finished check = run("check plans/*.json");
    EXPECT_EQ(check.exit_code, 0) << check.out;
    EXPECT_THAT(check.out, HasSubstr("plans/task4_mixed.json: ok, "));
    for (const char* task : task_names)
      EXPECT_EQ(run(fmt::format("explain plans/{}.json", task)).exit_code, 0) << task;
    run(fmt::format("search all --out again {}", options));
    for (const std::string& name : list("plans")) EXPECT_EQ(read("plans/" + name), read("again/" + name));
  }
}

TEST_F(Search, PlanFilesHaveNamesOfTheirOwn) {
  json graph = json::parse(dense_graph(3));
  graph["name"] = "a b: c*";
  write("a.json", graph.dump());
  const json answer = run_json("search a.json a.json --out plans");
  EXPECT_THAT(list("plans"), ElementsAre("a_b__c_-2.json", "a_b__c_.json"));
  EXPECT_EQ(answer.at("results")[1].at("plan"), "plans/a_b__c_-2.json");
}

TEST_F(Search, APlanNeverReplacesItsGraph) {
  write("dense9.json", dense_graph(9));
  const Finished search = run("search dense9.json --out .");
  EXPECT_EQ(search.exit_code, 2);
  EXPECT_THAT(search.err, HasSubstr("--out: ./dense9.json is a target"));
  EXPECT_EQ(read("dense9.json"), dense_graph(9));
}

TEST_F(Search, AnUnwritableDirectoryIsAnErrorAndLosesNoAnswer) {
  write("taken", "");
  const Finished search = run("search task1_chain --out taken");
  EXPECT_EQ(search.exit_code, 2);
  EXPECT_THAT(search.out, HasSubstr("111,806.72"));
  EXPECT_THAT(search.err, HasSubstr("fuselage: error: taken/task1_chain.json: "));
  EXPECT_THAT(list("."), ElementsAre("taken"));
}

TEST_F(Search, ReadsFilesLinesAndStdin) {
  const Finished piped = shell("\"$FUSELAGE\" generate --ops 12 --count 3 | \"$FUSELAGE\" search - --json");
  ASSERT_EQ(piped.exit_code, 0) << piped.err;
  const json results = json::parse(piped.out).at("results");
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[2].at("name"), "mixed_n12_medium_s2");
  const json files =
      run_json("search '" FUSELAGE_SOURCE_DIR "/datasets/tasks/task1_chain.json'").at("results");
  EXPECT_EQ(files.at(0).at("latency"), run_json("search task1_chain").at("results").at(0).at("latency"));
}

TEST_F(Search, TheMachineCanBeReplaced) {
  const auto latency = [&](const std::string& options) {
    return run_json("search task4_mixed " + options).at("results").at(0).at("latency").get<double>();
  };
  const double own = latency("");
  EXPECT_LT(latency("--hardware '" FUSELAGE_SOURCE_DIR "/datasets/hardware/easy.json'"), own);
  EXPECT_EQ(latency("--hardware '" FUSELAGE_SOURCE_DIR "/datasets/hardware/expert.json'"), own);
  EXPECT_LT(latency("--set slow_mem_bandwidth=60 --set kernel_launch_cost=0"), own);
  EXPECT_EQ(latency("--set slow_mem_bandwidth=60 --set slow_mem_bandwidth=6"), own);
}

void expect_open(const json& result, const std::string& stop) {
  EXPECT_EQ(result.at("proof"), "none");
  EXPECT_EQ(result.at("stop"), stop);
  EXPECT_GT(result.at("gap"), 0);
  EXPECT_LT(result.at("lower_bound"), result.at("latency"));
  EXPECT_GT(result.at("lower_bound"), 0);
}

TEST_F(Search, ABudgetThatEndsGivesItsBestPlanAndBound) {
  write("dense.json", dense_graph(60));
  for (const char* rules : {"seed", "seed-honest", "physical"}) {
    const std::string command = fmt::format("search dense.json --rules {} --out plans --steps ", rules);
    for (const char* steps : {"1", "1000"}) {
      expect_open(run_json(command + steps).at("results").at(0), "steps");
      EXPECT_EQ(run("check plans/dense60.json").exit_code, 0);
    }
    const Finished table = run(command + "1000");
    EXPECT_EQ(table.exit_code, 0);
    EXPECT_THAT(table.out, HasSubstr("  not proven, gap "));
    EXPECT_THAT(table.out, HasSubstr("dense60: not proven, ended by --steps at "));
    EXPECT_THAT(table.out, HasSubstr("lower bound "));
  }
}

TEST_F(Search, TimeAndMemoryEndItToo) {
  write("dense.json", dense_graph(300));
  expect_open(run_json("search dense.json --rules seed --out plans --time 0.05").at("results").at(0), "time");
  EXPECT_EQ(run("check plans/dense300.json").exit_code, 0);
  expect_open(run_json("search dense.json --rules seed --memory 48").at("results").at(0), "memory");
}

TEST_F(Search, AnInterruptGivesTheBestPlanSoFar) {
  write("dense.json", dense_graph(800));
  const Finished search = shell(
      "\"$FUSELAGE\" search task1_chain dense.json task2_residual --rules seed --out plans & search=$!; "
      "for i in $(seq 100); do [ -e plans/task1_chain.json ] || sleep 0.1; done; "
      "kill -INT $search; wait $search");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  EXPECT_THAT(search.out, HasSubstr("dense800: not proven, ended by an interrupt"));
  EXPECT_THAT(search.out, Not(HasSubstr("task2_residual")));
  EXPECT_THAT(search.err, HasSubstr("interrupted; 1 of 3 graphs not searched"));
  EXPECT_EQ(run("check plans/dense800.json").exit_code, 0);
}

TEST_F(Search, BaselinesAreNotCalledProven) {
  const json naive = run_json("search all --engine naive");
  for (const json& result : naive.at("results")) {
    EXPECT_EQ(result.at("proof"), "none");
    EXPECT_EQ(result.at("latency"), result.at("naive_latency"));
  }
  EXPECT_THAT(run("search all --engine greedy").out, HasSubstr("not proven, gap "));
}

TEST_F(Search, OneGraphWithoutScheduleStopsNoOther) {
  write("wide.json",
        R"({"nodes": [{"id": 0, "op": "relu", "shape": [64, 64], "inputs": []},
                      {"id": 1, "op": "relu", "shape": [64, 64], "inputs": []},
                      {"id": 2, "op": "add", "shape": [64, 64], "inputs": [0, 1]}],
            "hardware": {"fast_mem_capacity": 9000, "slow_mem_bandwidth": 1, "kernel_launch_cost": 1,
                         "max_fusion_depth": 1}})");
  const Finished search = run("search wide.json task1_chain --rules physical");
  EXPECT_EQ(search.exit_code, 2);
  EXPECT_THAT(search.out, HasSubstr("111,806.72"));
  EXPECT_THAT(search.out, HasSubstr("infeasible"));
  EXPECT_THAT(search.err,
              HasSubstr("wide: no schedule exists under the rules physical: node 2 needs a working set "
                        "of at least 12,288 B, but fast_mem_capacity is 9,000 B (3,288 B more)"));

  // Node 2 fits together with one of its inputs, which is a plan, but none of a baseline.
  const std::string deeper = "search wide.json --rules physical --set max_fusion_depth=2 ";
  const json fused = run_json(deeper + "--out plans").at("results").at(0);
  EXPECT_EQ(fused.at("proof"), "optimal");
  EXPECT_TRUE(fused.at("greedy_latency").is_null());
  EXPECT_TRUE(fused.at("naive_latency").is_null());
  EXPECT_TRUE(fused.at("score").is_null());
  EXPECT_EQ(run("check plans/wide.json").exit_code, 0);
  const Finished stuck = run(deeper + "--engine greedy");
  EXPECT_EQ(stuck.exit_code, 1);
  EXPECT_THAT(stuck.err, HasSubstr("wide: the engine greedy finds no plan under the rules physical"));

  const Finished tiny = run("search all --set fast_mem_capacity=1000");
  EXPECT_EQ(tiny.exit_code, 2);
  EXPECT_THAT(tiny.err, HasSubstr("task3_attention: hardware.fast_mem_capacity: 1000 B"));
  EXPECT_THAT(tiny.err, HasSubstr("node 0"));
}

}  // namespace
}  // namespace fuselage
