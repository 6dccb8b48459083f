// `fuselage search`, `evaluate`, `best`, `tasks` and `headroom` on grid problems, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "e2e/command.h"
#include "fuselage/grid/problem_json.h"
#include "grid_random.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A problem whose proof takes longer than any of these tests has time for.
std::string large_problem(int ops) {
  std::mt19937 random(13);
  return grid::problem_to_json(grid::random_instance(random, {.ops = ops}));
}

class GridSearch : public CommandTest {
 protected:
  GridSearch() {
    write("chain.json", R"({"widths": [128, 128, 128], "heights": [128, 128, 128], "inputs": [[0], [1]],
      "outputs": [[1], [2]], "base_costs": [100, 200], "op_types": ["Pointwise", "Pointwise"],
      "fast_memory_capacity": 60000, "slow_memory_bandwidth": 10, "native_granularity": [128, 128]})");
    write("large.json", large_problem(60));
  }
  // The plan file is legal, and takes what it states.
  void expect_plan(const std::string& problem, const std::string& plan, const std::string& rules = "") const {
    const Finished judged = run(fmt::format("evaluate {} {} {}", problem, plan, rules));
    EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
    EXPECT_THAT(judged.out, HasSubstr(" stated\n"));
  }
  json result_of(const std::string& arguments) const {
    return run_json("search " + arguments).at("results").at(0);
  }
  void expect_refused(const std::string& arguments, const std::string& message) const {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_EQ(refused.out, "") << arguments;
    EXPECT_THAT(refused.err, AllOf(StartsWith("fuselage: error: "), HasSubstr(message))) << arguments;
  }
};

constexpr const char* engines[] = {"auto", "exact", "beam", "mcts", "local", "greedy", "naive"};

TEST_F(GridSearch, a_wider_space_is_never_worse_where_it_is_exhausted) {
  const auto latency = [&](const std::string& space) {
    return result_of("task4_multistage --no-store --engine exact --steps 300000 --space " + space)
        .at("latency")
        .get<double>();
  };
  EXPECT_GE(latency("ops=1"), latency("ops=8"));
  EXPECT_GT(result_of("chain.json --no-store --engine greedy --space ops=1").at("latency"),
            result_of("chain.json --no-store --engine greedy").at("latency"));
}

TEST_F(GridSearch, space_refuses_what_it_does_not_know) {
  const std::pair<const char*, const char*> cases[] = {
      {"ops=0", "ops"},    {"ops=65", "ops"},        {"retain=3", "retain"}, {"ops", "key=value"},
      {"op=1", "unknown"}, {"ops=1,ops=2", "twice"}, {"starts=x", "starts"}, {"window=", "window"}};
  for (const auto& [space, message] : cases)
    expect_refused(std::string("search chain.json --no-store --space ") + space, message);
  expect_refused("search task4_mixed --space ops=3", "--space");
}

TEST_F(GridSearch, help_has_examples_of_both_families) {
  const Finished help = run("search --help");
  EXPECT_THAT(help.out, AllOf(HasSubstr("Examples:\n  fuselage search all\n"),
                              HasSubstr("Examples of grid problems:\n  fuselage search problem.json ")));
  for (const char* command : {"search", "headroom", "best", "best list", "best show", "evaluate", "tasks"})
    for (const std::string& line : lines(run(fmt::format("{} --help", command)).out))
      EXPECT_LE(line.size(), 110U) << line;
}

TEST_F(GridSearch, a_file_of_the_contest_is_told_by_its_fields) {
  const Finished search = run("search chain.json --out plan.json --threads 1");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  EXPECT_EQ(search.err, "");
  const auto rows = lines(squeezed(search.out));
  ASSERT_GT(rows.size(), 3U);
  EXPECT_EQ(rows[0], "problem ops naive greedy best bound known % kernels proof steps time");
  EXPECT_THAT(rows[1], StartsWith("chain 2 6,553.60 3,276.80 3,276.80 3,276.80 - 1 optimal "));
  EXPECT_THAT(search.out, AllOf(HasSubstr("rules mlsys, compute k, engine auto."),
                                EndsWith("1 plan written to plan.json\n")));
  expect_plan("chain.json", "plan.json");
  const json plan = json::parse(read("plan.json"));
  EXPECT_EQ(plan.at("subgraphs"), json::parse("[[0, 1]]"));
  EXPECT_EQ(plan.at("subgraph_latencies"), json::parse("[3276.8]"));
  EXPECT_EQ(shell("\"$FUSELAGE\" search - --no-store < chain.json").exit_code, 0);
}

TEST_F(GridSearch, every_engine_under_every_rule_set_gives_a_plan_that_the_judge_takes) {
  write("middle.json", large_problem(12));
  for (const char* engine : engines)
    for (const char* rules : {"--rules mlsys", "--compute native-k", "--compute k --co-consumers",
                              "--rules fusionops", "--rules fusionops-honest"}) {
      const std::string options = fmt::format("--engine {} --width 4 --seed 2 --steps 2000", engine);
      const json result = result_of(fmt::format("middle.json {} {} --out plan.json", rules, options));
      EXPECT_EQ(result.at("plan"), "plan.json");
      EXPECT_LE(result.at("lower_bound"), result.at("latency")) << engine << rules;
      EXPECT_EQ(result.at("gap") <= 1e-9, result.at("proof") == "optimal");
      EXPECT_EQ(result.at("error"), nullptr);
      expect_plan("middle.json", "plan.json", rules);
    }
}

TEST_F(GridSearch, the_json_has_every_figure) {
  const json all =
      run_json("search large.json chain.json --compute native-k --steps 500 --threads 1 --seed 4");
  EXPECT_EQ(all.at("compute"), "native-k");
  EXPECT_EQ(all.at("co_consumers"), false);
  EXPECT_EQ(all.at("engine"), "auto");
  EXPECT_EQ(all.at("seed"), 4);
  EXPECT_EQ(all.at("threads"), 1);
  EXPECT_EQ(all.at("budget").at("steps"), 500);
  ASSERT_EQ(all.at("results").size(), 2U);
  const json& large = all["results"][0];
  for (const char* field :
       {"name",           "ops",           "rules", "error",        "latency",    "lower_bound", "gap",
        "greedy_latency", "naive_latency", "score", "readme_score", "best_known", "kernels",     "found_by",
        "proof",          "stop",          "steps", "states",       "seconds",    "plan"})
    EXPECT_TRUE(large.contains(field)) << field;
  EXPECT_EQ(large.size(), 20U);
  EXPECT_EQ(large.at("rules"), "mlsys");
  EXPECT_EQ(large.at("score"), nullptr);
  EXPECT_EQ(large.at("stop"), "steps");
  EXPECT_EQ(all["results"][1].at("name"), "chain");
}

// ---- budgets

TEST_F(GridSearch, budgets_end_with_a_plan) {
  for (const char* budget : {"--time 0.05", "--steps 1", "--time 1e-6", "--memory 48 --steps 200000"}) {
    const Finished search = run(fmt::format("search large.json --no-store --out plan.json {}", budget));
    EXPECT_EQ(search.exit_code, 0) << budget << search.err;
    EXPECT_THAT(search.out, HasSubstr("large: not proven, ended by --")) << budget;
    expect_plan("large.json", "plan.json");
  }
}

TEST_F(GridSearch, an_interrupt_ends_with_a_plan) {
  const Finished search = shell(
      "\"$FUSELAGE\" search large.json chain.json --no-store --json --out plans & search=$!; sleep 1; "
      "kill -INT $search; wait $search");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  const json results = json::parse(search.out).at("results");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].at("stop"), "cancelled");
  EXPECT_THAT(search.err, HasSubstr("interrupted; 1 of 2 problems not searched"));
  expect_plan("large.json", "plans/large.json");
}

TEST_F(GridSearch, the_same_twice) {
  for (const char* engine : engines)
    for (const char* rules : {"mlsys", "fusionops-honest"}) {
      const std::string command =
          fmt::format("search large.json --no-store --rules {} --engine {} --seed 9 --threads 2 --steps 3000",
                      rules, engine);
      EXPECT_EQ(run(command + " --out first.json").exit_code, 0);
      EXPECT_EQ(run(command + " --out second.json").exit_code, 0);
      EXPECT_EQ(read("first.json"), read("second.json")) << command;
    }
}

TEST_F(GridSearch, the_log_has_incumbent_and_bound) {
  EXPECT_EQ(run("search large.json --no-store --steps 20000 --log log.jsonl").exit_code, 0);
  const auto log = lines(read("log.jsonl"));
  ASSERT_FALSE(log.empty());
  const json last = json::parse(log.back());
  EXPECT_EQ(last.at("graph"), "large");
  EXPECT_GT(last.at("incumbent"), last.at("lower_bound"));
  EXPECT_GT(last.at("lower_bound"), 0);
}

// ---- the tasks of fusionops

TEST_F(GridSearch, all_four_tasks_with_their_scores) {
  const Finished search = run("search all --family grid --steps 200000 --threads 1 --out plans");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  const auto rows = lines(squeezed(search.out));
  ASSERT_GT(rows.size(), 5U);
  EXPECT_EQ(rows[0], "problem ops naive greedy best bound known % score README kernels proof steps time");
  EXPECT_THAT(rows[1], AllOf(StartsWith("task1_linear 6 19,660.80 "), HasSubstr(" 3,900.00 "),
                             HasSubstr(" - 0.669 0.802 1 ")));
  EXPECT_THAT(rows[2], AllOf(StartsWith("task2_diamond 6 22,937.60 "), HasSubstr(" 0.553 0.712 ")));
  EXPECT_THAT(rows[3], AllOf(StartsWith("task3_matmul 4 18,022.40 "), HasSubstr(" 8,553.60 "),
                             HasSubstr(" 0.356 0.525 ")));
  EXPECT_THAT(rows[4], AllOf(StartsWith("task4_multistage 8 32,768.00 "), HasSubstr(" 9,534.40 "),
                             HasSubstr(" 0.549 0.709 ")));
  EXPECT_THAT(search.out, HasSubstr("rules fusionops-honest, engine auto."));
  for (const char* task : {"task1_linear", "task2_diamond", "task3_matmul", "task4_multistage"})
    expect_plan(task, fmt::format("plans/{}.json", task));
}

TEST_F(GridSearch, a_task_by_name_and_its_score_in_the_judgement) {
  const json result = result_of("task1_linear --rules fusionops --out plan.json");
  EXPECT_EQ(result.at("rules"), "fusionops");
  EXPECT_EQ(result.at("latency"), 3900);
  EXPECT_NEAR(result.at("score"), 0.669, 5e-4);
  EXPECT_NEAR(result.at("readme_score"), 0.802, 5e-4);
  EXPECT_EQ(result.at("naive_latency"), 19660.8);
  EXPECT_THAT(run("evaluate task1_linear plan.json").out,
              HasSubstr("(rules fusionops-honest)\nscore 0.669 of a naive latency of 19,660.80; as the "
                        "environment's README counts, 0.802\n"));
  const json judged = run_json("evaluate task1_linear plan.json --rules fusionops");
  EXPECT_NEAR(judged.at("score"), 0.669, 5e-4);
  EXPECT_EQ(judged.at("naive_latency"), 19660.8);
  EXPECT_FALSE(run_json("evaluate task1_linear plan.json --rules mlsys").contains("score"));
  // Rules that differ have a column.
  EXPECT_THAT(squeezed(run("search task1_linear chain.json --no-store").out),
              AllOf(HasSubstr("problem ops rules naive "), HasSubstr("chain 2 mlsys, compute k ")));
}

TEST_F(GridSearch, tasks_are_listed_and_written_with_the_others) {
  EXPECT_THAT(squeezed(run("tasks").out),
              AllOf(HasSubstr("\ntask4_mixed 24 "),
                    HasSubstr("\ntask3_matmul 4 3 128x128 50,000 10 15 18,022.40\n")));
  int grid_tasks = 0;
  for (const json& task : run_json("tasks")) grid_tasks += task.at("family") == "grid";
  EXPECT_EQ(grid_tasks, 4);
  EXPECT_EQ(run("tasks --write .").exit_code, 0);
  const std::string options = " --steps 5000 --threads 1 --no-store --rules fusionops-honest";
  const json from_file = result_of("task3_matmul.json" + options);
  EXPECT_EQ(from_file.at("latency"), result_of("task3_matmul" + options).at("latency"));
}

// ---- what is refused

TEST_F(GridSearch, options_of_the_other_family_are_refused) {
  for (const char* option : {"--price traffic=1", "--pareto traffic", "--order fixed", "--order free",
                             "--hardware machine.json", "--set slow_mem_bandwidth=2"})
    for (const char* target : {"chain.json", "task1_linear", "all --family grid"})
      expect_refused(fmt::format("search {} {}", target, option),
                     std::string(option).substr(0, std::string(option).find(' ')) +
                         ": is about walk graphs; expected no such option");
  for (const char* option : {"--compute k", "--compute native-k", "--co-consumers"}) {
    const std::string flag = std::string(option).substr(0, std::string(option).find(' '));
    expect_refused(fmt::format("search task1_chain {}", option), flag + ": is about grid problems");
    expect_refused(fmt::format("headroom task1_chain {}", option), flag + ": is about grid problems");
    expect_refused(fmt::format("search task1_linear {}", option),
                   flag + ": does not exist under the rules fusionops-honest");
    expect_refused(fmt::format("search chain.json --rules fusionops {}", option),
                   flag + ": does not exist under the rules fusionops");
  }
}

TEST_F(GridSearch, families_do_not_mix) {
  expect_refused("search chain.json task1_chain", "expected the same of all");
  expect_refused("search chain.json --rules seed",
                 "chain.json is of the grid family, but --rules seed of the walk family");
  expect_refused("search task1_chain --rules mlsys", "task1_chain is of the walk family");
  expect_refused("search all --family walk --rules mlsys", "--rules: mlsys is of the grid family");
  expect_refused("search chain.json --family walk", "chain.json is of the grid family");
  expect_refused("search all --family tree", "--family: \"tree\" is unknown; expected one of walk, grid");
  expect_refused("search chain.json --rules contest",
                 "--rules: \"contest\" is unknown; expected one of seed");
  expect_refused("search chain.json --compute much", "--compute: \"much\" is unknown; expected one of k");
}

TEST_F(GridSearch, bad_files_are_refused_with_field_and_value) {
  json problem = json::parse(read("chain.json"));
  const auto refused = [&](const std::string& field, const json& value, const std::string& message) {
    json changed = problem;
    changed[field] = value;
    write("bad.json", changed.dump());
    expect_refused("search bad.json", "bad.json: " + message);
  };
  refused("op_types", {"Pointwise", "Conv"}, "op_types[1]: \"Conv\" is no op type");
  refused("widths", {128, 0, 128}, "widths[1]: 0");
  refused("inputs", json::parse("[[0], [7]]"), "inputs[1][0]: 7 names no tensor");
  refused("nodes", json::array(), "");
  // Both are searched, and one has no schedule.
  problem["fast_memory_capacity"] = 1;
  write("small.json", problem.dump());
  const Finished search = run("search small.json chain.json --no-store");
  EXPECT_EQ(search.exit_code, 2);
  EXPECT_THAT(search.err, HasSubstr("small: op 0 alone fits fast memory of 1 elements at no granularity"));
  EXPECT_THAT(squeezed(search.out), AllOf(HasSubstr("small 2 - - - - - - refused - -\n"),
                                          HasSubstr("\nchain 2 6,553.60 3,276.80 3,276.80 ")));
}

TEST_F(GridSearch, a_plan_never_replaces_a_problem) {
  const std::string before = read("chain.json");
  expect_refused("search chain.json --out chain.json", "--out: chain.json is a target");
  expect_refused("search chain.json --out .", "--out: ./chain.json is a target");
  expect_refused("search chain.json large.json --out plan.json", "--out: plan.json is one file");
  EXPECT_EQ(read("chain.json"), before);
  EXPECT_EQ(run("search task1_chain --out walk.json --no-store").exit_code, 0);
  EXPECT_EQ(run("check walk.json").exit_code, 0) << "walk graphs have it too";
}

// ---- the store

TEST_F(GridSearch, the_store_remembers) {
  const std::string store = " --store s.sqlite";
  const json naive = result_of("chain.json --engine naive" + store);
  EXPECT_EQ(naive.at("best_known"), nullptr);
  EXPECT_EQ(result_of("chain.json" + store).at("best_known"), naive.at("latency"));
  EXPECT_THAT(squeezed(run("search chain.json --engine naive" + store).out),
              HasSubstr("chain 2 6,553.60 3,276.80 6,553.60 "));
  EXPECT_EQ(result_of("chain.json" + store).at("best_known"), 3276.8);
  for (const char* other : {"--compute native-k", "--co-consumers", "--rules fusionops"})
    EXPECT_EQ(result_of(fmt::format("chain.json {}{}", other, store)).at("best_known"), nullptr) << other;
}

TEST_F(GridSearch, best_lists_shows_exports_and_imports) {
  const std::string store = " --store s.sqlite";
  run("search chain.json task1_chain" + store);  // refused: two families
  run("search chain.json" + store);
  run("search chain.json --co-consumers" + store);
  run("search task1_linear" + store);
  run("search task1_chain" + store);
  const std::string list = squeezed(run("best list" + store).out);
  EXPECT_THAT(list, AllOf(HasSubstr("chain 2 mlsys, compute k - 3,276.80 3,276.80 0% optimal "),
                          HasSubstr("chain 2 mlsys, compute k, co-consumers - 3,276.80 "),
                          HasSubstr("task1_chain 8 seed-honest fixed 111,806.72 "),
                          HasSubstr("task1_linear 6 fusionops-honest - 3,900.00 ")));
  const Finished ambiguous = run("best show chain" + store);
  EXPECT_EQ(ambiguous.exit_code, 2);
  EXPECT_THAT(ambiguous.err, HasSubstr("chain, rules mlsys, compute k, co-consumers\n"));
  const Finished shown = run("best show task1_linear" + store);
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(
      shown.out,
      AllOf(StartsWith("task1_linear: 6 ops in 1 kernels; rules fusionops-honest\n"
                       "machine: 40,000 elements of fast memory, 10 elements per time unit, native 128 "
                       "x 128\nbest: 3,900.00, "),
            HasSubstr("\nkernel  ops")));
  const json record = run_json("best show task1_linear" + store);
  EXPECT_EQ(record.at("family"), "grid");
  EXPECT_EQ(record.at("rules"), "fusionops-honest");
  EXPECT_EQ(record.at("plan").at("solution").at("subgraphs"), json::parse("[[0, 1, 2, 3, 4, 5]]"));

  EXPECT_EQ(run("best export all.jsonl" + store).exit_code, 0);
  EXPECT_EQ(run("best import all.jsonl --store t.sqlite").out,
            "all.jsonl: 4 new, 0 better, 0 bound improved, 0 kept\n");
  EXPECT_EQ(run("best export again.jsonl --store t.sqlite").exit_code, 0);
  EXPECT_EQ(read("again.jsonl"), read("all.jsonl"));

  std::string wrong = read("all.jsonl");
  const std::size_t at = wrong.find("\"latency\":3276.8");
  ASSERT_NE(at, std::string::npos);
  wrong.replace(at, 16, "\"latency\":3276.7");
  write("wrong.jsonl", wrong);
  const Finished refused = run("best import wrong.jsonl --store u.sqlite");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("latency: 3276.7 is claimed; expected 3276.8"));
}

// ---- headroom

TEST_F(GridSearch, headroom_compares_the_engines) {
  const Finished table = run("headroom --family grid --steps 2000");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  const auto rows = lines(squeezed(table.out));
  ASSERT_GT(rows.size(), 4U);
  EXPECT_EQ(rows[0], "problem ops rules naive greedy exact beam mcts local auto bound gap % score");
  EXPECT_THAT(rows[1], StartsWith("task1_linear 6 fusionops-honest 19,660.80 "));
  EXPECT_THAT(rows[4], StartsWith("task4_multistage 8 fusionops-honest 32,768.00 "));

  const json all = run_json("headroom chain.json large.json --steps 2000 --compute native-k");
  EXPECT_EQ(all.at("compute"), "native-k");
  ASSERT_EQ(all.at("results").size(), 2U);
  EXPECT_EQ(all["results"][0].at("proven"), true);
  for (const json& row : all.at("results")) {
    ASSERT_EQ(row.at("engines").size(), 5U);
    for (const json& engine : row.at("engines")) {
      EXPECT_LE(row.at("latency"), engine.at("latency"));
      EXPECT_LE(row.at("lower_bound"), engine.at("latency"));
    }
  }
  EXPECT_EQ(
      lines(run("headroom task1_linear --rules fusionops --rules fusionops-honest --steps 100").out).size(),
      7U);
  expect_refused("headroom chain.json --set max_fusion_depth=1", "--set: is about walk graphs");
  expect_refused("headroom chain.json --rules seed", "chain.json is of the grid family");
  const Finished one = run("headroom chain.json --time 1");
  EXPECT_THAT(one.out, Not(HasSubstr("score")));
}

}  // namespace
}  // namespace fuselage
