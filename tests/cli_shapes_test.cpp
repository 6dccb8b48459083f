// Grid problems whose tensors don't fit their ops, in every command that reads one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"
#include "served.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* mismatched =
    R"({"widths":[8,6,6],"heights":[4,5,4],"inputs":[[0,1]],"outputs":[[2]],"base_costs":[100],)"
    R"("op_types":["MatMul"],"fast_memory_capacity":1000,"slow_memory_bandwidth":10,"native_granularity":[4,4]})";
constexpr const char* broadcast =
    R"({"widths":[4,1,4],"heights":[4,4,4],"inputs":[[0,1]],"outputs":[[2]],"base_costs":[100],)"
    R"("op_types":["Pointwise"],"fast_memory_capacity":1000,"slow_memory_bandwidth":10,"native_granularity":[4,4]})";
constexpr const char* plan =
    R"({"subgraphs":[[0]],"granularities":[[4,4,4]],"tensors_to_retain":[[]],"traversal_orders":[null],)"
    R"("subgraph_latencies":[100.0]})";

class CliShapes : public CommandTest {
 protected:
  CliShapes() {
    write("mm.json", mismatched);
    write("broadcast.json", broadcast);
    write("plan.json", plan);
    write("actions.txt", "SCHEDULE ops=[0] config=[4,4,4]\n");
  }

  // Commands up to the rules.
  static std::vector<std::string> commands(const std::string& problem) {
    return {"search " + problem + " --no-store --rules ",
            "headroom " + problem + " --steps 100 --rules ",
            "play " + problem + " actions.txt --rules ",
            "evaluate " + problem + " plan.json --rules ",
            "check plan.json --problem " + problem + " --rules ",
            "explain plan.json --problem " + problem + " --rules ",
            "export plan.json --format json --problem " + problem + " --rules ",
            "audit " + problem + " --steps 100 --rules ",
            "oracle --family grid --input " + problem + " --out data --rules "};
  }
};

TEST_F(CliShapes, FusionopsWarnsOnceAndGoesOn) {
  for (const auto& [problem, message] :
       {std::pair("mm.json", "op 0: MatMul of LHS tensor 0, 8 x 4, and RHS tensor 1, 6 x 5 (width x height)"),
        std::pair("broadcast.json", "op 0: Pointwise: input tensor 1 is 1 x 4 and output tensor 2 is 4 x 4")})
    for (const std::string& command : commands(problem)) {
      std::filesystem::remove_all(path("data"));
      const Finished finished = run(command + "fusionops");
      EXPECT_LE(finished.exit_code, 1) << command << finished.err;
      EXPECT_NE(finished.exit_code, -1) << command;
      const std::string warning = fmt::format("fuselage: {}: warning: {}", problem, message);
      EXPECT_THAT(finished.err, AllOf(HasSubstr(warning), HasSubstr("expected"))) << command;
      EXPECT_EQ(finished.err.find("warning", finished.err.find("warning") + 1), std::string::npos) << command;
    }
}

TEST_F(CliShapes, HonestRulesRefuse) {
  for (const std::string& command : commands("mm.json")) {
    const Finished finished = run(command + "fusionops-honest");
    EXPECT_EQ(finished.exit_code, 2) << command;
    EXPECT_THAT(
        finished.err,
        HasSubstr("fuselage: error: mm.json: op 0: MatMul of LHS tensor 0, 8 x 4, and RHS tensor 1, 6 x 5 "
                  "(width x height): the LHS is 8 wide, the RHS 5 high; expected equal ones, such as an "
                  "RHS of 6 x 8 or an LHS of 5 x 4"))
        << command;
    EXPECT_FALSE(std::filesystem::exists(path("data"))) << command;
  }
}

TEST_F(CliShapes, TheContestRefusesBeforeItSearches) {
  for (const char* command : {"search mm.json --no-store", "evaluate mm.json plan.json",
                              "check plan.json --problem mm.json", "headroom mm.json --steps 100"}) {
    const Finished finished = run(command);
    EXPECT_EQ(finished.exit_code, 2) << command;
    EXPECT_THAT(finished.err, HasSubstr("fuselage: error: mm.json: op 0: MatMul of LHS tensor 0, 8 x 4"))
        << command;
  }
}

// The others are searched all the same.
TEST_F(CliShapes, OneOfSeveralProblems) {
  write("good.json", [] {
    std::string text = mismatched;
    return text.replace(text.find("[4,5,4]"), 7, "[4,8,4]");
  }());
  const Finished search = run("search mm.json good.json --no-store --rules fusionops-honest");
  EXPECT_EQ(search.exit_code, 2);
  EXPECT_THAT(squeezed(search.out),
              AllOf(HasSubstr("mm 1 - "), HasSubstr("good 1 "), HasSubstr(" optimal ")));
  EXPECT_EQ(lines(search.err).size(), 1U) << search.err;
  const Finished silent = run("search good.json all --no-store --family grid --rules fusionops");
  EXPECT_EQ(silent.exit_code, 0);
  EXPECT_EQ(silent.err, "");
}

class ServedShapes : public Served {};

TEST_F(ServedShapes, ResetRefusesOrWarns) {
  start();
  Http http(port());
  const json graph = json::parse(mismatched);
  const Reply refused =
      http.request("POST", "/reset", json{{"graph", graph}, {"rules", "fusionops-honest"}}.dump());
  EXPECT_GE(refused.status, 400);
  EXPECT_LT(refused.status, 500);
  EXPECT_THAT(refused.body, HasSubstr("op 0: MatMul of LHS tensor 0, 8 x 4, and RHS tensor 1, 6 x 5"));
  const json begun = http.post("/reset", {{"graph", graph}, {"rules", "fusionops"}});
  EXPECT_THAT(begun.at("metadata").at("warning"), HasSubstr("op 0: MatMul of LHS tensor 0, 8 x 4"));
  json good = graph;
  good["heights"] = {4, 8, 4};
  EXPECT_FALSE(
      http.post("/reset", {{"graph", good}, {"rules", "fusionops"}}).at("metadata").contains("warning"));
}

}  // namespace
}  // namespace fuselage
