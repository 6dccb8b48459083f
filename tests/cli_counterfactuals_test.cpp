// `fuselage counterfactuals` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class CounterfactualsCommand : public CommandTest {
 protected:
  void expect_refused(const std::string& arguments, const std::string& said) const {
    const Finished finished = run("counterfactuals --graphs 2 --tries 5 " + arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments;
    EXPECT_THAT(finished.err, HasSubstr(said)) << arguments;
    EXPECT_TRUE(finished.out.empty());
  }
};

// What Python's loaders need: the same keys with the same types in every row, nothing null.
TEST_F(CounterfactualsCommand, rows_have_one_schema) {
  ASSERT_EQ(run("counterfactuals --graphs 6 --seed 3 --out pairs.jsonl").exit_code, 0);
  std::map<std::string, json::value_t> schema;
  std::set<std::string> ids, kinds, differs;
  const auto rows = lines(read("pairs.jsonl"));
  EXPECT_GE(rows.size(), 30U);
  for (const std::string& line : rows) {
    const json row = json::parse(line);
    if (schema.empty())
      for (const auto& [key, value] : row.items()) schema[key] = value.type();
    EXPECT_EQ(row.size(), schema.size());
    for (const auto& [key, value] : row.items()) {
      EXPECT_FALSE(value.is_null()) << key;
      const bool integers = value.is_number_integer() && schema[key] != json::value_t::number_float;
      EXPECT_TRUE(integers || value.type() == schema[key]) << key;
    }
    EXPECT_TRUE(ids.insert(row.at("id")).second);
    kinds.insert(row.at("kind"));
    differs.insert(row.at("differs"));
    EXPECT_EQ(row.at("actions").size(), row.at("q_a").size());
    EXPECT_EQ(row.at("actions").size(), row.at("q_b").size());
    EXPECT_EQ(row.at("prefix").size(), row.at("step"));
  }
  EXPECT_EQ(kinds.size(), 4U);
  EXPECT_TRUE(differs.contains("same") && differs.contains("disjoint"));
}

TEST_F(CounterfactualsCommand, the_same_options_give_the_same_bytes) {
  const std::string options = "counterfactuals --graphs 4 --seed 9 --tries 60 ";
  ASSERT_EQ(run(options + "--out one.jsonl").exit_code, 0);
  EXPECT_EQ(run(options).out, read("one.jsonl"));
  EXPECT_NE(run("counterfactuals --graphs 4 --seed 10 --tries 60").out, read("one.jsonl"));
}

TEST_F(CounterfactualsCommand, the_sample_that_ships_is_made_again) {
  EXPECT_EQ(run("counterfactuals --graphs 4 --per-graph 2 --curriculum 0 --seed 3").out,
            slurp(std::filesystem::path(FUSELAGE_SOURCE_DIR) / "datasets/samples/counterfactuals.jsonl"));
}

TEST_F(CounterfactualsCommand, a_graph_can_be_drawn_again) {
  const json row = json::parse(lines(run("counterfactuals --graphs 1 --seed 4 --tries 40").out).front());
  const json again = json::parse(run(fmt::format("generate --curriculum {} --seed {}", row.at("level").dump(),
                                                 row.at("graph_seed").dump()))
                                     .out);
  EXPECT_EQ(json::parse(row.at("graph_a").get<std::string>()).at("nodes"), again.at("nodes"));
}

TEST_F(CounterfactualsCommand, says_what_was_written) {
  const Finished finished = run("counterfactuals task4_mixed --tries 100 --facts depth,edge --out t.jsonl");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("disjoint"));
  EXPECT_THAT(finished.out, HasSubstr("t.jsonl"));
  EXPECT_THAT(finished.out, Not(HasSubstr("capacity")));
  const json summary = run_json("counterfactuals task4_mixed --tries 100 --facts depth,edge --out t.jsonl");
  EXPECT_EQ(summary.at("all").at("taken"), lines(read("t.jsonl")).size());
  EXPECT_EQ(summary.at("facts").size(), 2U);
  EXPECT_GE(summary.at("all").at("pairs"), summary.at("all").at("taken"));
  EXPECT_EQ(json::parse(lines(read("t.jsonl")).front()).at("graph"), "task4_mixed");
}

TEST_F(CounterfactualsCommand, clean_pairs_have_one_baseline) {
  const Finished finished = run("counterfactuals --graphs 4 --tries 60 --clean --rules seed");
  for (const std::string& line : lines(finished.out)) {
    const json row = json::parse(line);
    EXPECT_EQ(row.at("clean"), true);
    EXPECT_EQ(row.at("rules"), "seed");
    EXPECT_EQ(json::parse(row.at("prompt_a").get<std::string>()).at("greedy_baseline"),
              json::parse(row.at("prompt_b").get<std::string>()).at("greedy_baseline"));
  }
}

TEST_F(CounterfactualsCommand, bad_input_is_refused) {
  expect_refused("--facts uses,colour", "colour");
  expect_refused("--facts ''", "--facts");
  expect_refused("--facts uses,uses", "twice");
  expect_refused("--curriculum 0.8:0.2", "LOW <= HIGH");
  expect_refused("--curriculum 0.8:2", "--curriculum");
  expect_refused("--curriculum a:b", "--curriculum");
  expect_refused("--same 1.5", "--same");
  expect_refused("--same half", "--same");
  expect_refused("--rules physical", "physical");
  expect_refused("task4_mixed", "--graphs");
  expect_refused("--set max_fusion_depth=3", "TARGET");
  expect_refused("--json", "--out");
  expect_refused("--out /dev/null/pairs.jsonl", "/dev/null/pairs.jsonl");
}

TEST_F(CounterfactualsCommand, without_a_pair_nothing_is_written) {
  write("one.json",
        R"({"nodes": [{"id": 0, "op": "matmul", "shape": [64, 64], "inputs": []}],
            "hardware": {"fast_mem_capacity": 65536, "slow_mem_bandwidth": 8,
                         "kernel_launch_cost": 100, "max_fusion_depth": 4}})");
  const Finished finished = run("counterfactuals one.json --facts uses --out none.jsonl");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("no pair"));
  EXPECT_FALSE(std::filesystem::exists(path("none.jsonl")));
}

TEST_F(CounterfactualsCommand, an_interrupted_run_writes_nothing) {
  std::filesystem::create_directory(path("data"));
  const Finished finished = shell(
      "timeout -s INT 0.4 \"$FUSELAGE\" counterfactuals --graphs 100000 --out data/pairs.jsonl; test $? = "
      "124");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.err, HasSubstr("interrupted"));
  EXPECT_TRUE(list("data").empty());
}

}  // namespace
}  // namespace fuselage
