// `fuselage play`, as a user or a program plays it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "e2e/command.h"
#include "golden_graph.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Play : public CommandTest {
 protected:
  // The objects that --json prints.
  std::vector<json> objects(const std::string& text) const {
    std::vector<json> all;
    for (const std::string& line : lines(text)) all.push_back(json::parse(line));
    return all;
  }
  void expect_refused(const std::string& arguments, const std::string& message) const {
    const Finished refused = run("play " + arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_THAT(refused.err, StartsWith("fuselage: error: " + message)) << arguments;
  }
};

TEST_F(Play, a_grid_task_from_a_file) {
  write("actions.txt", "SCHEDULE ops=[0,1,2] config=[128,128,1] retain=[3]\n\nSCHEDULE ops=[3,4,5]\r\n");
  const Finished finished = run("play task1_linear actions.txt");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(
      finished.out,
      AllOf(StartsWith("task1_linear: 6 ops; rules fusionops-honest, at most 10 steps\n\nLAST ACTION\nnone "
                       "yet\n"),
            HasSubstr("\n\nstep 1: reward 0.0498; latency 2,300.00, 2,300.00 so far\n\nLAST ACTION\nvalid: "),
            HasSubstr("\n\nstep 2: reward 2.5660; latency 1,638.40, 3,938.40 so far\n\nLAST ACTION\nvalid: "),
            Not(HasSubstr("VALID NOW")),
            EndsWith("\n\nfinished: 6 of 6 ops in 2 of 10 steps; latency 3,938.40 (naive 19,660.80, greedy "
                     "3,900.00); score 0.6662, as the environment's README counts 0.7997; return 2.6158\n")));
  EXPECT_THAT(run("play task1_linear actions.txt --examples").out, HasSubstr("\nACTIONS THAT ARE VALID NOW"));
}

TEST_F(Play, a_walk_task_from_stdin) {
  write("fuse.json", R"({"fuse_with_prev": true, "tile": 256, "retain": [0, 99]})");
  const std::string play = "for i in 1 2 3 4 5 6 7 8; do cat fuse.json; echo; done | \"$FUSELAGE\" play ";
  const Finished finished = shell(play + "task1_chain");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(
      finished.out,
      AllOf(StartsWith("task1_chain: 8 ops; rules seed-honest, at most 8 steps\n\n{\"step\":0,"),
            HasSubstr("\n\nstep 2: reward "), HasSubstr("open kernel of 2 nodes; latency so far 0.00"),
            HasSubstr("\n\nfinished: 8 of 8 ops in 8 of 8 steps; latency "),
            HasSubstr(" (naive 165,858.99, greedy 118,360.32); score ")));
  const Finished quiet = shell(play + "task1_chain - --quiet --rules seed");
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_EQ(lines(quiet.out).size(), 1U);
  EXPECT_THAT(quiet.out, StartsWith("finished: 8 of 8 ops in 8 of 8 steps; latency "));
}

TEST_F(Play, what_walk_rules_refuse_is_told) {
  write("actions.txt", "[1]\n{\"retain\": [3]}\n\"fuse=yes\"\n");
  const Finished finished = run("play task4_mixed actions.txt --max-steps 2");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("\nno step: reward -0.1000; parse error: no step was used\n"),
                                  HasSubstr("; not retained, since not there: 3; open kernel of 1 node; "),
                                  HasSubstr("\nout of steps: 2 of 24 ops in 2 of 2 steps; ")));
  const auto steps = objects(run("play task4_mixed actions.txt --max-steps 2 --json").out);
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[1].at("reward"), -0.1);
  EXPECT_EQ(steps[1].at("step"), 0);
  EXPECT_EQ(steps[1].at("info").at("counted"), false);
  EXPECT_EQ(steps[1].at("observation"), steps[0].at("observation"));
  EXPECT_EQ(steps[2].at("info").at("dropped"), json::parse("[3]"));
  EXPECT_EQ(steps[3].at("action"), "fuse=yes");
  EXPECT_EQ(steps[4].at("complete"), false);
}

TEST_F(Play, json_is_an_object_a_step) {
  write("actions.txt", "SCHEDULE ops=[1]\nwords\nSCHEDULE ops=[0,1,2,3,4,5]\n");
  const Finished finished = run("play task2_diamond actions.txt --json");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto steps = objects(finished.out);
  ASSERT_EQ(steps.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i)
    for (const char* field : {"step", "action", "observation", "reward", "done", "info"})
      EXPECT_TRUE(steps[i].contains(field)) << i << field;
  EXPECT_EQ(steps[0].at("reward"), nullptr);
  EXPECT_EQ(steps[0].at("info"), json::parse(R"({"name": "task2_diamond", "family": "grid",
    "rules": "fusionops-honest", "ops": 6, "max_steps": 12, "naive_latency": 22937.600000000002})"));
  EXPECT_EQ(steps[1].at("reward"), -0.2);
  EXPECT_EQ(steps[1].at("info").at("error_class"), "Dependency Error (op not ready)");
  EXPECT_EQ(steps[2].at("step"), 1);
  EXPECT_EQ(steps[2].at("info").at("counted"), false);
  EXPECT_EQ(steps[3].at("step"), 2);
  EXPECT_EQ(steps[3].at("done"), true);
  EXPECT_EQ(steps[3].at("info").at("latency"), 6600);
  EXPECT_EQ(steps[3].at("info").at("covered"), json::parse("[0, 1, 2, 3, 4, 5]"));
  EXPECT_THAT(std::string(steps[3].at("observation")), HasSubstr("THE END"));
  const json& end = steps[4];
  EXPECT_EQ(end.at("finished"), true);
  EXPECT_EQ(end.at("complete"), true);
  EXPECT_EQ(end.at("steps"), 2);
  EXPECT_EQ(end.at("latency"), 6600);
  EXPECT_DOUBLE_EQ(double(end.at("naive_latency")), 22937.6);
  EXPECT_EQ(end.at("greedy_latency"), 6600);
  EXPECT_EQ(end.at("best_known"), nullptr);
  EXPECT_NEAR(end.at("score"), 2 * 22937.6 / (22937.6 + 6600) - 1, 1e-12);
  const Finished quiet = run("play task2_diamond actions.txt --json --quiet");
  EXPECT_EQ(objects(quiet.out), std::vector<json>{end});
}

TEST_F(Play, a_log_is_a_file_of_actions) {
  write("actions.txt", "SCHEDULE ops=[0]\nSCHEDULE\\nops=[1,2,3,4,5]\n\"SCHEDULE\\nops=[1,2,3,4,5]\"\n");
  ASSERT_EQ(shell("\"$FUSELAGE\" play task1_linear actions.txt --json > log.jsonl").exit_code, 0);
  const Finished again = shell("\"$FUSELAGE\" play task1_linear log.jsonl --json > again.jsonl");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.err, "") << "the end of a log is no action";
  EXPECT_EQ(read("again.jsonl"), read("log.jsonl"));
}

TEST_F(Play, recorded_grid_games_are_played_to_the_bit) {
  int finished_games = 0;
  for (const json& row : read_lines(small_golden_dir() + "/fusionops_small.jsonl")) {
    write("problem.json", row.at("problem").dump());
    std::string actions;
    for (const json& step : row.at("steps")) actions += step.at("command").dump() + '\n';
    write("actions.jsonl", actions);
    const Finished finished = run(fmt::format(
        "play problem.json actions.jsonl --json --rules fusionops --max-steps {}{}",
        row.at("max_steps").dump(), row.at("allow_recomputation").get<bool>() ? "" : " --no-recomputation"));
    const json& final = row.at("final");
    EXPECT_EQ(finished.exit_code, final.at("done").get<bool>() ? 0 : 1) << row.at("id") << finished.err;
    finished_games += finished.exit_code == 0;
    const auto got = objects(finished.out);
    ASSERT_EQ(got.size(), row.at("steps").size() + 2) << row.at("id");
    for (std::size_t i = 0; i + 2 < got.size(); ++i) {
      const json& expected = row.at("steps").at(i);
      const json& step = got[i + 1];
      EXPECT_EQ(step.at("reward"), expected.at("reward")) << row.at("id");
      EXPECT_EQ(step.at("done"), expected.at("done")) << row.at("id");
      EXPECT_EQ(step.at("info").at("error"), expected.at("error")) << row.at("id");
      EXPECT_EQ(step.at("info").at("latency"), expected.at("latency")) << row.at("id");
    }
    EXPECT_EQ(got.back().at("latency"), final.at("total_latency")) << row.at("id");
    EXPECT_EQ(got.back().at("score"), final.at("score")) << row.at("id");
    EXPECT_EQ(got.back().at("readme_score"), final.at("readme_score")) << row.at("id");
    EXPECT_EQ(got.back().at("return"), final.at("return_sum")) << row.at("id");
  }
  EXPECT_GT(finished_games, 20);
}

TEST_F(Play, recorded_walk_games_are_played_to_the_bit) {
  for (const json& row : read_lines(small_golden_dir() + "/episodes_small.jsonl")) {
    write("graph.json", row.at("graph").dump());
    std::string actions;
    for (const json& action : row.at("actions")) actions += action.dump() + '\n';
    write("actions.jsonl", actions);
    const Finished finished = run(fmt::format(
        "play graph.json actions.jsonl --json --rules seed --max-steps {}", row.at("max_steps").dump()));
    const auto got = objects(finished.out);
    ASSERT_EQ(got.size(), row.at("steps").size() + 2) << row.at("id") << finished.err;
    for (std::size_t i = 0; i + 2 < got.size(); ++i) {
      const json& expected = row.at("steps").at(i);
      const json& step = got[i + 1];
      for (const char* field : {"reward", "done"}) EXPECT_EQ(step.at(field), expected.at(field)) << field;
      for (const char* field :
           {"error", "total_latency", "fast_mem", "fast_mem_used", "kernel_launches", "reloads"})
        EXPECT_EQ(step.at("info").at(field), expected.at(field)) << row.at("id") << field;
      if (row.contains("observations")) {
        EXPECT_EQ(step.at("observation"), row.at("observations").at(i + 1)) << row.at("id");
      }
    }
    EXPECT_EQ(got.back().at("latency"), row.at("final_latency"));
    EXPECT_EQ(got.back().at("finished"), row.at("steps").back().at("done"));
    EXPECT_EQ(got.back().at("score"), row.at("steps").back().at("score"));
  }
}

TEST_F(Play, an_end_before_the_episodes_is_one) {
  write("actions.txt", "SCHEDULE ops=[0]\n");
  const Finished finished = run("play task1_linear actions.txt");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, EndsWith("\n\nnot finished: 1 of 6 ops in 1 of 10 steps; latency 3,276.80 (naive "
                                     "19,660.80, greedy 3,900.00); return -0.0800\n"));
  EXPECT_EQ(finished.err,
            "fuselage: error: actions.txt: episode not finished: it ends after 1 of 6 ops; expected more "
            "actions\n");
  const Finished none = run("play task1_chain --json");
  EXPECT_EQ(none.exit_code, 1);
  const auto got = objects(none.out);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[1].at("finished"), false);
  EXPECT_EQ(got[1].at("score"), nullptr);
}

TEST_F(Play, what_comes_after_the_end_is_told) {
  write("actions.txt", "SCHEDULE ops=[0,1,2,3,4,5]\n\nSCHEDULE ops=[0]\n");
  const Finished finished = run("play task1_linear actions.txt --quiet");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err,
            "fuselage: actions.txt: the episode ended before line 3; the actions from there on are not "
            "played\n");
  write("actions.txt", "SCHEDULE ops=[0,1,2,3,4,5]\n\"broken\n");
  const Finished broken = run("play task1_linear actions.txt --quiet");
  EXPECT_EQ(broken.exit_code, 0);
  EXPECT_THAT(broken.err, AllOf(StartsWith("fuselage: actions.txt: line 2, column 8: "),
                                HasSubstr("; the episode ended before it, and nothing from there on is")));
}

TEST_F(Play, each_answer_is_out_before_the_next_action_is_read) {
  const std::string wait =
      "for i in $(seq 200); do [ \"$(wc -l < out.jsonl)\" -ge {0} ] && break; sleep 0.02; done; "
      "wc -l < out.jsonl; ";
  const Finished finished = shell(
      "mkfifo in; : > out.jsonl; "
      "(\"$FUSELAGE\" play task1_linear --json < in > out.jsonl) & exec 3> in; " +
      fmt::format(fmt::runtime(wait), 1) + "echo 'SCHEDULE ops=[0]' >&3; " +
      fmt::format(fmt::runtime(wait), 2) + "echo 'SCHEDULE ops=[1,2,3,4,5]' >&3; wait $!");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(lines(finished.out), ElementsAre("1", "2"));
  EXPECT_EQ(objects(read("out.jsonl")).size(), 4U) << "it ends with the episode, not with its input";
}

TEST_F(Play, the_best_known_plan_is_what_a_store_has) {
  ASSERT_EQ(run("search task1_linear task2_diamond --store best.sqlite").exit_code, 0);
  write("actions.txt", "SCHEDULE ops=[0,1,2,3]\nSCHEDULE ops=[4,5]\n");
  const Finished finished = run("play task1_linear actions.txt --quiet --store best.sqlite");
  EXPECT_THAT(finished.out, HasSubstr(", greedy 3,900.00, best known 3,900.00); score "));
  EXPECT_EQ(
      objects(run("play task1_linear actions.txt --json --store best.sqlite").out).back().at("best_known"),
      3900);
  EXPECT_THAT(run("play task1_linear actions.txt --rules fusionops --quiet --store best.sqlite").out,
              Not(HasSubstr("best known")))
      << "other rules, another record";
  expect_refused("task1_linear actions.txt --store missing.sqlite", "missing.sqlite: ");
}

TEST_F(Play, long_lines_are_read_or_refused) {
  const std::string digits = "head -c {} /dev/zero | tr '\\0' '{}'";
  const auto played = [&](std::size_t bytes, char c, const std::string& target) {
    return shell("{ printf 'ops=['; " + fmt::format(fmt::runtime(digits), bytes, c) +
                 "; echo; } | \"$FUSELAGE\" play --quiet " + target);
  };
  for (const char* target : {"task1_linear", "task1_chain"}) {
    const Finished refused = played(50'000'000, '1', target);
    EXPECT_EQ(refused.exit_code, 2) << target;
    EXPECT_EQ(refused.err,
              "fuselage: error: stdin: line 1: is longer than 16777216 bytes; expected one action\n");
    for (const char c : {'1', '[', ',', '"'}) {
      const Finished read = played(10'000'000, c, target);
      EXPECT_EQ(read.exit_code, 1) << target << c << read.err;
      EXPECT_THAT(read.out, StartsWith("not finished: ")) << target << c;
    }
  }
}

TEST_F(Play, bad_input_is_two) {
  write("actions.txt", "SCHEDULE ops=[0]\n{\"action\": 5}\n");
  expect_refused("task1_linear actions.txt",
                 "actions.txt: line 2: action: \"5\" is no text; expected a string");
  write("broken.txt", "\n\"SCHEDULE ops=[0]\n");
  expect_refused("task1_linear broken.txt", "broken.txt: line 2, ");
  expect_refused("", "TARGET is required\nSee 'fuselage play --help'.");
  expect_refused("task1_linear missing.txt", "missing.txt: cannot be opened: No such file");
  expect_refused("task1_linear .", ".: is a directory; expected a readable file");
  expect_refused("task9", "\"task9\" is no task and no file; expected one of all, ");
  expect_refused("- -", "TARGET and ACTIONS: both are '-'; expected a file for one of them");
  expect_refused("-", "TARGET and ACTIONS: both are '-'");
  expect_refused("all actions.txt", "\"all\": stands for 5 graphs; expected one");
  expect_refused("task1_linear --rules mlsys", "--rules: mlsys has no episodes; expected fusionops or");
  expect_refused("task1_chain --rules physical", "--rules: physical has no episodes; expected seed or seed-");
  expect_refused("task1_chain --rules fusionops", "task1_chain is of the walk family, but --rules fusionops");
  expect_refused("task1_chain --examples", "--examples: is about grid problems; expected no such option");
  expect_refused("task1_chain --no-recomputation", "--no-recomputation: is about grid problems");
  expect_refused("task1_chain --max-steps 0",
                 "--max-steps: 0 is out of range; expected an integer from 1 to");
}

TEST_F(Play, help_has_examples) {
  const Finished help = run("play --help");
  EXPECT_THAT(help.out, HasSubstr("Examples:\n  fuselage play task1_linear\n"));
  for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
  EXPECT_THAT(run("").out, HasSubstr("  play "));
}

}  // namespace
}  // namespace fuselage
