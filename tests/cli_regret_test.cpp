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

TEST_F(RegretCommand, a_line_without_end_costs_neither_memory_nor_the_others) {
  const std::string good = R"({"task": "task1_chain", "actions": ["{}"]})";
  write("ends.jsonl", good + "\n");
  // 50 MB of an answer, and as much again without an end; 20 MB of memory are less than either.
  const Finished finished = shell(
      "{ cat ends.jsonl; printf '{\"actions\": \"'; head -c 50000000 /dev/zero | tr '\\0' 'x'; echo '\"}'; "
      "cat ends.jsonl; head -c 50000000 /dev/zero; } | ( ulimit -v 1500000; \"$FUSELAGE\" regret - --json )");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("line 2: is longer than 16777216 bytes"));
  EXPECT_THAT(finished.err, HasSubstr("line 4: is longer than 16777216 bytes"));
  EXPECT_EQ(json::parse(finished.out).at("results").size(), 2U);
}

TEST_F(RegretCommand, values_beyond_the_limit_are_refused) {
  std::string actions = "0";
  for (int i = 0; i < 1'000'000; ++i) actions += ",0";
  write("t.jsonl", R"({"task": "task1_chain", "actions": [)" + actions + "]}\n");
  const Finished finished = run("regret t.jsonl");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("1000000"));
}

TEST_F(RegretCommand, answers_that_cannot_be_read_pay_as_the_environment_has_it) {
  json actions = json::array({"[1]", R"({"tile": NaN})", "{}", 5, nullptr, "{}"});
  write("t.jsonl", json{{"task", "task1_chain"}, {"rules", "seed"}, {"actions", actions}}.dump());
  const json result = run_json("regret t.jsonl").at("results").at(0);
  EXPECT_EQ(result.at("unread"), 4);
  EXPECT_EQ(result.at("steps").size(), 2U);
  double rewards = -0.4;
  for (const json& step : result.at("steps")) rewards += step.at("reward").get<double>();
  EXPECT_NEAR(result.at("return").get<double>(), rewards, 1e-12);
  // The same episode as 'play' has it.
  write("actions.txt", "[1]\n{\"tile\": NaN}\n{}\n5\nnull\n{}\n");
  double paid = 0;
  for (const std::string& line : lines(run("play task1_chain actions.txt --rules seed --json").out)) {
    const json step = json::parse(line);
    if (step.contains("reward") && step.at("reward").is_number()) paid += step.at("reward").get<double>();
  }
  EXPECT_NEAR(paid, rewards, 1e-12);
}

TEST_F(RegretCommand, too_few_and_too_many_steps) {
  const json few = json::array({"{}", "{}"});
  const json many(std::vector<std::string>(11, "{}"));
  write("t.jsonl", json{{"task", "task1_chain"}, {"actions", few}}.dump() + "\n" +
                       json{{"task", "task1_chain"}, {"actions", many}}.dump() + "\n" +
                       json{{"task", "task1_chain"}, {"actions", json::array()}}.dump());
  const json results = run_json("regret t.jsonl").at("results");
  EXPECT_EQ(results.at(0).at("complete"), false);
  EXPECT_EQ(results.at(1).at("complete"), true);
  EXPECT_EQ(results.at(1).at("unused"), 3);
  EXPECT_EQ(results.at(2).at("complete"), false);
  EXPECT_EQ(results.at(2).at("regret").at("total"), 0);
  EXPECT_THAT(run("regret t.jsonl").out, HasSubstr("unfinished"));
}

TEST_F(RegretCommand, rules_are_never_averaged_over) {
  std::string text;
  for (const char* rules : {"seed", "seed-honest", "seed"})
    text += json{{"task", "task4_mixed"},
                 {"rules", rules},
                 {"policy", "p"},
                 {"actions", json(std::vector<std::string>(24, R"({"fuse_with_prev": true})"))}}
                .dump() +
            "\n";
  write("t.jsonl", text);
  const json summaries = run_json("regret t.jsonl").at("summaries");
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries.at(0).at("rules"), "seed");
  EXPECT_EQ(summaries.at(0).at("episodes"), 2);
  EXPECT_EQ(summaries.at(1).at("rules"), "seed-honest");
  EXPECT_EQ(summaries.at(1).at("episodes"), 1);
  const json& task = summaries.at(0).at("by_task").at(0);
  double causes = 0;
  for (const auto& [cause, lost] : task.at("causes").items()) causes += lost.get<double>();
  EXPECT_NEAR(causes, task.at("regret").get<double>(), 1e-12);
  EXPECT_NEAR(task.at("score").get<double>(), 0.670, 0.0005);  // known of this constant policy
  EXPECT_EQ(summaries.at(0).at("by_policy").at(0).at("name"), "p");
  const std::string out = run("regret t.jsonl").out;
  EXPECT_THAT(out, HasSubstr("Under the rules seed, means over 2 episodes"));
  EXPECT_THAT(out, Not(HasSubstr("Under the rules seed-honest")));  // of one episode there is no mean
}

TEST_F(RegretCommand, says_why_in_words) {
  json actions = json::array();
  for (int i = 0; i < 24; ++i)
    actions.push_back(fmt::format(R"({{"fuse_with_prev": {}, "tile": {}, "retain": [{}]}})", i % 3 != 0,
                                  i % 2 ? 128 : 64, i % 5));
  write("t.jsonl", json{{"task", "task4_mixed"}, {"actions", actions}}.dump());
  const std::string out = run("regret t.jsonl --each").out;
  EXPECT_THAT(out, HasSubstr("fusing is better"));
  EXPECT_THAT(out, HasSubstr("tile 128 is right here"));
  EXPECT_THAT(out, HasSubstr("not retained: "));
  EXPECT_THAT(out, HasSubstr("retained needlessly: "));
}

TEST_F(RegretCommand, shows_habits_beside_the_references) {
  json keeps = json::array();
  for (int i = 0; i < 24; ++i)
    keeps.push_back(fmt::format(R"({{"fuse_with_prev": true, "retain": [{}]}})", i));
  write("t.jsonl", json{{"task", "task4_mixed"}, {"policy", "keeps"}, {"actions", keeps}}.dump());
  const json habits = run_json("regret t.jsonl --habits").at("habits");
  EXPECT_EQ(habits.at(0).at("policy"), "keeps");
  EXPECT_EQ(habits.at(0).at("reference"), false);
  EXPECT_GT(habits.at(0).at("habits").at("retention").at("rate"), 0);
  bool constant = false;
  for (const json& row : habits) {
    if (row.at("policy") != "constant 128, fusing") continue;
    constant = true;
    EXPECT_EQ(row.at("reference"), true);
    EXPECT_EQ(row.at("habits").at("retention").at("rate"), 0);
    EXPECT_EQ(row.at("habits").at("dependence"), nullptr);
  }
  EXPECT_TRUE(constant);
  EXPECT_THAT(run("regret t.jsonl --habits").out, HasSubstr("optimum (reference)"));
}

TEST_F(RegretCommand, graphs_of_one_node_and_of_nodes_that_never_fit) {
  const auto line = [](std::int64_t capacity, int depth) {
    const json node = {{"id", 0}, {"op", "matmul"}, {"shape", {64, 64}}, {"inputs", json::array()}};
    const json hardware = {{"fast_mem_capacity", capacity},
                           {"slow_mem_bandwidth", 10},
                           {"kernel_launch_cost", 100},
                           {"max_fusion_depth", depth}};
    return json{{"graph", {{"nodes", json::array({node})}, {"hardware", hardware}}},
                {"actions", json::array({R"({"tile": 32})"})}};
  };
  write("t.jsonl", line(1 << 20, 4).dump() + "\n" + line(64, 1).dump() + "\n");
  const json results = run_json("regret t.jsonl").at("results");
  for (const json& result : results) {
    EXPECT_EQ(result.at("complete"), true);
    EXPECT_NEAR(result.at("regret").at("total").get<double>(),
                result.at("latency").get<double>() - result.at("optimum").get<double>(), 1e-6);
  }
  EXPECT_GE(results.at(1).at("optimum"), 1e6);  // the penalty: it never fits
}

TEST_F(RegretCommand, graphs_beyond_the_limit_are_refused_and_the_others_done) {
  const json graph = json::parse(run("generate --ops 40 --seed 3").out);
  write("t.jsonl", json{{"graph", {{"nodes", graph.at("nodes")}, {"hardware", graph.at("hardware")}}},
                        {"actions", json::array({"{}"})}}
                           .dump() +
                       "\n" + R"({"task": "task1_chain", "actions": ["{}"]})");
  const Finished finished = run("regret t.jsonl --ops 30");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("line 1: the graph has 40 nodes"));
  EXPECT_THAT(finished.out, HasSubstr("task1_chain"));
  EXPECT_EQ(run("regret t.jsonl").exit_code, 0);
}

TEST_F(RegretCommand, what_is_not_proven_is_said) {
  const json graph = json::parse(dense_graph(20));
  write("t.jsonl", json{{"graph", {{"nodes", graph.at("nodes")}, {"hardware", graph.at("hardware")}}},
                        {"actions", json::array({"{}"})}}
                       .dump());
  const Finished finished = run("regret t.jsonl --steps 50");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("isn't proven within --steps"));
}

TEST_F(RegretCommand, takes_several_files_and_says_which_line) {
  write("a.jsonl", R"({"task": "task1_chain", "policy": "a", "actions": ["{}"]})");
  write("b.jsonl", "{\n" + std::string(R"({"task": "task1_chain", "policy": "b", "actions": ["{}"]})"));
  const Finished finished = run("regret a.jsonl none.jsonl b.jsonl --json");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("none.jsonl"));
  EXPECT_THAT(finished.err, HasSubstr("b.jsonl: line 1"));
  const json results = json::parse(finished.out).at("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results.at(1).at("policy"), "b");
  EXPECT_EQ(results.at(1).at("line"), 2);
}

TEST_F(RegretCommand, an_empty_file_and_a_missing_one_are_refused) {
  write("t.jsonl", "\n");
  EXPECT_EQ(run("regret t.jsonl").exit_code, 2);
  EXPECT_EQ(run("regret none.jsonl").exit_code, 2);
  EXPECT_EQ(run("regret t.jsonl --rules physical").exit_code, 2);
}

}  // namespace
}  // namespace fuselage
