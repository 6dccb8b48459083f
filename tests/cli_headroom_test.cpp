// fuselage headroom, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HeadroomCommand : public CommandTest {
 protected:
  // The line of a text that begins with `start`, squeezed.
  static std::string row(const std::string& text, const std::string& start) {
    for (const std::string& line : lines(text))
      if (line.starts_with(start)) return squeezed(line);
    return {};
  }
  // As the tables print it.
  static std::string two_decimals(double value) {
    std::string text = fmt::format("{:.2f}", value);
    for (std::size_t at = text.find('.'); at > 3 + (value < 0 ? 1U : 0U);) text.insert(at -= 3, ",");
    return text;
  }
  static const json& named(const json& list, const std::string& name) {
    for (const json& one : list)
      if (one.at("name") == name) return one;
    throw std::logic_error(name + " is missing");
  }
  void expect_refused(const std::string& arguments, const std::string& message) const {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << arguments;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, AllOf(StartsWith("fuselage: error: "), HasSubstr(message)));
  }
};

TEST_F(HeadroomCommand, HelpSaysHow) {
  EXPECT_THAT(run("--help").out, HasSubstr("  headroom "));
  const Finished help = run("headroom --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:\n  fuselage headroom all\n"));
  for (const std::string& line : lines(help.out)) EXPECT_LE(line.size(), 110U) << line;
}

TEST_F(HeadroomCommand, BadInputIsRefused) {
  expect_refused("headroom", "TARGET is required; expected a task, all, a JSON file or -, or --claims");
  expect_refused("headroom task1_chain --rules honest",
                 "--rules: \"honest\" is unknown; expected one of seed, seed-honest, physical");
  expect_refused("headroom nothing", "\"nothing\" is no task and no file");
  expect_refused("headroom task1_chain --time 0", "--time: \"0\" is out of range");
  expect_refused("headroom task1_chain --steps -1", "--steps: -1 is out of range");
  expect_refused("headroom all --claims", "--claims: is about the five tasks; expected no TARGET");
  expect_refused("headroom --claims --rules seed", "--claims: is about the five tasks as they are");
  expect_refused("headroom task1_chain --set fast_mem_capacity=1", "holds no kernel of this graph");
}

TEST_F(HeadroomCommand, TableShowsPoliciesOptimumAndWorth) {
  const Finished all = run("headroom all");
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.err, "");
  EXPECT_THAT(squeezed(all.out),
              HasSubstr("task4_mixed: 24 ops; 655,360 B of fast memory, 6 B per cycle, 5000 cycles a launch, "
                        "up to 4 nodes a kernel\n"));
  EXPECT_THAT(
      squeezed(all.out),
      AllOf(HasSubstr("task4_mixed seed 0.309 0.573 0.670 0.016 0.670 constant 128, fusing 0.466 0.809\n"),
            HasSubstr("task4_mixed seed-honest - - 0.670 0.016 0.670 constant 128, fusing 0.466 0.807\n"),
            HasSubstr("unseen graphs seed -0.054 0.252 0.280 0.600 - - - -\n"),
            HasSubstr("task4_mixed physical 3,603,701.12 3,283,789.12 8.88 "),
            HasSubstr("heuristic, physical: illegal, kernel 3: working set 917504 B exceeds ")));
}

TEST_F(HeadroomCommand, OnlyTheRulesThatWereAskedFor) {
  const Finished two = run("headroom task2_residual --rules physical --rules seed --rules seed");
  EXPECT_EQ(two.exit_code, 0);
  EXPECT_THAT(row(two.out, "schedule"), "schedule seed gain % score physical gain % score");
  EXPECT_THAT(row(two.out, "constant 256, fusing"),
              "constant 256, fusing 1,910,476.16 5.73 0.286 1,910,476.16 5.73 0.286");
  EXPECT_THAT(two.out, Not(HasSubstr("seed-honest")));
}

// Every figure of the table is that of the JSON, rounded.
TEST_F(HeadroomCommand, JsonHasTheFiguresOfTheTable) {
  write("dense.json", dense_graph(7));
  for (const char* target : {"task4_mixed", "task5_adversarial", "dense.json"}) {
    const std::string table = run(fmt::format("headroom {}", target)).out;
    const json answer = run_json(fmt::format("headroom {}", target)).at("results").at(0);
    const json& rules = answer.at("rules");
    ASSERT_EQ(rules.size(), 3U);
    const auto expect_row = [&](const std::string& name, const auto& figures_of) {
      std::string cells = name;
      for (const json& one : rules) {
        const json& figures = figures_of(one);
        const bool known = !figures.at("latency").is_null();
        cells += known ? fmt::format(" {} {} {:.3f}", two_decimals(figures.at("latency")),
                                     two_decimals(100 * figures.at("improvement").get<double>()),
                                     figures.at("score").get<double>())
                       : " - - -";
      }
      EXPECT_THAT(row(table, name + " "), cells);
    };
    for (const json& policy : rules.at(0).at("policies")) {
      const std::string name = policy.at("name");
      expect_row(name, [&](const json& one) -> const json& { return named(one.at("policies"), name); });
    }
    expect_row("optimum", [](const json& one) -> const json& { return one.at("optimum"); });
    for (const char* name : {"no retention", "no fusion", "tile 128 only"}) {
      std::string cells = name;
      for (const json& one : rules) {
        const json& decision = named(one.at("decisions"), name);
        EXPECT_EQ(decision.at("proof"), "optimal");
        cells += fmt::format(" {} {}", two_decimals(decision.at("latency")),
                             two_decimals(100 * decision.at("loss").get<double>()));
      }
      EXPECT_EQ(row(table, name), cells);
    }
    EXPECT_EQ(answer.at("published").is_null(), std::string(target) == "dense.json");
  }
}

TEST_F(HeadroomCommand, OtherGraphsHaveNoPublishedScores) {
  const Finished changed = run("headroom task4_mixed --rules seed --set slow_mem_bandwidth=7");
  EXPECT_THAT(squeezed(changed.out), HasSubstr("task4_mixed seed - - "));
  EXPECT_THAT(changed.out, Not(HasSubstr("unseen graphs  ")));
}

TEST_F(HeadroomCommand, ABudgetThatEndsIsSaid) {
  write("dense.json", dense_graph(20));
  const Finished cut = run("headroom dense.json --steps 1 --rules physical");
  EXPECT_EQ(cut.exit_code, 0) << cut.err;
  EXPECT_THAT(cut.out, HasSubstr("\noptimum, physical: * not proven, at least "));
  EXPECT_THAT(row(cut.out, "optimum "), HasSubstr("*"));
  const json answer = run_json("headroom dense.json --steps 1 --rules physical");
  EXPECT_EQ(answer.at("budget").at("steps"), 1);
  EXPECT_EQ(answer.at("results").at(0).at("rules").at(0).at("optimum").at("proof"), "none");
}

// Of a graph without a schedule under physical the other rule sets are still told.
TEST_F(HeadroomCommand, AGraphWithoutAScheduleIsAnError) {
  write("wide.json",
        R"({"nodes": [{"id": 0, "op": "matmul", "shape": [128, 128], "inputs": []},
                      {"id": 1, "op": "relu", "shape": [128, 128], "inputs": [0]},
                      {"id": 2, "op": "add", "shape": [128, 128], "inputs": [0, 1]}],
            "hardware": {"fast_mem_capacity": 9000, "slow_mem_bandwidth": 8.0, "kernel_launch_cost": 4000.0,
                         "max_fusion_depth": 1}})");
  const Finished wide = run("headroom wide.json");
  EXPECT_EQ(wide.exit_code, 2);
  EXPECT_THAT(wide.err,
              HasSubstr("no schedule exists under the rules physical: node 2 needs a working set of "
                        "at least 12,288 B, but fast_mem_capacity is 9,000 B"));
  EXPECT_THAT(row(wide.out, "optimum "), testing::EndsWith(" - - -"));
  EXPECT_THAT(row(wide.out, "optimum "), Not(HasSubstr("optimum -")));
}

TEST_F(HeadroomCommand, ClaimsAreCheckedInEveryReading) {
  const Finished table = run("headroom --claims");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(squeezed(table.out),
              AllOf(HasSubstr("claim: retention makes a gap of 12 to 18 % on graphs with skips\n"),
                    HasSubstr("ops alone, as verified script (19.76) 12.08 (0.00) (-6.80) 18.30 holds\n"),
                    HasSubstr("best seed (0.00) 0.00 (0.00) 1.38 0.49 does not hold\n")));
  for (const std::string& line : lines(table.out)) EXPECT_LE(line.size(), 110U) << line;
  const json answer = run_json("headroom --claims");
  for (const json& claim : answer.at("claims")) {
    for (const json& one : claim.at("readings")) {
      std::string cells = one.at("name").get<std::string>() + " " + one.at("rules").get<std::string>();
      for (const char* task :
           {"task1_chain", "task2_residual", "task3_attention", "task4_mixed", "task5_adversarial"}) {
        const json& value = one.at("values").at(task);
        const bool in_scope =
            std::find(one.at("scope").begin(), one.at("scope").end(), task) != one.at("scope").end();
        const std::string text = value.is_null() ? "-" : two_decimals(100 * value.get<double>());
        cells += in_scope ? " " + text : " (" + text + ")";
      }
      cells += one.at("holds") ? " holds\n" : " does not hold";
      EXPECT_THAT(squeezed(table.out), HasSubstr("\n" + cells));
    }
  }
}

TEST_F(HeadroomCommand, SaysTheSameTwice) {
  EXPECT_EQ(run("headroom all").out, run("headroom all").out);
  EXPECT_EQ(run("headroom --claims").out, run("headroom --claims").out);
}

}  // namespace
}  // namespace fuselage
