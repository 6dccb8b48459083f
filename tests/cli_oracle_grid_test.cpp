// `fuselage oracle` with grid problems, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* every_format = "sft,prompt-completion,dpo,kto,grpo,prm,raw";

class CliOracleGrid : public CommandTest {
 protected:
  std::vector<json> rows(const std::string& file) const {
    std::vector<json> parsed;
    for (const std::string& line : lines(read(file))) parsed.push_back(json::parse(line));
    return parsed;
  }
  void make(const std::string& arguments) const {
    const Finished made = run("oracle " + arguments);
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
  void expect_fine(const std::string& directory) const {
    const Finished verified = run("oracle verify " + directory);
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    EXPECT_THAT(verified.out, HasSubstr("all is well"));
  }
  // That the command refuses this, and says why.
  void expect_refused(const std::string& arguments, const std::string& why) const {
    const Finished refused = run("oracle --out data " + arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_THAT(refused.err, HasSubstr(why)) << arguments;
    EXPECT_FALSE(std::filesystem::exists(path("data"))) << arguments;
  }
  std::string everything(const std::string& directory) const {
    return shell("cd " + directory + " && find . -type f | sort | xargs sha256sum").out;
  }
};

TEST_F(CliOracleGrid, tasks_are_labelled_in_every_format_and_verified) {
  make(fmt::format("--family grid --tasks all --steps 300 --format {} --out data", every_format));
  expect_fine("data");
  const std::vector<json> graphs = rows("data/graphs/test-00000-of-00001.jsonl");
  ASSERT_EQ(graphs.size(), 4U);
  EXPECT_EQ(graphs[0].at("graph"), "task1_linear");
  EXPECT_EQ(graphs[0].at("rules"), "fusionops-honest");
  EXPECT_EQ(graphs[0].at("optimum"), 3900.0);
  EXPECT_EQ(graphs[0].at("proof"), "optimal");
  EXPECT_EQ(graphs[0].at("naive"), 19660.8);
  EXPECT_NEAR(graphs[2].at("optimum").get<double>(), 8553.6, 1e-6);
  EXPECT_EQ(graphs[2].at("proof"), "optimal in the declared space");
  EXPECT_NEAR(graphs[2].at("optimum_score").get<double>(), 0.356, 5e-4);
  EXPECT_FALSE(std::filesystem::exists(path("data/raw/train-00000-of-00001.jsonl")));
  for (const json& row : rows("data/sft/test-00000-of-00001.jsonl")) {
    ASSERT_EQ(row.at("messages").size(), 3U);
    EXPECT_THAT(row["messages"][0].at("content").get<std::string>(), HasSubstr("SCHEDULE ops=[ids]"));
    EXPECT_THAT(row["messages"][1].at("content").get<std::string>(),
                AllOf(HasSubstr("ANSWER FORMAT"), Not(HasSubstr("ACTIONS THAT ARE VALID NOW"))));
    EXPECT_THAT(row["messages"][2].at("content").get<std::string>(), HasSubstr("SCHEDULE ops=["));
  }
  const std::string card = read("data/README.md");
  EXPECT_THAT(card, AllOf(HasSubstr("optimal in the declared space"), HasSubstr("time units"),
                          Not(HasSubstr("cycles"))));
}

TEST_F(CliOracleGrid, a_task_by_its_name_its_rules_or_its_file_is_one) {
  make("--tasks task2_diamond --steps 100 --out named");
  EXPECT_EQ(json::parse(read("named/manifest.json")).at("family"), "grid");
  write("mine.json", rows("named/graphs/test-00000-of-00001.jsonl")[0].at("graph_json").get<std::string>());
  make("--input mine.json --steps 100 --rules mlsys --format raw --out given");
  EXPECT_EQ(rows("given/graphs/test-00000-of-00001.jsonl")[0].at("graph"), "mine");
  expect_fine("given");
  make("--input mine.json --steps 100 --tasks-in-train --out train");
  EXPECT_TRUE(std::filesystem::exists(path("train/sft/train-00000-of-00001.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(path("train/sft/test-00000-of-00001.jsonl")));
}

TEST_F(CliOracleGrid, parts_and_threads_make_no_difference) {
  const std::string command =
      "--rules mlsys --graphs 6 --ops 6-9 --steps 60 --seed 3 --format raw,kto,prm "
      "--shard-size 2 --policy optimal,random,greedy,naive";
  make(command + " --threads 1 --out whole");
  make(command + " --threads 2 --out again");
  for (const char* part : {"0", "1"})
    make(fmt::format("{} --shard-of {}/2 --out part{}", command, part, part));
  EXPECT_EQ(run("oracle merge part1 part0 --out merged").exit_code, 0);
  EXPECT_EQ(everything("again"), everything("whole"));
  EXPECT_EQ(everything("merged"), everything("whole"));
  expect_fine("merged");
}

TEST_F(CliOracleGrid, verify_finds_an_edited_label) {
  make("--family grid --tasks task3_matmul --steps 100 --format dpo,raw --policy random --out data");
  const std::string raw = "data/raw/test-00000-of-00001.jsonl";
  std::string text = read(raw);
  const std::string value = R"("value_to_go": )";
  text.insert(text.find(value) + value.size(), "1");
  write(raw, text);
  const Finished verified = run("oracle verify data");
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.out, HasSubstr("raw/test-00000-of-00001.jsonl: line 1: value_to_go: differs from what "
                                      "labelling the problem again gives"));
}

TEST_F(CliOracleGrid, verify_finds_another_answer_and_another_prompt) {
  make("--tasks task3_matmul --steps 100 --plain --format dpo,prompt-completion --policy random --out data");
  for (const auto& [file, from, to, column] :
       {std::array{"dpo", "rejected\": \"SCHEDULE ops=[", "rejected\": \"SCHEDULE ops=[ ", "rejected"},
        std::array{"prompt-completion", "step 0 of 15", "step 0 of 16", "prompt"}}) {
    const std::string name = fmt::format("data/{}/test-00000-of-00001.jsonl", file);
    std::string text = read(name);
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), std::string(from).size(), to);
    write(name, text);
    EXPECT_THAT(run("oracle verify data").out,
                HasSubstr(fmt::format("{}/test-00000-of-00001.jsonl: line 1: {}: differs", file, column)));
  }
}

TEST_F(CliOracleGrid, refuses_what_grid_problems_do_not_have) {
  expect_refused("--family grid --curriculum 0.2:0.4", "--curriculum: is about walk graphs");
  expect_refused("--family grid --kind mixed", "--kind: is about walk graphs");
  expect_refused("--family grid --transcripts mine.jsonl", "--transcripts: is about walk graphs");
  expect_refused("--family grid --policy heuristic",
                 "--policy: \"heuristic\" is no policy; expected of grid problems: optimal, epsP");
  expect_refused("--family grid --rules seed", "--rules: seed is of the walk family");
  expect_refused("--rules contest", "--rules: \"contest\" is unknown");
  expect_refused("--family grid --tasks task9", "--tasks: \"task9\" is unknown");
  expect_refused("--family grid --graphs 0", "--graphs: 0 and no other source");
  expect_refused("--family grid --tasks all --ops 8-9", "--ops: no graphs are drawn");
  expect_refused("--tasks task1_chain --candidates 4", "--candidates: is about grid problems");
  write("bad.json", R"({"widths": [1], "op_types": []})");
  expect_refused("--input bad.json", "bad.json: heights: this field is missing");
  write("tight.json",
        R"({"widths": [128, 128], "heights": [128, 128], "inputs": [[0]], "outputs": [[1]],
            "base_costs": [10], "op_types": ["Pointwise"], "fast_memory_capacity": 1,
            "slow_memory_bandwidth": 1, "native_granularity": [128, 128]})");
  const Finished tight = run("oracle --input tight.json --out data");
  EXPECT_EQ(tight.exit_code, 2);
  EXPECT_THAT(tight.err, HasSubstr("op 0 alone fits fast memory of 1 elements at no granularity"));
}

}  // namespace
}  // namespace fuselage
