// `fuselage train` as a user runs it, on a small set of trajectories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"
#include "fuselage/core/files.h"
#include "fuselage/learn/trajectory_file.h"
#include "fuselage/oracle/trajectories.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Twelve graphs of the training split, three for validation, four for the test.
void write_data(const std::string& path, std::uint64_t first_seed, const std::string& rules = "seed-honest") {
  learn::TrajectoryWriter writer(path, {.program = "test", .family = "walk", .rules = rules, .kind = "mixed"},
                                 oracle::walk_schemas());
  std::array<int, 3> wanted = {12, 3, 4};
  for (std::uint64_t seed = first_seed; wanted != std::array<int, 3>{}; ++seed) {
    const Workload workload = oracle::draw_workload({.min_ops = 8, .max_ops = 12}, seed);
    const auto group = oracle::trajectories(workload, {.schedules = 16, .seed = seed});
    if (!group || wanted[static_cast<std::size_t>(group->split)] == 0) continue;
    --wanted[static_cast<std::size_t>(group->split)];
    writer.add(*group);
  }
  writer.finish();
}

class Train : public CommandTest {
 protected:
  Train() {
    static const std::string data = [] {
      const std::string path = testing::TempDir() + "fuselage_train_" + std::to_string(getpid()) + ".h5";
      write_data(path, 1);
      const std::string bytes = read_file(path);
      std::filesystem::remove(path);
      return bytes;
    }();
    write("data.h5", data);
    write("config.json", R"({"data": ["data.h5"], "seed": 5,
      "model": {"latent": 16, "embedding": [16], "head": [16], "encoder": [8]},
      "training": {"epochs": 12, "groups_a_batch": 4, "rate": 0.01}})");
  }
  void expect_refused(const std::string& config, const std::string& message) {
    write("bad.json", config);
    const Finished refused = run("train bad.json --out model");
    EXPECT_EQ(refused.exit_code, 2) << config;
    EXPECT_EQ(refused.out, "") << config;
    EXPECT_THAT(refused.err, AllOf(StartsWith("fuselage: error: "), HasSubstr(message))) << config;
  }
};

TEST_F(Train, learns_to_rank_schedules_of_graphs_it_has_not_seen) {
  const json answer = run_json("train config.json --out model");
  EXPECT_EQ(answer.at("epochs"), 12);
  EXPECT_EQ(answer.at("splits").at("train").at("graphs"), 12);
  EXPECT_EQ(answer.at("splits").at("test").at("schedules"), 4 * 16);
  EXPECT_GT(answer.at("splits").at("train").at("accuracy"), 0.85);
  EXPECT_GT(answer.at("splits").at("test").at("accuracy"), 0.75);
  // What it wrote says the same.
  const json judged = json::parse(run("rank-eval model/scores.csv --json").out);
  EXPECT_NEAR(judged.at("rankers").at(0).at("figures").at("pairwise").at("value").get<double>(),
              answer.at("splits").at("test").at("accuracy").get<double>(), 1e-9)
      << judged;
  EXPECT_EQ(lines(read("model/training.csv")).size(), 13U);
  EXPECT_FALSE(std::filesystem::exists(path("model/checkpoint.safetensors")));
}

TEST_F(Train, the_same_configuration_gives_the_same_model) {
  run("train config.json --out one");
  run("train config.json --out two");
  for (const char* file : {"model.safetensors", "scores.csv", "training.csv"})
    EXPECT_EQ(read(std::string("one/") + file), read(std::string("two/") + file)) << file;
  EXPECT_THAT(
      run("train config.json --out one").out,
      AllOf(StartsWith("split       graphs  schedules  accuracy\n"), HasSubstr("\nvalidation       3")));
}

TEST_F(Train, what_is_not_understood_is_refused_by_name) {
  expect_refused("{}", "data");
  expect_refused(R"({"data": []})", "data");
  expect_refused(R"({"data": ["data.h5"], "epochs": 3})", "epochs");
  expect_refused(R"({"data": ["data.h5"], "model": {"transition": "lstm"}})", "gru, residual or transh");
  expect_refused(R"({"data": ["data.h5"], "model": {"latent": 0}})", "model.latent");
  expect_refused(R"({"data": ["data.h5"], "model": {"embedding": []}})", "model.embedding");
  expect_refused(R"({"data": ["data.h5"], "training": {"rate": -1}})", "training.rate");
  expect_refused(R"({"data": ["data.h5"], "training": {"schedules_a_group": 1}})", "schedules_a_group");
  expect_refused(R"({"data": ["none.h5"]})", "none.h5");
  write("half.h5", read("data.h5").substr(0, 3000));
  expect_refused(R"({"data": ["half.h5"]})", "half.h5");
  write_data(path("other.h5").string(), 1000, "seed");
  expect_refused(R"({"data": ["data.h5", "other.h5"]})", "other.h5");
  EXPECT_FALSE(std::filesystem::exists(path("model/model.safetensors")));
}

TEST_F(Train, a_place_that_cannot_be_written_is_known_at_once) {
  write("taken", "");
  const Finished refused = run("train config.json --out taken");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(StartsWith("fuselage: error: "), HasSubstr("taken")));
}

// Whatever step it is stopped at, the same command goes on to the same bytes.
TEST_F(Train, goes_on_where_it_was_interrupted) {
  write("longer.json", R"({"data": ["data.h5"], "model": {"latent": 16, "embedding": [16], "head": [16]},
    "training": {"epochs": 600, "groups_a_batch": 4}})");
  run("train longer.json --out whole");
  int interrupted = 0;
  for (int i = 0; i < 40 && !std::filesystem::exists(path("parts/model.safetensors")); ++i) {
    const Finished part = shell("timeout -s INT 0.5 \"$FUSELAGE\" train longer.json --out parts");
    if (part.err.find("interrupted") != std::string::npos) ++interrupted;
  }
  if (!std::filesystem::exists(path("parts/model.safetensors"))) run("train longer.json --out parts");
  EXPECT_GT(interrupted, 0);
  for (const char* file : {"model.safetensors", "scores.csv", "training.csv"})
    EXPECT_EQ(read(std::string("whole/") + file), read(std::string("parts/") + file)) << file;
}

TEST_F(Train, a_graph_in_two_files_counts_once) {
  write("twice.json", R"({"data": ["data.h5", "data.h5"], "training": {"epochs": 1}})");
  const Finished finished = run("train twice.json --out model --json");
  EXPECT_THAT(finished.err, HasSubstr("19 graphs are in two files"));
  EXPECT_EQ(json::parse(finished.out).at("splits").at("train").at("graphs"), 12);
}

}  // namespace
}  // namespace fuselage
