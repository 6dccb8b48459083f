// `fuselage generate --family grid`, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"
#include "fuselage/grid/generator.h"
#include "fuselage/grid/problem_json.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Generate : public CommandTest {
 protected:
  void expect_refused(const std::string& options, const std::string& message) const {
    const Finished refused = run("generate " + options);
    EXPECT_EQ(refused.exit_code, 2) << options;
    EXPECT_EQ(refused.out, "") << options;
    EXPECT_THAT(refused.err, AllOf(StartsWith("fuselage: error: "), HasSubstr(message))) << options;
  }
};

TEST_F(Generate, help_has_examples_of_both_families) {
  const Finished help = run("generate --help");
  EXPECT_THAT(help.out, AllOf(HasSubstr("Examples:\n  fuselage generate --ops 24 "),
                              HasSubstr("Examples of grid problems:\n  fuselage generate --family grid ")));
  for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
}

TEST_F(Generate, a_grid_problem_is_the_librarys) {
  const Finished written = run("generate --family grid --kind cnn --ops 70 --seed 7 --out problem.json");
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, "");
  const grid::GeneratorOptions options{.network = grid::Network::cnn, .ops = 70, .seed = 7};
  EXPECT_EQ(read("problem.json"), grid::problem_to_json(grid::generate(options)));
  EXPECT_EQ(run("generate --family grid --kind cnn --ops 70 --seed 7").out, read("problem.json"));
  EXPECT_NE(run("generate --family grid --kind cnn --ops 70 --seed 8").out, read("problem.json"));
  EXPECT_EQ(json::parse(run("generate --family grid").out).at("op_types").size(), 100U);
}

TEST_F(Generate, the_options_reach_the_problem) {
  const json problem = json::parse(
      run("generate --family grid --ops 5 --shape 96x64 --native 16x32 --capacity 5000 --bandwidth 2.5").out);
  EXPECT_EQ(problem.at("heights").at(0), 96);
  EXPECT_EQ(problem.at("widths").at(0), 64);
  EXPECT_EQ(problem.at("native_granularity"), json::parse("[32, 16]"));
  EXPECT_EQ(problem.at("fast_memory_capacity"), 5000);
  EXPECT_EQ(problem.at("slow_memory_bandwidth"), 2.5);
  EXPECT_EQ(problem.at("op_types").size(), 5U);
}

TEST_F(Generate, search_takes_what_generate_prints) {
  const Finished piped = shell(
      "\"$FUSELAGE\" generate --family grid --ops 20 --seed 2 | \"$FUSELAGE\" search - --steps 2000 "
      "--threads 1 --no-store --out plan.json");
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  run("generate --family grid --ops 20 --seed 2 --out problem.json");
  const Finished judged = run("evaluate problem.json plan.json");
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
}

TEST_F(Generate, options_of_the_other_family_are_refused) {
  for (const char* option : {"--difficulty hard", "--topology mixed", "--curriculum 0.5"})
    expect_refused(std::string("--family grid ") + option,
                   "is about walk graphs; expected --kind, --native, --capacity or --bandwidth");
  expect_refused("--family grid --jsonl", "--jsonl: is about walk graphs; a grid problem is a JSON document");
  for (const char* option : {"--kind cnn", "--native 64x64", "--capacity 5000", "--bandwidth 10"})
    expect_refused(option, "is about grid problems; expected --family grid with it");
}

TEST_F(Generate, what_no_grid_problem_can_have_is_refused) {
  expect_refused("--family grid --count 2", "--count: 2 problems don't go into one file; expected one grid");
  EXPECT_EQ(run("generate --family grid --ops 3 --count 1").exit_code, 0);
  expect_refused("--family tree", "--family: \"tree\" is unknown; expected one of walk, grid");
  expect_refused("--family grid --kind rnn", "--kind: \"rnn\" is unknown; expected one of transformer, cnn");
  expect_refused("--family grid --native 64", "--native: \"64\" is no shape; expected HEIGHTxWIDTH");
  expect_refused("--family grid --capacity 2", "--capacity: 2 is out of range");
  expect_refused("--family grid --bandwidth 0", "--bandwidth: \"0\" is out of range");
  expect_refused("--family grid --seed seven", "--seed: \"seven\" is no");
  expect_refused("--family grid --seed -1", "--seed: -1 is out of range");
  expect_refused("--family grid --ops 600000",
                 "ops: 600000 is out of range; expected an integer from 1 to 500000");
  expect_refused("--family grid --shape 70000x1", "shape: height: 70000 is out of range");
}

}  // namespace
}  // namespace fuselage
