// Bundles as a user meets them: trained from a seed, shown, verified, damaged, and as guides of searches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"
#include "walk_models.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

class Model : public CommandTest {
 protected:
  // Untrained: nothing here is about how good models are.
  void make_bundle(const std::string& name = "bundle", const std::string& metrics = R"({"walk": {"n": 1234,
      "gap": {"value": 0.5, "low": 0.25, "high": 1}, "x": 1.25}})") const {
    oracle::write_tiny_bundle(
        path(name).string(),
        {.program = "fuselage test", .seed = 3, .walk = true, .grid = true, .metrics = metrics});
  }
  void make_graph() const {
    ASSERT_EQ(run("generate --ops 14 --difficulty hard --seed 2 --out graph.json").exit_code, 0);
  }
  void expect_refused(const std::string& arguments, const std::string& message) const {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_EQ(refused.out, "") << arguments;
    EXPECT_THAT(refused.err, AllOf(StartsWith("fuselage: error: "), HasSubstr(message))) << arguments;
  }
  // Every file under a directory by its name in it.
  std::map<std::string, std::string> files(const std::string& name) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path(name)))
      if (entry.is_regular_file()) all[fs::relative(entry.path(), path(name)).string()] = slurp(entry.path());
    return all;
  }
};

TEST_F(Model, show_says_what_is_in_a_bundle) {
  make_bundle();
  const Finished shown = run("model show bundle");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, StartsWith("bundle: made by fuselage test, seed 3; families: walk, grid; "));
  const std::string text = squeezed(shown.out);
  for (const char* line : {"\nwalk/decisions.json ", "\nwalk/value.safetensors ", "\ngrid/decisions.json ",
                           "\nwalk.n 1,234", "\nwalk.gap 0.5000 [0.2500, 1.0000]", "\nwalk.x 1.2500"})
    EXPECT_THAT(text, HasSubstr(line));
  const json answer = run_json("model show bundle");
  EXPECT_EQ(answer.at("bundle"), "bundle");
  EXPECT_EQ(answer.at("seed"), 3);
  EXPECT_EQ(answer.at("walk"), true);
  EXPECT_EQ(answer.at("files").size(), 6U);
  EXPECT_EQ(answer.at("metrics").at("walk").at("gap").at("high"), 1);
}

// What was measured may be anything, as long as it is JSON.
TEST_F(Model, show_lives_with_odd_metrics) {
  make_bundle("bundle", R"({"a": {"value": "x", "low": [1]}, "b": {"value": 1, "low": 2, "high": null},
      "c": null, "d": [1, {"e": 2}], "f": {}, "": true, "g": {"value": 1, "low": 2, "high": 3, "h": 4}})");
  const Finished shown = run("model show bundle");
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(squeezed(shown.out), AllOf(HasSubstr("\nb.value 1"), HasSubstr("\ng.h 4")));
  EXPECT_EQ(run_json("model show bundle").at("metrics").at("d").at(1).at("e"), 2);
}

TEST_F(Model, verify_says_what_is_wrong) {
  make_bundle();
  const Finished fine = run("model verify bundle");
  EXPECT_EQ(fine.exit_code, 0) << fine.err;
  EXPECT_EQ(fine.out, "bundle: 6 files as sealed, and this program's features\n");
  EXPECT_EQ(run_json("model verify bundle"),
            json::parse(R"({"bundle": "bundle", "fits": true, "faults": []})"));

  write("bundle/walk/decisions.json", read("bundle/walk/decisions.json") + " ");
  fs::remove(path("bundle/README.md"));
  const Finished wrong = run("model verify bundle");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, AllOf(StartsWith("bundle/README.md: "), HasSubstr("\nbundle/walk/decisions.json: "),
                               HasSubstr("\nbundle: 2 faults\n")));
  const json answer = run_json("model verify bundle");
  EXPECT_EQ(answer.at("fits"), false);
  EXPECT_EQ(answer.at("faults").size(), 2U);
  // It can still be shown.
  EXPECT_EQ(run("model show bundle").exit_code, 0);
}

TEST_F(Model, what_is_no_bundle_is_refused) {
  make_bundle();
  write("file", "text");
  fs::create_directories(path("empty"));
  for (const char* command : {"model show ", "model verify "})
    for (const char* name : {"none", "empty", "file"})
      expect_refused(command + std::string(name), std::string(name) + "/bundle.json");
  write("bundle/bundle.json", read("bundle/bundle.json").substr(0, 300));
  expect_refused("model show bundle", "bundle/bundle.json");
  expect_refused("model verify bundle --json", "bundle/bundle.json");
  EXPECT_EQ(run("model").exit_code, 2);
  EXPECT_EQ(run("model show").exit_code, 2);
}

TEST_F(Model, guides_searches_of_walk_graphs) {
  make_bundle();
  make_graph();
  const double optimum =
      run_json("search graph.json --engine exact").at("results").at(0).at("latency").get<double>();
  for (const std::string engine : {"beam --width 8", "mcts --steps 3000", "auto"})
    for (const std::string how : {"", " --keep 2", " --keep 3 --margin 0.5", " --rank-by model",
                                  " --rank-by model --lookahead 2 --keep 2"}) {
      const std::string line = "search graph.json --threads 1 --no-store --guide bundle --engine " + engine +
                               how + " --out plan.json";
      const json answer = run_json(line);
      const json& result = answer.at("results").at(0);
      EXPECT_GE(result.at("latency").get<double>(), optimum * (1 - 1e-9)) << line;
      EXPECT_LE(result.at("lower_bound").get<double>(), optimum * (1 + 1e-9)) << line;
      if (engine == "auto") {
        EXPECT_EQ(result.at("proof"), "optimal") << line;
      }
      EXPECT_EQ(answer.at("guide").at("bundle"), "bundle");
      EXPECT_EQ(answer.at("guide").at("rank_by"), how.find("model") == std::string::npos ? "bound" : "model");
      EXPECT_EQ(run("check plan.json").exit_code, 0) << line;
    }
  EXPECT_EQ(run_json("search graph.json --no-store").at("guide"), nullptr);
  const auto steps = [&](const std::string& how) {
    return run_json("search graph.json --no-store --engine beam --width 8" + how)
        .at("results")
        .at(0)
        .at("steps")
        .get<int>();
  };
  EXPECT_LT(steps(" --guide bundle --keep 2"), steps("") / 2);
}

TEST_F(Model, guides_searches_of_grid_problems) {
  make_bundle();
  write("chain.json", R"({"widths": [128, 128, 128], "heights": [128, 128, 128], "inputs": [[0], [1]],
    "outputs": [[1], [2]], "base_costs": [1000, 100], "op_types": ["Pointwise", "Pointwise"],
    "fast_memory_capacity": 35000, "slow_memory_bandwidth": 10, "native_granularity": [128, 128]})");
  for (const char* engine : {"beam", "mcts", "auto"}) {
    const Finished found = run("search chain.json --no-store --steps 500 --guide bundle --keep 3 --engine " +
                               std::string(engine) + " --json");
    EXPECT_EQ(found.exit_code, 0) << found.err;
    EXPECT_EQ(json::parse(found.out).at("guide").at("bundle"), "bundle");
  }
  expect_refused("search chain.json --guide bundle --rank-by model", "--rank-by");
  oracle::seal_bundle(path("bundle").string(), {.program = "test", .walk = true}, "");
  expect_refused("search chain.json --guide bundle",
                 "--guide: bundle: has no models of the grid family; expected a bundle that has");
}

TEST_F(Model, options_of_guides_are_checked) {
  make_bundle();
  make_graph();
  const std::string missing =
      "--keep, --margin, --rank-by and --lookahead are about a guide; expected --guide DIR with them";
  for (const char* option : {"--keep 4", "--margin 2", "--rank-by model", "--lookahead 0"})
    expect_refused(std::string("search graph.json ") + option, missing);
  const std::string guided = "search graph.json --guide bundle ";
  expect_refused("search graph.json --guide ''", "--guide: is empty; expected the directory of a bundle");
  expect_refused(guided + "--lookahead 1",
                 "--lookahead: 1 without the model's word; expected --rank-by model");
  expect_refused(guided + "--lookahead 1 --rank-by bound", "expected --rank-by model with it");
  expect_refused(guided + "--rank-by luck", "--rank-by: \"luck\" is unknown; expected bound or model");
  expect_refused(guided + "--lookahead 9 --rank-by model", "--lookahead");
  expect_refused(guided + "--keep 0", "--keep");
  expect_refused(guided + "--margin -1", "--margin");
  expect_refused(guided + "--margin nan", "--margin");
  expect_refused(guided + "--rules physical --order free", "--guide");
  expect_refused(guided + "--pareto traffic", "--guide");
  for (const char* rules : {"seed", "physical"})
    expect_refused(guided + "--rules " + rules + " --engine beam", "expected no guide under");
  for (const char* engine : {"exact", "local", "greedy", "naive"})
    expect_refused(guided + "--engine " + engine, "takes none; expected --engine auto, beam or mcts");
  expect_refused("search graph.json --guide nowhere", "nowhere/bundle.json");
  write("bundle/walk/value.safetensors", read("bundle/walk/value.safetensors").substr(1));
  expect_refused(guided, "bundle/walk/value.safetensors");
}

// Small, and it ends within a second or two.
constexpr const char* tiny_config = R"({"bundle": {"graphs": 20, "schedules": 4, "min_ops": 4, "max_ops": 8,
  "grid_problems": 0}, "seed": 3,
  "model": {"latent": 8, "hidden": 8, "embedding": [8], "encoder": [8], "head": [8]},
  "training": {"epochs": 1}})";

TEST_F(Model, is_trained_from_a_seed_and_replaces_what_was_there) {
  write("config.json", tiny_config);
  make_bundle("out");
  write("out/mine.txt", "goes with the old one");
  fs::create_directories(path("out.old"));
  write("out.old/mine.txt", "stays");
  const Finished trained = run("train config.json --out out/");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(trained.out, read("out/README.md"));
  EXPECT_THAT(trained.out, AllOf(HasSubstr("# Learned guides of search"), HasSubstr("| mixed |")));
  std::vector<std::string> names;
  for (const auto& [name, content] : files("out")) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"README.md", "bundle.json", "schema.json", "walk/decisions.json",
                                             "walk/schedules.safetensors", "walk/value.safetensors"}));
  EXPECT_FALSE(fs::exists(path("out.partial")));
  EXPECT_EQ(read("out.old/mine.txt"), "stays");
  EXPECT_EQ(run("model verify out").exit_code, 0);
  const json answer = run_json("model show out");
  EXPECT_EQ(answer.at("walk"), true);
  EXPECT_EQ(answer.at("grid"), false);
  EXPECT_GT(answer.at("metrics").at("decisions").at("candidates"), 100);
  make_graph();
  EXPECT_EQ(run("search graph.json --no-store --engine beam --guide out --rank-by model").exit_code, 0);
}

// Whatever it was doing, the same command goes on to the same bytes.
TEST_F(Model, training_goes_on_where_it_was_interrupted) {
  write("config.json", tiny_config);
  ASSERT_EQ(run("train config.json --out whole").exit_code, 0);
  int interrupted = 0;
  for (int turn = 1; turn < 200 && !fs::exists(path("parts")); ++turn) {
    const Finished part =
        shell(fmt::format("timeout -s INT {} \"$FUSELAGE\" train config.json --out parts", 0.03 * turn));
    if (part.err.find("interrupted; the same command goes on") == std::string::npos) continue;
    ++interrupted;
    EXPECT_FALSE(fs::exists(path("parts")));
  }
  EXPECT_GT(interrupted, 0);
  EXPECT_EQ(files("parts"), files("whole"));
}

TEST_F(Model, training_touches_nothing_that_is_not_its_own) {
  write("config.json", tiny_config);
  fs::create_directories(path("mine"));
  write("mine/thesis.txt", "years of work");
  expect_refused("train config.json --out mine", "--out: mine is there and no bundle");
  write("file", "text");
  expect_refused("train config.json --out file", "--out: file is there and no bundle");
  fs::create_directories(path("new.partial"));
  write("new.partial/thesis.txt", "years of work");
  expect_refused("train config.json --out new", "--out: new.partial is there and no training that was begun");
  EXPECT_EQ(files("new.partial"), (std::map<std::string, std::string>{{"thesis.txt", "years of work"}}));
  EXPECT_EQ(files("mine"), (std::map<std::string, std::string>{{"thesis.txt", "years of work"}}));
  EXPECT_EQ(read("file"), "text");
  EXPECT_FALSE(fs::exists(path("mine.partial")));
  fs::create_directories(path("begun.partial"));
  write("begun.partial/config.json", tiny_config + std::string(" "));
  expect_refused("train config.json --out begun", "begun.partial: begun with another configuration");
  EXPECT_EQ(files("begun.partial").size(), 1U);
}

TEST_F(Model, training_refuses_what_it_does_not_understand) {
  const auto refused = [&](const std::string& bundle, const std::string& message) {
    write("bad.json", bundle);
    expect_refused("train bad.json --out out", message);
  };
  refused(R"({"bundle": {}, "data": ["x.h5"]})", "one of them: a bundle makes its own data");
  refused(R"({"bundle": {"graphs": 5}})", "bundle.graphs");
  refused(R"({"bundle": {"grids": 5}})", "bundle.grids");
  refused(R"({"bundle": {"schedules": 1}})", "bundle.schedules");
  refused(R"({"bundle": {"min_ops": 9, "max_ops": 8}})", "bundle.max_ops");
  refused(R"({"bundle": {"max_ops": 1000000}})", "bundle.max_ops");
  refused(R"({"bundle": {"grid_problems": 9}})", "bundle.grid_problems");
  refused(R"({"bundle": 7})", "bundle");
  EXPECT_FALSE(fs::exists(path("out")));
  EXPECT_FALSE(fs::exists(path("out.partial")));
}

}  // namespace
}  // namespace fuselage
