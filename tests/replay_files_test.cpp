// What files of golden rows may be, how observations find their episodes, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "replay_rows.h"

namespace fuselage::oracle {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Pointer = json::json_pointer;

class ReplayFiles : public testing::Test {
 protected:
  std::string error_for(const std::string& text, const std::string& file = "rows.jsonl") const {
    const std::string path = directory_.write(file, text);
    const std::string error = error_of([&] { Replay().check(path); });
    return error.starts_with(path) ? error.substr(path.size()) : error;
  }
  std::string error_for_row(const json& row) const { return error_for(row.dump()); }

  GoldenDirectory directory_;
};

struct Malformed {
  const char* file;
  const char* path;   // of the field that gets another value
  const char* value;  // JSON; null removes the field
  const char* error;
};

TEST_F(ReplayFiles, MalformedFieldsAreNamed) {
  constexpr std::array<Malformed, 25> rows = {{
      {"episodes_small.jsonl", "/steps/0/reward", "\"a\"",
       ":1: steps[0].reward: \"a\" is a string; expected a finite number"},
      {"episodes_small.jsonl", "/steps/0/done", "1",
       ":1: steps[0].done: 1 is a number; expected true or false"},
      {"episodes_small.jsonl", "/steps/0/fast_mem/0", "1.5",
       ":1: steps[0].fast_mem[0]: 1.5 is no integer; expected an integer of 64 bits"},
      {"episodes_small.jsonl", "/steps/0/error", "3", ":1: steps[0].error: 3 is a number; expected a string"},
      {"episodes_small.jsonl", "/steps/0/reloads", "null", ":1: steps[0].reloads: this field is missing"},
      {"episodes_small.jsonl", "/steps/0/luck", "7", ":1: steps[0].luck: 7 is the value of an unknown field"},
      {"episodes_small.jsonl", "/max_steps", "0",
       ":1: max_steps: 0 is out of range; expected an integer from 1"},
      {"episodes_small.jsonl", "/actions/0/tile", "\"64\"", ":1: actions[0].tile: \"64\" is a string"},
      {"episodes_small.jsonl", "/actions/0/retain", "[0.5]", ":1: actions[0].retain[0]: 0.5 is no integer"},
      {"episodes_small.jsonl", "/actions/0", "null",
       ":1: steps: its length is 1; expected 0, one for each action"},
      {"episodes_small.jsonl", "/observations/0", "null",
       ":1: observations: its length is 1; expected 2, one before each action"},
      {"episodes_small.jsonl", "/graph/nodes/0/op", "\"sum\"",
       ":1: graph.nodes[0].op: \"sum\" is no known op"},
      {"episodes_small.jsonl", "/id", "[]", ":1: id: [] is no integer"},
      {"generator_small.jsonl", "/kind", "\"draw\"", ":1: kind: \"draw\" is no kind of call"},
      {"generator_small.jsonl", "/args/seed", "1.5",
       ":1: args.seed: 1.5 is no seed; expected an integer of any size"},
      {"generator_small.jsonl", "/args/difficulty", "\"odd\"",
       ":1: args.difficulty: \"odd\" is no difficulty; expected one of easy"},
      {"generator_small.jsonl", "/args/topology", "\"odd\"",
       ":1: args.topology: \"odd\" is no topology; expected null or one of mixed"},
      {"generator_small.jsonl", "/args/shape", "[3]",
       ":1: args.shape: [3] is no shape; expected null or [height, width]"},
      {"generator_small.jsonl", "/nodes/0", "[\"relu\"]",
       ":1: nodes[0]: [\"relu\"] is no node; expected [op, [inputs]]"},
      {"optima_small.jsonl", "/seed/optimum", "-1",
       ":1: seed.optimum: -1 is negative; expected a finite number >= 0"},
      {"optima_small.jsonl", "/seed-honest/groups/0/tile", "{}",
       ":1: seed-honest.groups[0].tile: an object of 0 fields is an object"},
      {"physical_small.jsonl", "/order", "\"any\"",
       ":1: order: \"any\" is no order; expected \"fixed\" or \"free\""},
      {"physical_small.jsonl", "/feasible", "false", ":1: infeasible: this field is missing"},
      {"physical_small.jsonl", "/plan/0/working_set", "\"\"", ":1: plan[0].working_set: \"\" is no integer"},
      {"physical_illegal_small.jsonl", "/code", "null",
       ":1: based_on: \"custom-0650-free\" is the value of an unknown field"},
  }};
  for (const Malformed& malformed : rows) {
    json row = small_rows(malformed.file)[3];
    const json value = json::parse(malformed.value);
    row[Pointer(malformed.path)] = value;
    if (value.is_null()) row = row.patch({{{"op", "remove"}, {"path", malformed.path}}});
    EXPECT_THAT(error_for_row(row), StartsWith(malformed.error)) << malformed.file << malformed.path;
  }
}

TEST_F(ReplayFiles, ARowIsReadToItsEndEvenAfterADifference) {
  json row = small_row("episodes_small.jsonl", 396);
  row["greedy_latency"] = 1;
  row["final_score"] = "good";
  EXPECT_THAT(error_for_row(row), StartsWith(":1: final_score: \"good\" is a string"));
}

TEST_F(ReplayFiles, TheLineOfAMalformedRowIsNamed) {
  const std::string good = small_row("episodes_small.jsonl", 140).dump();
  EXPECT_THAT(error_for(good + "\n\n  \n" + good.substr(0, 100)),
              StartsWith(": line 4, column 101 (final_latency): the text ends too early"));
  EXPECT_THAT(error_for(good + "\r\n" + R"({"id": 3})"),
              StartsWith(":2: is a row of no known kind; expected"));
  EXPECT_THAT(error_for(good + "\n[1]\n"),
              StartsWith(": line 2, column 1: is a JSON array; expected an object"));
  EXPECT_THAT(error_for(good + "\n" + R"({"code": 1, "code": 2})"),
              HasSubstr("line 2, column 18 (code): the key"));
}

TEST_F(ReplayFiles, FilesThatHoldNothingAreRefused) {
  EXPECT_EQ(error_for(""), ": holds no rows; expected golden figures as JSON Lines");
  EXPECT_EQ(error_for(" \n\n"), ": holds no rows; expected golden figures as JSON Lines");
  EXPECT_THAT(error_for("\x7f"
                        "ELF"),
              StartsWith(": line 1, column 1: not JSON"));
  EXPECT_THAT(error_for(std::string(1'000'000, '['), "deep.json"),
              StartsWith(": line 1, column 1: is a JSON array"));
  EXPECT_THAT(error_of([&] { Replay().check(directory_.path("none")); }),
              EndsWith("none: cannot be opened: No such file or directory; expected a readable file"));
  EXPECT_THAT(error_of([&] { Replay().check(directory_.path("")); }),
              HasSubstr("cannot be read: Is a directory"));
}

TEST_F(ReplayFiles, KindsMayBeMixedAndTheLastLineMayBeOpen) {
  std::string text;
  for (const char* file :
       {"generator_small.jsonl", "physical_small.jsonl", "episodes_small.jsonl", "observations_small.jsonl"})
    text += read_file(small_golden_dir() + "/" + file);
  text.pop_back();
  const ReplayReport report = Replay().check(directory_.write("mixed", text));
  EXPECT_EQ(report.passed, 56U);
  EXPECT_EQ(report.failed, 0U);
  EXPECT_EQ(report.rows, (std::map<std::string, std::size_t>{
                             {"generator", 26}, {"physical", 14}, {"episodes", 12}, {"observations", 4}}));
}

TEST_F(ReplayFiles, TasksMayBeOneLineOrMany) {
  const json tasks = json::parse(read_file(small_golden_dir() + "/tasks_small.json"));
  EXPECT_EQ(Replay().check(directory_.write("tasks.json", tasks.dump(4))).passed, 2U);
  EXPECT_EQ(Replay().check(directory_.write("tasks.json", tasks.dump())).passed, 2U);
  json renamed;
  renamed["task9"] = tasks.at("task1_chain");
  EXPECT_EQ(directory_.difference_of(renamed),
            ":1: task9: expected one of the five tasks, got a name that is none of theirs");
  EXPECT_THAT(error_for("{\n \"task1_chain\": {\n", "tasks.json"),
              StartsWith(": line 2, column 18 (task1_chain): the text ends too early"));
}

TEST_F(ReplayFiles, ObservationsFindTheirEpisodesBesideThem) {
  const auto texts = small_rows("observations_small.jsonl");
  const auto episodes = small_rows("episodes_small.jsonl");
  const std::string path = directory_.write_rows("observations_b.jsonl", texts);
  EXPECT_THAT(
      error_of([&] { Replay().check(path); }),
      EndsWith(
          "observations_b.jsonl:1: id: 140 is the id of no episode at hand; expected it in episodes.jsonl "
          "beside this file, or in a file of episodes named before this one"));
  directory_.write_rows("episodes.jsonl", episodes);
  EXPECT_EQ(Replay().check(path).passed, 4U);

  auto others = episodes;  // the same ids for other games
  for (json& row : others) row["actions"][0]["tile"] = row["actions"][0]["tile"] == 32 ? 256 : 32;
  directory_.write_rows("episodes_b.jsonl", others);
  EXPECT_GT(Replay().check(path).failed, 0U);
}

TEST_F(ReplayFiles, ObservationsFindTheirEpisodesInFilesBefore) {
  const std::string path = directory_.write_rows("texts.jsonl", small_rows("observations_small.jsonl"));
  Replay replay;
  EXPECT_EQ(replay.check(small_golden_dir() + "/episodes_small.jsonl").failed, 0U);
  EXPECT_EQ(replay.check(path).passed, 4U);
}

TEST_F(ReplayFiles, ObservationsNeedOneEpisodeOfTheirLength) {
  const json episode = small_row("episodes_small.jsonl", 140);
  json texts = {{"id", 140}, {"observations", {"a"}}};
  directory_.write_rows("episodes.jsonl", {episode});
  EXPECT_THAT(
      error_for_row(texts),
      AllOf(StartsWith(":1: observations: its length is 1; expected 2, one before each action of the "),
            EndsWith("episodes.jsonl:1 and one at the end")));
  directory_.write_rows("episodes.jsonl", {episode, episode});
  EXPECT_THAT(error_for_row(texts), AllOf(HasSubstr(":1: id: 140 is the id of two episodes"),
                                          EndsWith("episodes.jsonl:1 and line 2; expected one")));
  directory_.write("episodes.jsonl", "{\"actions\": []}\n");
  EXPECT_THAT(error_for_row(texts),
              EndsWith("episodes.jsonl:1: id: this field is missing; expected it beside actions"));
}

TEST_F(ReplayFiles, ADirectoryStandsForItsGoldenFiles) {
  for (const char* file : {"b.jsonl", "a.jsonl", "tasks.json", "tasks_small.json", "other.json", "a.txt"})
    directory_.write(file, "");
  std::vector<std::string> expected;
  for (const char* file : {"a.jsonl", "b.jsonl", "tasks.json", "tasks_small.json"})
    expected.push_back(directory_.path(file));
  EXPECT_EQ(golden_files(directory_.path("")), expected);
  EXPECT_EQ(golden_files("any/file"), (std::vector<std::string>{"any/file"}));
  EXPECT_THAT(error_of([] { golden_files(FUSELAGE_SOURCE_DIR "/src/cli"); }),
              HasSubstr("holds no golden files"));
}

struct Ended {
  int exit_code = 0;
  std::string output;  // stdout and stderr
};

Ended run_replay(const std::string& arguments) {
  const std::string command = FUSELAGE_COMMAND " replay " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Ended run;
  std::array<char, 4096> block{};
  for (std::size_t n = 0; (n = fread(block.data(), 1, block.size(), pipe)) > 0;)
    run.output.append(block.data(), n);
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

TEST_F(ReplayFiles, TheCommandEndsWithTheTotals) {
  std::size_t rows = 2;  // of tasks_small.json
  for (const std::string& file : golden_files(small_golden_dir()))
    if (file.ends_with(".jsonl")) rows += read_lines(file).size();
  EXPECT_GE(rows, 148U);
  const Ended all = run_replay(small_golden_dir());
  EXPECT_EQ(all.exit_code, 0) << all.output;
  EXPECT_THAT(all.output, EndsWith(fmt::format("\n{} passed, 0 failed\n", rows)));

  json row = small_row("episodes_small.jsonl", 140);
  row["final_score"] = 2;
  const std::string bad = directory_.write_rows("bad.jsonl", std::vector<json>(22, row));
  const Ended some = run_replay(bad + " " + small_golden_dir() + "/tasks_small.json");
  EXPECT_EQ(some.exit_code, 1) << some.output;
  EXPECT_THAT(some.output,
              AllOf(HasSubstr("bad.jsonl:1: id 140: final_score: expected 2, got -0.0"),
                    HasSubstr("bad.jsonl: 2 more rows fail\n"), EndsWith("\n2 passed, 22 failed\n")));

  const Ended none = run_replay(directory_.path("missing") + " " + small_golden_dir() + "/tasks_small.json");
  EXPECT_EQ(none.exit_code, 2) << none.output;
  EXPECT_THAT(none.output, AllOf(HasSubstr("missing: cannot be opened"), EndsWith("\n2 passed, 1 failed\n")));
}

TEST_F(ReplayFiles, TheCommandReadsStdinAndWritesJson) {
  const Ended run = run_replay("--json - < " + small_golden_dir() + "/physical_small.jsonl");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  const json report = json::parse(run.output);
  EXPECT_EQ(report.at("passed"), 14);
  EXPECT_EQ(report.at("failed"), 0);
  EXPECT_EQ(report.at("files").at(0).at("file"), "stdin");
  EXPECT_EQ(report.at("files").at(0).at("rows"), (json{{"physical", 14}}));
}

TEST_F(ReplayFiles, TheCommandExplainsItself) {
  const Ended help = run_replay("--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, HasSubstr("fuselage replay golden/walk"));
  EXPECT_EQ(run_replay("").exit_code, 2);
}

}  // namespace
}  // namespace fuselage::oracle
