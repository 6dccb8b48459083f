// `fuselage search` as an anytime solver, end to end: engines, budgets and Ctrl-C, the log, and the store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The graph of e2e/command.h with tensors of several sizes: what is retained under `seed` matters more.
std::string uneven_graph(int ops) {
  json graph = json::parse(dense_graph(ops));
  graph["name"] = fmt::format("uneven{}", ops);
  for (json& node : graph["nodes"]) node["shape"] = {128, 32 * (1 + node["id"].get<int>() * 7 % 5)};
  return graph.dump();
}

class SearchEngines : public CommandTest {
 protected:
  void expect_check_passes(const std::string& plan) const {
    const Finished check = run("check " + plan);
    EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  }
  json result_of(const std::string& arguments) const {
    return run_json("search " + arguments).at("results").at(0);
  }
};

constexpr const char* engines[] = {"auto", "exact", "beam", "mcts", "local", "greedy", "naive"};

TEST_F(SearchEngines, EachGivesAPlanThatPassesTheCheck) {
  write("uneven.json", uneven_graph(30));
  for (const char* engine : engines)
    for (const char* rules :
         {"--rules seed", "--rules seed-honest", "--rules physical", "--rules physical --order free"}) {
      const json result = result_of(
          fmt::format("uneven.json --engine {} {} --steps 3000 --out plans --no-store", engine, rules));
      if (result.at("found").get<bool>()) {
        expect_check_passes("plans/uneven30.json");
        EXPECT_LE(result.at("lower_bound"), result.at("objective")) << engine << rules;
      } else {
        EXPECT_EQ(engine, std::string("greedy")) << rules << ": only a baseline may get stuck";
      }
    }
}

TEST_F(SearchEngines, SaysWhichEngineFoundThePlan) {
  EXPECT_EQ(result_of("task4_mixed --engine mcts --no-store").at("found_by"), "mcts");
  EXPECT_EQ(result_of("task4_mixed --engine beam --no-store").at("found_by"), "beam");
  EXPECT_EQ(result_of("task4_mixed --engine beam --width 1000000 --no-store").at("proof"), "optimal");
  EXPECT_LE(result_of("task4_mixed --engine beam --width 1 --no-store").at("lower_bound"), 3285973.66);
  EXPECT_THAT(run("search task4_mixed --engine local --steps 1000 --no-store").out,
              HasSubstr("engine local"));
}

// ---- budgets

struct Target {
  const char* name;
  const char* make;  // shell: prints the graph
};
void PrintTo(const Target& target, std::ostream* out) {
  *out << target.name;
}

class Stops : public SearchEngines, public testing::WithParamInterface<Target> {
 protected:
  Stops() {
    const std::string graph = GetParam().make;
    if (graph.empty())
      write("graph.json", dense_graph(400));
    else
      EXPECT_EQ(shell("\"$FUSELAGE\" generate " + graph + " --out graph.json").exit_code, 0);
  }
  // Ends for that reason, with a plan that the check takes, and exit code 0 (run_json takes 1 as well).
  void expect_stop(const std::string& arguments, const std::string& reason) const {
    const Finished search = run("search graph.json --rules seed --no-store --json --out plans " + arguments);
    EXPECT_EQ(search.exit_code, 0) << arguments << search.err;
    const json result = json::parse(search.out).at("results").at(0);
    EXPECT_EQ(result.at("stop"), reason) << arguments;
    EXPECT_LT(result.at("lower_bound"), result.at("latency")) << arguments;
    EXPECT_GT(result.at("lower_bound"), 0) << arguments;
    expect_check_passes("plans/*.json");
  }
};

TEST_P(Stops, ByTime) {
  for (const char* engine : {"auto", "local"})
    expect_stop(fmt::format("--time 0.05 --width 1000000 --engine {}", engine), "time");
}
TEST_P(Stops, BySteps) {
  for (const char* engine : {"auto", "beam", "mcts"})
    expect_stop(fmt::format("--steps 1 --engine {}", engine), "steps");
}
TEST_P(Stops, ByMemoryOrSteps) {
  const json result = result_of("graph.json --rules seed --no-store --out plans --memory 64 --steps 300000");
  EXPECT_TRUE(result.at("stop") == "memory" || result.at("stop") == "steps") << result.dump();
  expect_check_passes("plans/*.json");
}
TEST_P(Stops, ByAnInterrupt) {
  const Finished search = shell(
      "\"$FUSELAGE\" search graph.json --rules seed --engine auto --no-store --json --out plans & search=$!; "
      "sleep 0.4; kill -INT $search; wait $search");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  EXPECT_EQ(json::parse(search.out).at("results").at(0).at("stop"), "cancelled");
  expect_check_passes("plans/*.json");
}

INSTANTIATE_TEST_SUITE_P(targets, Stops,
                         testing::Values(Target{"dense", ""},
                                         Target{"large", "--ops 10000 --difficulty expert --seed 3"}),
                         testing::PrintToStringParamName());

TEST_F(SearchEngines, AnInterruptBeforeThereIsAnythingStillGivesAPlan) {
  ASSERT_EQ(run("generate --ops 10000 --difficulty expert --out graph.json").exit_code, 0);
  const Finished search = shell(
      "\"$FUSELAGE\" search graph.json --no-store --out plans & search=$!; sleep 0.1; "
      "kill -INT $search; wait $search");
  // The signal may come before the search listens to it, which ends the process.
  if (search.exit_code == 0 && search.out.find("not proven") != std::string::npos)
    expect_check_passes("plans/*.json");
}

// ---- the same twice

TEST_F(SearchEngines, SeedAndThreadsGiveTheSamePlanFileTwice) {
  write("uneven.json", uneven_graph(60));
  for (const char* engine : {"auto", "exact", "beam", "mcts", "local"})
    for (const char* threads : {"1", "2"}) {
      const std::string command = fmt::format(
          "search uneven.json --rules physical --engine {} --threads {} --seed 5 --steps 12000 --no-store",
          engine, threads);
      EXPECT_EQ(run(command + " --out first").exit_code, 0);
      EXPECT_EQ(run(command + " --out second").exit_code, 0);
      EXPECT_EQ(shell("cmp first/uneven60.json second/uneven60.json").exit_code, 0) << command;
    }
}

TEST_F(SearchEngines, SeedsDiffer) {
  write("uneven.json", uneven_graph(60));
  const std::string command = "search uneven.json --engine mcts --steps 3000 --no-store --out ";
  for (const char* seed : {"1", "2", "3"}) run(command + seed + " --seed " + seed);
  EXPECT_NE(shell("cmp 1/uneven60.json 2/uneven60.json && cmp 1/uneven60.json 3/uneven60.json").exit_code, 0);
}

// ---- the log

TEST_F(SearchEngines, TheLogIsWellFormedAndAgreesWithTheAnswer) {
  write("uneven.json", uneven_graph(60));
  for (const char* engine : engines) {
    const Finished search =
        run(fmt::format("search uneven.json task2_residual --rules physical --engine {} --steps 60000 "
                        "--log log.jsonl --no-store --json",
                        engine));
    if (search.exit_code != 0) continue;  // a baseline that got stuck
    const json results = json::parse(search.out).at("results");
    for (const json& result : results) {
      double incumbent = std::numeric_limits<double>::infinity();
      double bound = 0;
      double steps = 0;
      double seconds = 0;
      for (const std::string& line : lines(read("log.jsonl"))) {
        const json event = json::parse(line);
        if (event.at("graph") != result.at("name")) continue;
        if (!event.at("incumbent").is_null()) {
          EXPECT_LE(event["incumbent"], incumbent) << line;
          incumbent = event["incumbent"];
        }
        EXPECT_GE(event.at("lower_bound"), bound) << line;
        EXPECT_GE(event.at("steps"), steps) << line;
        EXPECT_GE(event.at("seconds"), seconds) << line;
        bound = event["lower_bound"];
        steps = event["steps"];
        seconds = event["seconds"];
        EXPECT_LE(bound, incumbent * (1 + 1e-9)) << line;
        EXPECT_FALSE(event.at("engine").get<std::string>().empty());
      }
      const std::string what = fmt::format("{}, {}", engine, result.at("name").get<std::string>());
      if (engine == std::string("greedy") || engine == std::string("naive")) continue;  // no search, no log
      EXPECT_NEAR(incumbent, result.at("objective"), 1e-9 * incumbent) << what;
      EXPECT_LE(bound, result.at("lower_bound").get<double>() * (1 + 1e-9)) << what;
      EXPECT_GE(bound, result.at("lower_bound").get<double>() * (1 - 1e-9)) << what;
      EXPECT_LE(steps, result.at("steps")) << what;
    }
  }
}

TEST_F(SearchEngines, AnUnwritableLogIsAnErrorAndLosesNoAnswer) {
  const Finished search = run("search task1_chain --no-store --log missing/deep/log.jsonl");
  const bool made = search.exit_code == 0 && std::filesystem::exists(path("missing/deep/log.jsonl"));
  if (!made) {
    EXPECT_EQ(search.exit_code, 2);
    EXPECT_THAT(search.err, HasSubstr("log.jsonl"));
  }
  write("taken", "");
  const Finished refused = run("search task1_chain --no-store --log taken/log.jsonl");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("fuselage: error: taken/log.jsonl: "));
  EXPECT_THAT(refused.out, HasSubstr("111,806.72"));
}

// ---- the store

TEST_F(SearchEngines, TheStoreRemembers) {
  const std::string command = "task4_mixed --store best.sqlite";
  const json weak = result_of(command + " --engine naive");
  EXPECT_TRUE(weak.at("best_known").is_null());
  const json strong = result_of(command);
  EXPECT_EQ(strong.at("best_known"), weak.at("objective"));
  EXPECT_THAT(squeezed(run("search " + command).out), HasSubstr(" 0.807 0.00 9 optimal "));
  const json worse = result_of(command + " --engine naive");
  EXPECT_EQ(worse.at("best_known"), strong.at("objective"));
  EXPECT_THAT(squeezed(run("best list --store best.sqlite").out),
              AllOf(HasSubstr("task4_mixed 24 seed-honest fixed 3,285,973.65"), Not(HasSubstr(" naive "))));
  EXPECT_TRUE(result_of(command + " --rules physical").at("best_known").is_null()) << "another problem";
}

TEST_F(SearchEngines, TheDefaultStoreIsTheUsers) {
  EXPECT_THAT(squeezed(run("search task1_chain").out), HasSubstr(" 0.277 - 2 optimal "));
  EXPECT_THAT(squeezed(run("search task1_chain").out), HasSubstr(" 0.277 0.00 2 optimal "));
  EXPECT_THAT(run("best list").out, HasSubstr("task1_chain"));
}

TEST_F(SearchEngines, NoStoreLeavesNoFile) {
  EXPECT_EQ(run("search all --no-store").exit_code, 0);
  EXPECT_EQ(shell("[ ! -e \"$XDG_DATA_HOME\" ]").exit_code, 0);
  EXPECT_TRUE(list(".").empty());
}

TEST_F(SearchEngines, AStoreThatCannotBeUsedCostsANoteUnlessItWasNamed) {
  const Finished search =
      shell("touch taken && XDG_DATA_HOME=\"$PWD/taken\" \"$FUSELAGE\" search task1_chain < /dev/null");
  EXPECT_EQ(search.exit_code, 0);
  EXPECT_THAT(search.out, HasSubstr("111,806.72"));
  EXPECT_THAT(search.err, HasSubstr("the best-known store is not used"));
  const Finished named = run("search task1_chain --store taken/best.sqlite");
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.err, HasSubstr("taken/best.sqlite"));
}

// ---- bad values

TEST_F(SearchEngines, BadValuesAreRefused) {
  for (const char* options :
       {"--engine best", "--engine ''", "--width 0", "--width -1", "--width 1.5", "--seed -1", "--seed x",
        "--threads 0", "--threads 100000", "--steps 0", "--steps 1.5e0", "--time 0", "--time -1",
        "--time nan", "--time inf", "--memory 0", "--memory 99999999999999", "--store ''", "--order free"}) {
    const Finished search = run(fmt::format("search task1_chain {}", options));
    EXPECT_EQ(search.exit_code, 2) << options;
    EXPECT_EQ(search.out, "") << options;
    EXPECT_THAT(search.err, testing::StartsWith("fuselage: error: ")) << options;
    EXPECT_THAT(search.err, HasSubstr(std::string(options).substr(0, std::string(options).find(' '))))
        << options;
  }
}

}  // namespace
}  // namespace fuselage
