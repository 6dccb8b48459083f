// `fuselage leaderboard` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class LeaderboardCommand : public CommandTest {
 protected:
  static std::string line(const json& what, const std::string& policy, const std::string& rules, int answers,
                          const std::string& answer) {
    json episode = what;
    episode["policy"] = policy;
    episode["rules"] = rules;
    episode["actions"] = std::vector<std::string>(static_cast<std::size_t>(answers), answer);
    return episode.dump() + "\n";
  }
  static json row(const json& board, const std::string& policy) {
    for (const json& one : board.at("rows"))
      if (one.at("policy") == policy) return one;
    ADD_FAILURE() << policy << " has no row";
    return {};
  }
  json graph(int seed) const {
    const json file =
        json::parse(run(fmt::format("generate --ops 12 --difficulty hard --seed {}", seed)).out);
    return {{"graph", {{"nodes", file.at("nodes")}, {"hardware", file.at("hardware")}}},
            {"name", fmt::format("g{}", seed)}};
  }
  static constexpr const char* fuse_128 = R"({"fuse_with_prev": true, "tile": 128, "retain": []})";
};

TEST_F(LeaderboardCommand, without_transcripts_lists_the_references_on_the_five_tasks) {
  const json boards = run_json("leaderboard").at("boards");
  ASSERT_EQ(boards.size(), 2U);
  EXPECT_EQ(boards.at(0).at("rules"), "seed");
  EXPECT_EQ(boards.at(1).at("rules"), "seed-honest");
  const json& seed = boards.at(0);
  EXPECT_EQ(seed.at("graphs").size(), 5U);
  // Known figures: of the optimum, of the constant policies, and what was published.
  EXPECT_NEAR(row(seed, "optimum").at("tasks").at("task4_mixed").at("mean").get<double>(), 0.809, 0.0005);
  EXPECT_NEAR(row(boards.at(1), "optimum").at("tasks").at("task4_mixed").at("mean").get<double>(), 0.807,
              0.0005);
  const json constant = row(seed, "constant 128, fusing");
  EXPECT_NEAR(constant.at("tasks").at("task4_mixed").at("mean").get<double>(), 0.670, 0.0005);
  EXPECT_NEAR(constant.at("published_unseen").get<double>(), 0.28, 1e-12);
  EXPECT_EQ(row(seed, "greedy, the baseline").at("mean"), 0);
  for (const json& board : boards) {
    const json model = row(board, "8B language model");
    EXPECT_EQ(model.at("source"), "published");
    EXPECT_EQ(model.at("rules"), "seed");  // whatever the board's
    EXPECT_EQ(model.at("tasks").at("task4_mixed").at("mean"), 0.573);
    EXPECT_EQ(model.at("published_unseen"), 0.252);
    EXPECT_EQ(model.at("gap"), nullptr);
    EXPECT_EQ(model.at("episodes"), 0);
  }
  EXPECT_EQ(seed.at("rows").at(0).at("policy"), "optimum");
  EXPECT_NEAR(row(seed, "optimum").at("gap").get<double>(), 0, 1e-9);
}

TEST_F(LeaderboardCommand, is_sorted_by_mean_score) {
  const json boards = run_json("leaderboard --rules seed").at("boards");
  ASSERT_EQ(boards.size(), 1U);
  double last = 2;
  for (const json& one : boards.at(0).at("rows")) {
    ASSERT_TRUE(one.at("mean").is_number()) << one.at("policy");
    EXPECT_LE(one.at("mean").get<double>(), last);
    last = one.at("mean");
  }
}

TEST_F(LeaderboardCommand, a_transcript_of_a_reference_is_its_equal) {
  std::string text;
  for (int i = 0; i < 2; ++i) text += line({{"task", "task4_mixed"}}, "mine", "seed", 24, fuse_128);
  text += line({{"task", "task4_mixed"}}, "mine", "seed", 24, R"({"tile": 32})");
  text += line({{"task", "task4_mixed"}}, "short", "seed", 3, fuse_128);
  write("t.jsonl", text);
  const json board = run_json("leaderboard t.jsonl").at("boards").at(0);
  EXPECT_EQ(board.at("graphs").size(), 1U);
  const json mine = row(board, "mine").at("tasks").at("task4_mixed");
  const json reference = row(board, "constant 128, fusing");
  const double score = reference.at("tasks").at("task4_mixed").at("mean");
  EXPECT_EQ(mine.at("count"), 3);
  EXPECT_NEAR(mine.at("mean").get<double>(), (2 * score - 1) / 3, 1e-12);
  EXPECT_NEAR(mine.at("deviation").get<double>(), (score + 1) / std::sqrt(3.0), 1e-12);
  // One that never finishes has no score, and stands behind those that have.
  const json unfinished = row(board, "short");
  EXPECT_EQ(unfinished.at("mean"), nullptr);
  EXPECT_EQ(unfinished.at("unfinished"), 1);
  EXPECT_EQ(board.at("rows").back().at("policy"), "short");
  const std::string out = run("leaderboard t.jsonl").out;
  EXPECT_THAT(out, HasSubstr("±"));
  EXPECT_THAT(out, HasSubstr("published, seed"));
}

TEST_F(LeaderboardCommand, references_are_of_the_graphs_that_the_transcripts_have) {
  const json first = graph(3);
  const json second = graph(4);
  write("t.jsonl", line(first, "a", "seed-honest", 12, fuse_128) +
                       line(second, "a", "seed-honest", 12, "{}") +
                       line(second, "b", "seed-honest", 12, fuse_128));
  const json board = run_json("leaderboard t.jsonl").at("boards").at(0);
  EXPECT_EQ(board.at("graphs").size(), 2U);
  EXPECT_EQ(row(board, "heuristic").at("graphs").at("count"), 2);
  EXPECT_EQ(row(board, "a").at("graphs").at("count"), 2);
  EXPECT_TRUE(row(board, "a").at("mean").is_number());
  EXPECT_EQ(row(board, "b").at("graphs").at("count"), 1);
  EXPECT_EQ(row(board, "b").at("mean"), nullptr);  // it hasn't played all of them
  EXPECT_NEAR(
      row(board, "b").at("graphs").at("mean").get<double>(),
      2 * row(board, "constant 128, fusing").at("graphs").at("mean").get<double>() -
          [&] {
            write("one.jsonl", line(first, "a", "seed-honest", 12, fuse_128));
            const json one = run_json("leaderboard one.jsonl").at("boards").at(0);
            return row(one, "a").at("graphs").at("mean").get<double>();
          }(),
      1e-9);
  EXPECT_THAT(run("leaderboard t.jsonl").out, HasSubstr("1 of 2: "));
}

TEST_F(LeaderboardCommand, a_graph_that_is_a_task_is_that_task) {
  run("tasks --write tasks");
  const json task = json::parse(read("tasks/task2_residual.json"));
  const json what = {{"graph", task.at("graph")}, {"name", "mine"}};
  write("t.jsonl", line(what, "a", "seed", 12, fuse_128) +
                       line({{"task", "task2_residual"}}, "a", "seed", 12, fuse_128));
  const json board = run_json("leaderboard t.jsonl").at("boards").at(0);
  EXPECT_EQ(board.at("graphs").size(), 1U);
  EXPECT_EQ(row(board, "a").at("tasks").at("task2_residual").at("count"), 2);
}

TEST_F(LeaderboardCommand, lines_up_and_has_a_board_for_each_rule_set) {
  write("t.jsonl", line({{"task", "task1_chain"}}, "mine", "seed", 8, fuse_128) +
                       line({{"task", "task1_chain"}}, "mine", "seed-honest", 8, fuse_128));
  const Finished finished = run("leaderboard t.jsonl");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("Under the rules seed:"));
  EXPECT_THAT(finished.out, HasSubstr("Under the rules seed-honest:"));
  // Rows are as wide as the header, whose last column every row fills.
  std::size_t width = 0;
  for (const std::string& text : lines(finished.out)) {
    if (text.find("place") == 0) width = text.size();
    if (text.find("  here  ") != std::string::npos) {
      EXPECT_EQ(text.size(), width) << text;
    }
  }
  EXPECT_GT(width, 0U);
}

TEST_F(LeaderboardCommand, a_bad_line_costs_no_other) {
  write("t.jsonl", "{\n" + line({{"task", "task1_chain"}}, "mine", "seed", 8, fuse_128) +
                       line({{"task", "task9"}}, "mine", "seed", 8, fuse_128) + "\xff\n");
  const Finished finished = run("leaderboard t.jsonl");
  EXPECT_EQ(finished.exit_code, 2);
  for (const char* said : {"line 1", "line 3", "task9", "line 4"}) EXPECT_THAT(finished.err, HasSubstr(said));
  EXPECT_THAT(finished.out, HasSubstr("mine"));
  EXPECT_THAT(finished.err, Not(HasSubstr("internal")));
  write("empty.jsonl", "\n");
  EXPECT_EQ(run("leaderboard empty.jsonl").exit_code, 2);
  EXPECT_EQ(run("leaderboard none.jsonl").exit_code, 2);
  EXPECT_EQ(run("leaderboard --rules physical").exit_code, 2);
  EXPECT_EQ(run("leaderboard --rules none").exit_code, 2);
}

}  // namespace
}  // namespace fuselage
