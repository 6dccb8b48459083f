// `fuselage audit` as a user runs it, and its examples as `fuselage play` replays them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class AuditCommand : public CommandTest {};

// Runs the line that stands with a finding, and compares the last line of what it prints.
void expect_replays(const std::string& line, const json& finding, const Finished& played) {
  ASSERT_EQ(played.exit_code, 0) << line << played.err;
  const json end = json::parse(played.out.substr(played.out.rfind('\n', played.out.size() - 2) + 1));
  EXPECT_EQ(end.at("latency"), finding.at("latency")) << line;
  EXPECT_EQ(end.at("return"), finding.at("return")) << line;
  EXPECT_EQ(end.at("score"), finding.at("score")) << line;
}

TEST_F(AuditCommand, examples_replay) {
  for (const std::string target : {"task1_chain --rules seed", "task2_diamond --family grid"}) {
    const Finished finished = run("audit " + target + " --steps 20000 --examples found --json");
    EXPECT_EQ(finished.exit_code, 1) << finished.err;
    const json game = json::parse(finished.out).at("games").at(0);
    EXPECT_FALSE(game.at("findings").empty());
    for (const json& finding : game.at("findings")) {
      std::string line = finding.at("replay");
      EXPECT_EQ(line.rfind("fuselage play ", 0), 0U);
      EXPECT_THAT(line, HasSubstr(" found/" + finding.at("file").get<std::string>()));
      line = "\"$FUSELAGE\"" + line.substr(std::string("fuselage").size()) + " --json";
      expect_replays(line, finding, shell(line));
    }
  }
}

TEST_F(AuditCommand, says_what_was_found_how_and_against_what) {
  const Finished finished = run("audit task1_chain --steps 5000");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr("bounded"));
  EXPECT_THAT(finished.out, HasSubstr("every further entry of one action pays 0.01"));
  EXPECT_THAT(finished.out, HasSubstr("0  retain ["));
  EXPECT_THAT(finished.out,
              HasSubstr("replay: fuselage play task1_chain task1_chain-seed-bounded.txt --rules seed"));
  EXPECT_EQ(run("audit task1_chain --steps 5000").out, finished.out);
}

TEST_F(AuditCommand, takes_files_and_writes_its_report) {
  run("generate --ops 6 --difficulty hard --seed 3 --out g.json");
  const Finished finished = run("audit g.json --rules seed-honest --steps 3000 --out report.txt");
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(read("report.txt"), HasSubstr("fuselage play g.json "));
}

TEST_F(AuditCommand, refuses_what_it_cannot_audit) {
  const auto expect_refused = [this](const std::string& arguments, const std::string& message) {
    const Finished refused = run("audit " + arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_THAT(refused.err, HasSubstr(message)) << arguments;
  };
  expect_refused("task1_chain --rules physical", "physical has no episodes");
  expect_refused("task1_linear --rules mlsys", "mlsys has no episodes");
  expect_refused("task1_chain --rules fusionops", "family");
  expect_refused("--family walk --rules fusionops", "--rules: fusionops is not of the walk family");
  expect_refused("--family trees", "--family: \"trees\" is unknown");
  expect_refused("task9", "is no task and no file");
  expect_refused("task1_chain --steps 0", "--steps: 0 is out of range");
}

}  // namespace
}  // namespace fuselage
