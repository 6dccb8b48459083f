// Graphs that cost nothing, and graphs that cost as much as can be: every command's figures are finite, or
// none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::Not;

constexpr int ops = 6;

class CliExtremes : public CommandTest {
 protected:
  // A chain whose nodes take so many FLOPs in turns.
  static json chain(double even, double odd, const json& machine) {
    json nodes = json::array();
    for (int id = 0; id < ops; ++id)
      nodes.push_back({{"id", id},
                       {"op", "relu"},
                       {"shape", {128, 128}},
                       {"inputs", id == 0 ? json::array() : json::array({id - 1})},
                       {"flops", id % 2 == 0 ? even : odd}});
    return {{"nodes", nodes}, {"hardware", machine}};
  }
  static json machine(double bandwidth, double launch) {
    return {{"fast_mem_capacity", 1'000'000},
            {"slow_mem_bandwidth", bandwidth},
            {"kernel_launch_cost", launch},
            {"max_fusion_depth", 3}};
  }
  void expect_finite(const std::string& line) const {
    const Finished finished = shell("\"$FUSELAGE\" " + line);
    EXPECT_TRUE(finished.exit_code >= 0 && finished.exit_code <= 2) << line << ": " << finished.exit_code;
    for (const std::string& text : {finished.out, finished.err})
      EXPECT_THAT(text, Not(ContainsRegex("(^|[^a-zA-Z])(inf|nan)([^a-z]|$)"))) << line;
  }
};

TEST_F(CliExtremes, FiguresAreFinite) {
  const std::string free = "free", dear = "dear", mixed = "mixed";
  write("free.json", chain(0, 0, machine(0, 0)).dump());
  write("dear.json", chain(1e100, 1e100, machine(0, 0)).dump());
  write("mixed.json", chain(1e100, 5e-324, machine(1e-100, 1e100)).dump());
  write("actions.txt", "x\nx\nx\nx\nx\nx\n");
  for (const std::string& name : {free, dear, mixed}) {
    for (const char* line :
         {"search {0}.json --no-store --out {0}.plan.json", "search {0}.json --no-store --json",
          "search {0}.json --no-store --engine naive",
          "search {0}.json --no-store --rules physical --order free",
          "search {0}.json --no-store --pareto traffic",
          "search {0}.json --no-store --price traffic=1e100,launch=1e100", "headroom {0}.json",
          "headroom {0}.json --json", "explain {0}.plan.json", "explain {0}.plan.json --json",
          "export {0}.plan.json --format csv", "export {0}.plan.json --format json",
          "tune {0}.json --model none --trials 2 --no-store",
          "tune {0}.json --model none --trials 2 --no-store --json", "play {0}.json actions.txt",
          "play {0}.json actions.txt --json"})
      expect_finite(fmt::format(fmt::runtime(line), name));
  }
}

TEST_F(CliExtremes, ReturnsOfTranscriptsAreFinite) {
  write("chain.json", chain(0, 0, machine(1, 0)).dump());
  write("actions.txt",
        "{\"action_type\": \"START_NEW_GROUP\"}\n{\"action_type\": \"START_NEW_GROUP\"}\n"
        "{\"action_type\": \"START_NEW_GROUP\"}\n{\"action_type\": \"START_NEW_GROUP\"}\n"
        "{\"action_type\": \"START_NEW_GROUP\"}\n{\"action_type\": \"START_NEW_GROUP\"}\n");
  for (const char* flag : {"", " --json"}) expect_finite(std::string("play chain.json actions.txt") + flag);
  json line = {{"graph", chain(0, 0, machine(1, 0))}, {"actions", json::array()}};
  for (int i = 0; i < ops; ++i) line["actions"].push_back(R"({"action_type": "START_NEW_GROUP"})");
  write("episodes.jsonl", line.dump() + "\n" + line.dump() + "\n");
  for (const char* command : {"regret", "leaderboard"})
    for (const char* flag : {"", " --json"}) expect_finite(std::string(command) + " episodes.jsonl" + flag);
}

// Beyond 1e25 the solver behind bounds of free order aborted.
TEST_F(CliExtremes, DearGraphsHaveBounds) {
  write("dear.json", chain(1e30, 1e30, machine(1, 1e30)).dump());
  const json answer =
      run_json("search dear.json --no-store --rules physical --order free").at("results").at(0);
  EXPECT_EQ(answer.at("proof"), "optimal");
  EXPECT_GT(answer.at("lower_bound").get<double>(), 1e30);
  EXPECT_LE(answer.at("lower_bound").get<double>(), answer.at("latency").get<double>() * (1 + 1e-9));
}

}  // namespace
}  // namespace fuselage
