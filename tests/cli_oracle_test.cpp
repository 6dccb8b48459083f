// `fuselage oracle` as a user runs it: what it writes, what it refuses, and the states of a user's own agent.
#include <gmock/gmock.h>

#include "data_sets.h"
#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class OracleCommandTest : public CommandTest {
 protected:
  std::vector<nlohmann::ordered_json> rows(const std::string& file) const { return rows_in(read(file)); }
  void refused(const std::string& arguments, const std::string& said) const {
    const Finished finished = run("oracle " + arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments << "\n" << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(said)) << arguments;
    EXPECT_THAT(finished.err, Not(HasSubstr("internal"))) << arguments;
  }
  std::string line(const json& more, int answers = 8) const {
    json line{{"task", "task1_chain"}, {"actions", json::array()}};
    for (int i = 0; i < answers; ++i)
      line["actions"].push_back(R"({"fuse_with_prev": false, "tile": 32, "retain": []})");
    if (!more.is_null()) line.update(more);
    return line.dump() + "\n";
  }
};

TEST_F(OracleCommandTest, makes_every_format_and_says_so) {
  const json said = run_json(
      "oracle --tasks task1_chain --graphs 3 --ops 4-6 --format sft,prompt-completion,dpo,kto,grpo,prm,raw "
      "--out d");
  EXPECT_EQ(said.at("graphs"), 4);
  EXPECT_EQ(said.at("proven"), said.at("states"));
  EXPECT_EQ(said.at("rows").size(), 8U);
  std::map<std::string, std::uint64_t> counted;
  for (const auto& [name, text] : tree_of(path("d")))
    if (name.ends_with(".jsonl")) counted[name.substr(0, name.find('/'))] += rows_in(text).size();
  for (const auto& [format, rows] : said.at("rows").items()) {
    std::uint64_t all = 0;
    for (const auto& [split, count] : rows.items()) all += count.get<std::uint64_t>();
    EXPECT_EQ(counted[format], all) << format;
  }
  EXPECT_EQ(run("oracle verify d").exit_code, 0);
  EXPECT_THAT(run("oracle verify d").out, HasSubstr("all is well"));
}

TEST_F(OracleCommandTest, optimal_answers_replay_to_the_optimum) {
  ASSERT_EQ(run("oracle --tasks all --policy optimal --episodes 1 --format sft,graphs --out d").exit_code, 0);
  std::map<std::string, json> transcripts;
  for (const auto& row : rows("d/sft/test-00000-of-00001.jsonl")) {
    json& transcript = transcripts[row.at("graph")];
    transcript["task"] = row.at("graph").get<std::string>();
    transcript["actions"].push_back(row.at("messages").back().at("content").get<std::string>());
  }
  std::string text;
  for (const auto& [task, transcript] : transcripts) text += transcript.dump() + "\n";
  write("t.jsonl", text);
  const json results = run_json("regret t.jsonl").at("results");
  ASSERT_EQ(results.size(), 5U);
  const std::map<std::string, double> optima = {{"task1_chain", 111806.72},
                                                {"task2_residual", 1910476.16},
                                                {"task3_attention", 3922488.32},
                                                {"task4_mixed", 3285973.65},
                                                {"task5_adversarial", 2157852.16}};
  for (const json& result : results) {
    EXPECT_EQ(result.at("complete"), true);
    EXPECT_EQ(result.at("regret").at("total"), 0);
    EXPECT_NEAR(result.at("latency").get<double>(), optima.at(result.at("name")), 0.01) << result.at("name");
  }
}

TEST_F(OracleCommandTest, learns_from_the_answers_of_an_agent) {
  json actions = json::array(
      {"no idea [", "[1]", R"({"fuse_with_prev": false, "tile": 32, "retain": []})", "fuse = no, tile = 32"});
  write("t.jsonl", line({{"policy", "mine"}, {"actions", actions}}) + "\n" + line({}));
  ASSERT_EQ(run("oracle --transcripts t.jsonl --format raw,dpo,prm --plain --out d").exit_code, 0);
  const auto prm = rows("d/prm/test-00000-of-00001.jsonl");
  ASSERT_EQ(prm.size(), 2U);
  EXPECT_EQ(prm[0].at("policy"), "mine");
  // "no idea [" is loose text without a field, which is the environment's default action; "[1]" is no answer.
  EXPECT_EQ(prm[0].at("completions").size(), 3U);
  EXPECT_EQ(prm[0].at("complete"), false);
  EXPECT_EQ(prm[1].at("policy"), "transcript");
  EXPECT_EQ(prm[1].at("completions").size(), 8U);
  std::map<std::string, nlohmann::ordered_json> states;
  for (const auto& row : rows("d/raw/test-00000-of-00001.jsonl")) states[row.at("id")] = row;
  EXPECT_EQ(states.size(), 3U + 8U - 1U) << "both begin in the same state";
  std::size_t own = 0;
  for (const auto& pair : rows("d/dpo/test-00000-of-00001.jsonl")) {
    const auto& state = states.at(pair.at("id"));
    const double lost = state.at("taken_q").get<double>() - state.at("value_to_go").get<double>();
    if (lost < 0.001 * state.at("optimum").get<double>()) continue;
    EXPECT_EQ(pair.at("rejected"), state.at("taken")) << pair.at("id");
    ++own;
  }
  EXPECT_GT(own, 4U);
  // The mix is played on drawn graphs only, unless it is asked for.
  ASSERT_EQ(run("oracle --transcripts t.jsonl --graphs 1 --ops 4-4 --out mixed").exit_code, 0);
  ASSERT_EQ(run("oracle --transcripts t.jsonl --policy greedy --episodes 2 --out asked").exit_code, 0);
  EXPECT_EQ(json::parse(read("asked/manifest.json")).at("totals").at("episodes"), 4);
  EXPECT_EQ(json::parse(read("mixed/manifest.json")).at("totals").at("episodes"), 5);
  // So the two are different data sets, though the mix is the default one.
  refused(
      "--transcripts t.jsonl --graphs 1 --ops 4-4 --policy optimal:0.5,eps0.1:0.3,heuristic:0.2 --out mixed",
      "command: ");
}

TEST_F(OracleCommandTest, transcripts_that_are_none_are_refused_by_line) {
  const auto with = [&](const std::string& second, const std::string& said) {
    write("t.jsonl", line({}) + second);
    refused("--transcripts t.jsonl --out d", said);
    refused("--transcripts t.jsonl --out d", "line 2");
  };
  with(line({{"task", "task9"}}), "task9");
  with(line({{"rules", "seed"}}), "seed");
  with(line({{"rules", "physical"}}), "physical");
  with(line({{"actions", 3}}), "actions");
  with("{\"task\": ", "t.jsonl");
  with("\xff\n", "t.jsonl");
  write("t.jsonl", "\n\n");
  refused("--transcripts t.jsonl --out d", "t.jsonl");
  refused("--transcripts none.jsonl --out d", "none.jsonl");
  refused("--transcripts - --out d", "--transcripts");
  EXPECT_FALSE(std::filesystem::exists(path("d")));
}

TEST_F(OracleCommandTest, options_that_make_no_sense_are_refused) {
  write("a.json", run("generate --ops 4 --seed 1").out);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "--out: is missing"},
      {"--out \"\"", "--out: is missing"},
      {"--out a.json", "a.json"},
      {"--out /proc/none", "/proc/none"},
      {"--graphs 0 --out d", "--graphs: 0 and no other source"},
      {"--graphs -1 --out d", "--graphs"},
      {"--graphs x --out d", "--graphs"},
      {"--graphs 5 --shard-size 0 --out d", "--shard-size"},
      {"--graphs 1000000 --shard-size 1 --out d", "--shard-size: 1 makes 1000000 shards"},
      {"--graphs 5 --format sft,xyz --out d", "--format: \"xyz\" is unknown; expected one or more of"},
      {"--graphs 5 --format sft, --out d", "--format: \"\" is unknown"},
      {"--graphs 5 --policy eps2 --out d", "--policy: \"eps2\" is no policy"},
      {"--graphs 5 --policy optimal:0 --out d", "--policy: \"0\" is no weight"},
      {"--graphs 5 --policy optimal:nan --out d", "--policy: \"nan\" is no weight"},
      {"--graphs 5 --policy optimal,optimal --out d", "appears twice"},
      {"--graphs 5 --curriculum 0.8:0.2 --out d", "--curriculum"},
      {"--graphs 5 --curriculum 0:2 --out d", "--curriculum"},
      {"--graphs 5 --curriculum x --out d", "--curriculum"},
      {"--graphs 5 --curriculum 0:1 --ops 3-4 --out d", "--curriculum: stands beside"},
      {"--graphs 5 --ops 4-3 --out d", "--ops"},
      {"--graphs 5 --ops 0-3 --out d", "--ops"},
      {"--graphs 5 --kind odd --out d", "--kind: \"odd\" is unknown"},
      {"--tasks task1_chain --ops 3-4 --out d", "--ops: no graphs are drawn"},
      {"--tasks task9 --out d", "--tasks: \"task9\" is unknown"},
      {"--graphs 5 --shard-of 3/3 --out d", "--shard-of"},
      {"--graphs 5 --shard-of 0/0 --out d", "--shard-of"},
      {"--graphs 5 --shard-of x --out d", "--shard-of: \"x\" is no part"},
      {"--graphs 5 --shard-of 1/ --out d", "--shard-of"},
      {"--graphs 5 --shard-of -1/3 --out d", "--shard-of"},
      {"--graphs 5 --shard-of 0/3 --out d", "--shard-of: 3 parts of 1 shards"},
      {"--graphs 5 --threshold -1 --out d", "--threshold"},
      {"--graphs 5 --threshold nan --out d", "--threshold"},
      {"--graphs 5 --episodes 0 --out d", "--episodes"},
      {"--graphs 5 --steps 0 --out d", "--steps"},
      {"--graphs 5 --seed -1 --out d", "--seed"},
      {"--graphs 5 --threads 0 --out d", "--threads"},
      {"--graphs 5 --rules physical --out d", "--rules: physical has no episodes"},
      {"--graphs 5 --license 'a b' --out d", "--license: \"a b\""},
      {"--graphs 5 --license 'mit\nx: y' --out d", "--license"},
      {"--graphs 5 --system none.txt --out d", "none.txt"},
      {"--input none --out d", "none"},
      {"verify", "DIR"},
      {"verify none", "none: has no manifest.json"},
      {"verify a.json", "a.json"},
      {"merge --out d", "PART"},
      {"merge none --out d", "none: is no complete part"},
      {"merge none", "--out: is missing"},
      {"--graphs 2 --out d verify d", "--graphs: stands before verify"},
  };
  for (const auto& [arguments, said] : cases) refused(arguments, said);
  std::filesystem::create_directory(path("empty"));
  refused("--input empty --out d", "--input: empty holds no *.json or *.jsonl");
  std::filesystem::create_directory(path("bad"));
  write("bad/broken.json", "{\"nodes\": [");
  refused("--input bad --out d", "bad/broken.json");
  write("binary", std::string("\xff\x00\xfe", 3));
  refused("--graphs 5 --system binary --out d", "--system: binary is not UTF-8");
  write("\xff.json", read("a.json"));
  refused("--input \xff.json --out d", "is not UTF-8");
  EXPECT_FALSE(std::filesystem::exists(path("d")));
}

TEST_F(OracleCommandTest, takes_inputs_up_again_in_their_order_and_notices_a_change) {
  for (const char* name : {"b", "a"}) {
    std::filesystem::create_directory(path(name));
    write(fmt::format("{}/g.json", name),
          run(fmt::format("generate --ops 4 --seed {}", *name == 'a' ? 1 : 2)).out);
  }
  ASSERT_EQ(run("oracle --input b/g.json --input a/g.json --out d").exit_code, 0);
  const auto before = tree_of(path("d"));
  const Finished again = run("oracle --input b/g.json --input a/g.json --out d");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("1 of 1 shards were there already"));
  EXPECT_EQ(difference_of(tree_of(path("d")), before), "");
  refused("--input b/g.json --input a/g.json --seed 1 --out d", "--seed 1");
  for (const char* name : {"a", "b"}) {
    const std::string graph = read(fmt::format("{}/g.json", name));
    write(fmt::format("{}/g.json", name), graph + "\n");
    refused("--input b/g.json --input a/g.json --out d", "is of another data set: inputs: ");
    write(fmt::format("{}/g.json", name), graph);
  }
  refused("--input b/g.json --out d", "is of another data set");
}

// A task that comes as a file is the task.
TEST_F(OracleCommandTest, fixed_tasks_stay_out_of_train_however_they_come) {
  json task = json::parse(file_text(FUSELAGE_SOURCE_DIR "/datasets/tasks/task1_chain.json"));
  task["name"] = "mine";
  task["graph"]["hardware"]["fast_mem_capacity"] = 1 << 20;
  write("mine.json", task.dump());
  ASSERT_EQ(run("oracle --input mine.json --out d").exit_code, 0);
  EXPECT_THAT(list("d/sft"), ElementsAre("test-00000-of-00001.jsonl"));
  ASSERT_EQ(run("oracle --input mine.json --tasks-in-train --out e").exit_code, 0);
  EXPECT_THAT(list("e/sft"), ElementsAre("train-00000-of-00001.jsonl"));
}

}  // namespace
}  // namespace fuselage
