// `fuselage trajectories`, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "e2e/command.h"
#include "fuselage/oracle/trajectories.h"

namespace fuselage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class TrajectoriesCommand : public CommandTest {
 protected:
  void expect_refused(const std::string& options, const std::string& message) const {
    const Finished refused = run("trajectories " + options);
    EXPECT_EQ(refused.exit_code, 2) << options;
    EXPECT_EQ(refused.out, "") << options;
    EXPECT_THAT(refused.err, AllOf(StartsWith("fuselage: error: "), HasSubstr(message))) << options;
    EXPECT_TRUE(list(".").empty()) << options;
  }
};

TEST_F(TrajectoriesCommand, help_has_examples) {
  const Finished help = run("trajectories --help");
  EXPECT_THAT(help.out, HasSubstr("Examples:\n  fuselage trajectories --graphs 400 --seed 1 --out train.h5"));
  for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
}

TEST_F(TrajectoriesCommand, what_it_writes_is_read_and_counted) {
  for (const std::string kind : {"mixed", "memory-bound"}) {
    const nlohmann::json said = run_json(
        "trajectories --graphs 12 --schedules 9 --seed 3 --ops 6-14 --kind " + kind + " --out data/some.h5");
    EXPECT_EQ(list("data"), std::vector<std::string>{"some.h5"});
    const learn::Trajectories all =
        learn::read_trajectories(path("data/some.h5").string(), oracle::walk_schemas());
    EXPECT_EQ(all.manifest.family, "walk");
    EXPECT_EQ(all.manifest.rules, "seed-honest");
    EXPECT_EQ(all.manifest.kind, kind);
    EXPECT_EQ(all.manifest.seed, 3U);
    EXPECT_EQ(all.manifest.settings, "graphs=12 schedules=9 ops=6-14");
    EXPECT_THAT(all.manifest.program, StartsWith("fuselage "));
    ASSERT_EQ(all.groups.size(), 12U);
    std::set<std::string> hashes;
    std::int64_t schedules = 0, tokens = 0, train = 0;
    for (const learn::TrajectoryGroup& group : all.groups) {
      hashes.insert(group.graph_hash);
      EXPECT_EQ(group.name.starts_with("memory_bound_"), kind == "memory-bound");
      EXPECT_LE(group.schedules.size(), 9U);
      train += group.split == learn::Split::train;
      schedules += static_cast<std::int64_t>(group.schedules.size());
      for (const learn::Trajectory& one : group.schedules) {
        tokens += static_cast<std::int64_t>(one.size());
        EXPECT_GE(one.size(), 5U);
        EXPECT_LE(one.size(), 14U);
      }
    }
    EXPECT_EQ(hashes.size(), 12U);
    EXPECT_EQ(said.at("graphs"), 12);
    EXPECT_EQ(said.at("train"), train);
    EXPECT_EQ(said.at("schedules"), schedules);
    EXPECT_EQ(said.at("tokens"), tokens);
  }
}

TEST_F(TrajectoriesCommand, the_same_command_writes_the_same_bytes) {
  const std::string options = "trajectories --graphs 6 --schedules 8 --ops 6-12 --regret --seed ";
  const Finished first = run(options + "1 --out a.h5");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  EXPECT_THAT(first.out, StartsWith("a.h5: 6 graphs ("));
  run(options + "1 --out b.h5");
  run(options + "2 --out c.h5");
  EXPECT_EQ(read("a.h5"), read("b.h5"));
  EXPECT_NE(read("a.h5"), read("c.h5"));
  const learn::Trajectories all = learn::read_trajectories(path("a.h5").string(), oracle::walk_schemas());
  EXPECT_TRUE(all.manifest.has_regret);
}

TEST_F(TrajectoriesCommand, a_graph_comes_once_only) {
  // There are few mixed graphs of two nodes: a matmul and one of three ops, of three shapes.
  const Finished few = run("trajectories --graphs 9 --schedules 3 --ops 2-2 --out few.h5");
  EXPECT_EQ(few.exit_code, 0) << few.err;
  EXPECT_THAT(few.out, HasSubstr("graphs drawn before"));
  std::filesystem::remove(path("few.h5"));
  expect_refused("--graphs 100 --schedules 3 --ops 2-2 --out few.h5", "drawn only 9 differ");
}

TEST_F(TrajectoriesCommand, bad_options_are_refused) {
  expect_refused("", "--out: is missing; expected the name of a file to write");
  expect_refused("--graphs 0 --out x.h5", "--graphs: ");
  expect_refused("--schedules 1 --out x.h5", "--schedules: ");
  expect_refused("--kind dense --out x.h5",
                 "--kind: \"dense\" is unknown; expected one of mixed, memory-bound");
  expect_refused("--ops some --out x.h5", "--ops: \"some\"");
  expect_refused("--ops 12-8 --out x.h5", "--ops: \"12-8\" is no range; expected LOW-HIGH with LOW <= HIGH");
  expect_refused("--ops 1-8 --out x.h5", "--ops: ");
  expect_refused("--seed -1 --out x.h5", "--seed: ");
}

}  // namespace
}  // namespace fuselage
