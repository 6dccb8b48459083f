// Standard streams that are closed or full: nothing is lost without an error, whatever is lost besides, and
// no file that a command opens is ever taken for a stream.
#include <gmock/gmock.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using testing::HasSubstr;

class Streams : public CommandTest {
 protected:
  // The exit code of a command with these streams; stdout and stderr go nowhere unless they are redirected.
  int code(const std::string& arguments, const std::string& streams) const {
    return shell(fmt::format("{{ \"$FUSELAGE\" {} {} ; }} < /dev/null > /dev/null 2> /dev/null", arguments,
                             streams))
        .exit_code;
  }
  void make_inputs() const {
    ASSERT_EQ(run("search task1_chain --no-store --out plan.json --log log.jsonl").exit_code, 0);
    ASSERT_EQ(run("generate --family grid --ops 4 --out problem.json").exit_code, 0);
    ASSERT_EQ(run("search problem.json --no-store --steps 500 --out solution.json").exit_code, 0);
    ASSERT_EQ(run("best export best.jsonl --store '" FUSELAGE_SOURCE_DIR "/datasets/best.sqlite'").exit_code,
              0);
    shell("head -n 3 best.jsonl > few.jsonl; yes '{}' | head -n 8 > actions.txt");
    write("scores.csv", "group,cost,score\na,10,3\na,12,2\na,15,1\n");
  }
};

struct Row {
  const char* arguments;
  int usually = 0;  // the exit code with streams as they should be
};

constexpr Row answering[] = {
    {""},
    {"--help"},
    {"--version"},
    {"search task1_chain --no-store"},
    {"search problem.json --no-store --steps 100 --json"},
    {"search task1_chain --no-store --pareto traffic"},
    {"explain plan.json"},
    {"check plan.json"},
    {"evaluate problem.json solution.json"},
    {"generate --ops 4"},
    {"tasks"},
    {"play task1_chain actions.txt"},
    {"best import few.jsonl --store s.sqlite"},
    {"best export - --store s.sqlite"},
    {"rank-eval scores.csv --resamples 20"},
    {"tune task1_chain --trials 2 --model none --no-store"},
    {"audit task1_chain --steps 500", 1},
    {"export plan.json --format json"},
    {"plot convergence log.jsonl --data"},
};

constexpr Row silent[] = {
    {"generate --ops 4 --out graph.json"},
    {"tasks --write tasks"},
    {"export plan.json --format json --out out.json"},
    {"best export out.jsonl --store s.sqlite"},
    {"search nofile", 2},
    {"nonsense", 2},
    {"best show nothing --store s.sqlite", 1},
};

constexpr const char* reading[] = {"search - --no-store",
                                   "explain -",
                                   "check -",
                                   "evaluate problem.json -",
                                   "evaluate - solution.json",
                                   "play task1_chain",
                                   "play - actions.txt",
                                   "replay -",
                                   "best import - --store t.sqlite",
                                   "headroom -",
                                   "rank-eval -",
                                   "train - --out model",
                                   "tune - --trials 2 --model none --no-store",
                                   "regret -",
                                   "leaderboard -",
                                   "report - --out page.html",
                                   "export - --format json",
                                   "plot convergence - --data",
                                   "counterfactuals -"};

TEST_F(Streams, an_answer_that_cannot_be_written_is_an_error) {
  make_inputs();
  for (const Row& row : answering) {
    EXPECT_EQ(code(row.arguments, "> /dev/full"), 2) << row.arguments;
    EXPECT_EQ(code(row.arguments, ">&-"), 2) << row.arguments;
  }
  for (const char* streams : {"> /dev/full", ">&-"})
    for (const Row& row : silent) EXPECT_EQ(code(row.arguments, streams), row.usually) << row.arguments;
  EXPECT_THAT(shell("\"$FUSELAGE\" tasks >&-").err,
              HasSubstr("stdout: cannot be written: Bad file descriptor"));
}

TEST_F(Streams, words_that_cannot_be_written_change_nothing) {
  make_inputs();
  for (const char* streams : {"2>&-", "2> /dev/full", "<&- 2>&-"}) {
    for (const Row& row : answering) EXPECT_EQ(code(row.arguments, streams), row.usually) << row.arguments;
    for (const Row& row : silent) EXPECT_EQ(code(row.arguments, streams), row.usually) << row.arguments;
  }
  EXPECT_EQ(code("tasks", "<&- >&- 2>&-"), 2);
  EXPECT_EQ(code("serve --port 0 --access-log -", "2>&-"), 2) << "the log would be lost";
  EXPECT_EQ(code("serve --port 0", ">&-"), 2) << "the port would be lost";
}

TEST_F(Streams, input_that_is_closed_is_an_error) {
  make_inputs();
  for (const char* arguments : reading) {
    EXPECT_EQ(code(arguments, "<&-"), 2) << arguments;
    EXPECT_THAT(shell(fmt::format("\"$FUSELAGE\" {} <&- > /dev/null", arguments)).err,
                HasSubstr("stdin: cannot be read: Bad file descriptor"))
        << arguments;
  }
  EXPECT_EQ(code("best import /dev/stdin --store t.sqlite", "<&-"), 2) << "by its other name";
  EXPECT_EQ(code("generate --ops 4 --out /dev/stdout", ">&-"), 2);
}

TEST_F(Streams, files_get_what_is_theirs_where_stdout_is_closed) {
  ASSERT_EQ(run("generate --ops 6 --out graph.json").exit_code, 0);
  EXPECT_EQ(run("generate --family grid --ops 4 --out problem.json").exit_code, 0);
  for (const char* streams : {">&-", "> /dev/full", "<&- >&- 2>&-"}) {
    shell("rm -rf t.jsonl plans *.log");
    const std::string tune = "tune graph.json --trials 4 --model none --no-store --log t.jsonl";
    EXPECT_EQ(code(tune, streams), 2);
    for (const std::string& line : lines(read("t.jsonl"))) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
    EXPECT_EQ(run(tune + " --resume").exit_code, 0);
    for (const char* graph : {"graph", "problem"}) {
      EXPECT_EQ(code(fmt::format("search {0}.json --no-store --steps 500 --out plans --log {0}.log", graph),
                     streams),
                2);
      EXPECT_GE(lines(read(fmt::format("{}.log", graph))).size(), 1U) << streams;
    }
    EXPECT_EQ(list("plans").size(), 2U) << streams;
  }
}

TEST_F(Streams, the_contests_command_keeps_to_it_too) {
  ASSERT_EQ(run("generate --family grid --ops 4 --out problem.json").exit_code, 0);
  const auto mlsys = [this](const std::string& rest) {
    return shell(fmt::format("'{}' {}", FUSELAGE_MLSYS, rest)).exit_code;
  };
  for (const char* streams : {">&-", "> /dev/full"}) EXPECT_EQ(mlsys(std::string("--help ") + streams), 2);
  for (const char* streams : {"2>&-", "2> /dev/full"}) {
    EXPECT_EQ(mlsys(std::string("nothing.json s.json ") + streams), 2);
    EXPECT_EQ(mlsys(streams), 2);
  }
  EXPECT_EQ(mlsys("problem.json s.json <&- >&- 2>&-"), 0);
  EXPECT_EQ(run("evaluate problem.json s.json").exit_code, 0);
}

}  // namespace
}  // namespace fuselage
