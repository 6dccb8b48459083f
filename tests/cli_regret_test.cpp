// `fuselage regret` as a user runs it: transcripts of agents, good, bad and broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class RegretCommand : public CommandTest {
 protected:
  // The optimal plan's actions, as a transcript.
  void write_optimal(const std::string& task) {
    run("search " + task + " --no-store --quiet --out plan.json");
    const json plan = json::parse(read("plan.json"));
    write("optimal.jsonl",
          json{{"task", task}, {"policy", "optimal"}, {"actions", plan.at("actions")}}.dump());
  }
};

TEST_F(RegretCommand, of_an_optimal_transcript_is_zero) {
  for (const std::string task : {"task4_mixed", "task5_adversarial"}) {
    write_optimal(task);
    const json result = run_json("regret optimal.jsonl").at("results").at(0);
    EXPECT_EQ(result.at("regret").at("total"), 0) << task;
    EXPECT_EQ(result.at("complete"), true);
    EXPECT_EQ(result.at("proven"), true);
  }
}

TEST_F(RegretCommand, says_what_was_lost_where_and_what_was_better) {
  json actions = json::array();
  for (int i = 0; i < 24; ++i) actions.push_back(R"({"fuse_with_prev": false, "tile": 32, "retain": []})");
  write("t.jsonl", json{{"task", "task4_mixed"}, {"policy", "alone"}, {"actions", actions}}.dump() + "\n");
  const json result = run_json("regret t.jsonl").at("results").at(0);
  const double lost = result.at("latency").get<double>() - result.at("optimum").get<double>();
  const json& parts = result.at("regret");
  EXPECT_NEAR(parts.at("total").get<double>(), lost, 1e-9 * lost);
  EXPECT_NEAR(
      parts.at("fuse").get<double>() + parts.at("tile").get<double>() + parts.at("retain").get<double>(),
      lost, 1e-9 * lost);
  EXPECT_GT(parts.at("tile"), 0);
  EXPECT_GT(parts.at("fuse"), 0);
  double sum = 0;
  for (const json& step : result.at("steps")) sum += step.at("regret").at("total").get<double>();
  EXPECT_NEAR(sum, lost, 1e-9 * lost);
  const Finished text = run("regret t.jsonl --each");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("alone"));
  EXPECT_THAT(text.out, HasSubstr("new kernel, tile 32, retain []"));
}

TEST_F(RegretCommand, of_answers_in_prose_and_of_episodes_that_end_early) {
  write("t.jsonl",
        R"({"task": "task1_chain", "actions": ["I would fuse: yes, tile = 64", "[1]", {"tile": 64}]})");
  const json result = run_json("regret t.jsonl").at("results").at(0);
  EXPECT_EQ(result.at("unread"), 1);
  EXPECT_EQ(result.at("complete"), false);
  EXPECT_EQ(result.at("score"), nullptr);
  EXPECT_EQ(result.at("steps").size(), 2U);
  EXPECT_EQ(result.at("steps").at(0).at("taken").at("tile"), 64);
}

TEST_F(RegretCommand, takes_graphs_and_rules_of_a_line) {
  const json graph = json::parse(run("generate --ops 10 --difficulty hard --seed 3").out);
  json line{{"graph", {{"nodes", graph.at("nodes")}, {"hardware", graph.at("hardware")}}},
            {"name", "mine"},
            {"actions", json::array({"{}"})}};
  std::string text = line.dump() + "\n\n";
  line["rules"] = "seed";
  write("t.jsonl", text + line.dump() + "\n");
  const json results = run_json("regret t.jsonl").at("results");
  EXPECT_EQ(results.size(), 2U);
  EXPECT_EQ(results.at(0).at("name"), "mine");
  EXPECT_EQ(results.at(0).at("rules"), "seed-honest");
  EXPECT_EQ(results.at(1).at("rules"), "seed");
}

TEST_F(RegretCommand, a_line_that_is_none_is_named_and_the_others_are_done) {
  const std::string good = R"({"task": "task1_chain", "actions": ["{}"]})";
  const auto refused = [&](const std::string& line, const std::string& said) {
    write("t.jsonl", good + "\n" + line + "\n" + good + "\n");
    const Finished finished = run("regret t.jsonl");
    EXPECT_EQ(finished.exit_code, 2) << line;
    EXPECT_THAT(finished.err, HasSubstr("line 2")) << line;
    EXPECT_THAT(finished.err, HasSubstr(said)) << line;
    EXPECT_THAT(finished.out, HasSubstr("task1_chain"));
    EXPECT_THAT(finished.err, Not(HasSubstr("internal")));
  };
  refused("{", "line 2");
  refused(R"({"task": "task9", "actions": []})", "task9");
  refused(R"({"task": "task1_chain"})", "actions");
  refused(R"({"task": "task1_chain", "graph": {}, "actions": []})", "graph");
  refused(R"({"task": "task1_chain", "actions": "fuse"})", "actions");
  refused(R"({"task": "task1_chain", "actions": [], "rules": "physical"})", "physical");
  refused(R"({"task": "task1_chain", "actions": [], "score": 1})", "score");
  refused("{\"task\": \"\xff\xfe\", \"actions\": []}", "line 2");
}

TEST_F(RegretCommand, an_empty_file_and_a_missing_one_are_refused) {
  write("t.jsonl", "\n");
  EXPECT_EQ(run("regret t.jsonl").exit_code, 2);
  EXPECT_EQ(run("regret none.jsonl").exit_code, 2);
  EXPECT_EQ(run("regret t.jsonl --rules physical").exit_code, 2);
}

}  // namespace
}  // namespace fuselage
