// What reaches a terminal: escape sequences only where they are wanted, and none of somebody else's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"
#include "e2e/process.h"

namespace fuselage {
namespace {

using testing::HasSubstr;
using testing::Not;

class CliTerminal : public CommandTest {
 protected:
  // `term` and `no_color`: the variables; empty: not set.
  ProcessRun at_terminal(const std::vector<std::string>& line, const std::string& term,
                         const std::string& no_color) const {
    return run_process(
        line, {.directory = path("."),
               .environment = {{"XDG_DATA_HOME", path("home")}, {"TERM", term}, {"NO_COLOR", no_color}},
               .at_terminal = true,
               .patience = std::chrono::seconds(30)});
  }
};

TEST_F(CliTerminal, EscapesOnlyWhereTheyAreWanted) {
  write("dense.json", dense_graph(40));
  const std::vector<std::vector<std::string>> lines = {
      {"search", "dense.json", "--no-store", "--time", "0.4"},
      {"headroom", "task1_chain", "--rules", "seed"},
      {"tune", "task1_chain", "--model", "none", "--trials", "2", "--no-store"},
      {"counterfactuals", "--graphs", "1", "--curriculum", "0:0", "--tries", "5", "--out", "pairs.jsonl"},
      {"trajectories", "--graphs", "1", "--schedules", "2", "--ops", "2-3", "--out", "t.h5"},
      {"oracle", "--graphs", "1", "--ops", "2-3", "--out", "data"},
  };
  for (const std::vector<std::string>& line : lines) {
    SCOPED_TRACE(line.front());
    EXPECT_THAT(at_terminal(line, "xterm", "").output, HasSubstr("\r\x1b[K"));
    std::filesystem::remove_all(path("data"));
    for (const auto& [term, no_color] : {std::pair("dumb", ""), std::pair("", ""), std::pair("xterm", "1")}) {
      const ProcessRun run = at_terminal(line, term, no_color);
      EXPECT_TRUE(run.ended_well()) << run.output;
      EXPECT_THAT(run.output, Not(HasSubstr("\x1b")));
      EXPECT_THAT(run.output, Not(testing::ContainsRegex("\r[^\r\n]")));
      std::filesystem::remove_all(path("data"));
    }
  }
}

TEST_F(CliTerminal, NamesBringNone) {
  write("scores.csv", "group,cost,\x1b[31mred,\x1b[32mgreen\na,1,2,1\na,2,1,2\n");
  for (const std::vector<std::string>& line : {std::vector<std::string>{"rank-eval", "scores.csv"},
                                               {"check", "\x1b[31mred"},
                                               {"\x1b[31mred"},
                                               {"search", "all", "--set", "\x1b]0;title\x07"},
                                               {"explain", "\x1b[31m\x7f"}}) {
    const ProcessRun run = at_terminal(line, "xterm", "");
    EXPECT_TRUE(run.ended_well()) << run.output;
    EXPECT_THAT(run.output, Not(HasSubstr("\x1b")));
    EXPECT_THAT(run.output, Not(HasSubstr("\x7f")));
  }
}

}  // namespace
}  // namespace fuselage
