// Plans that overflow fast memory where the rules allow it: every place that shows one says so, and names the
// rule set that doesn't allow it; plans that fit look as ever.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The convolution would take 50,000,000 cycles where it fits, and 1,000,000 where it doesn't.
constexpr const char* cheap = R"({"nodes": [
 {"id": 0, "op": "relu", "shape": [500, 500], "inputs": []},
 {"id": 1, "op": "conv2d", "shape": [500, 500], "inputs": [0], "flops": 50000000},
 {"id": 2, "op": "add", "shape": [500, 500], "inputs": [0, 1]}],
 "hardware": {"fast_mem_capacity": 1048576, "slow_mem_bandwidth": 8.0, "kernel_launch_cost": 5000.0, "max_fusion_depth": 8}})";

constexpr const char* words = "1 kernel overflows";
constexpr const char* remedy = "--rules physical is the rule set without that loophole";

class CliOverflow : public CommandTest {
 protected:
  CliOverflow() {
    write("cheap.json", cheap);
    for (const char* rules : {"seed", "seed-honest", "physical"})
      found_[rules] =
          run(fmt::format("search cheap.json --store s.sqlite --rules {0} --out {0}.json", rules));
  }

  // Once each, and nothing of the kind of a plan that fits.
  void expect_marked(const std::string& command, const Finished& marked, const Finished& plain) const {
    SCOPED_TRACE(command);
    const std::string text = marked.out + marked.err;
    EXPECT_THAT(text, AllOf(HasSubstr(words), HasSubstr(remedy)));
    EXPECT_EQ(text.find(remedy, text.find(remedy) + 1), std::string::npos) << text;
    EXPECT_THAT(plain.out + plain.err, AllOf(Not(HasSubstr("overflow")), Not(HasSubstr(remedy))));
  }

  std::map<std::string, Finished> found_;
};

TEST_F(CliOverflow, SearchCheckExplainExport) {
  for (const std::string rules : {"seed", "seed-honest"}) {
    expect_marked("search", found_.at(rules), found_.at("physical"));
    EXPECT_THAT(squeezed(found_.at(rules).out), HasSubstr(" 3 optimal, 1 kernel overflows 3 "));
    for (const char* command : {"check", "explain", "export --format csv", "report --out page.html"})
      expect_marked(command, run(fmt::format("{} {}.json", command, rules)),
                    run(fmt::format("{} physical.json", command)));
  }
  expect_marked("pareto", run("search cheap.json --no-store --pareto traffic"),
                run("search cheap.json --no-store --pareto traffic --rules physical"));
  expect_marked("headroom", run("headroom cheap.json --rules seed --steps 1000"),
                run("headroom cheap.json --rules physical --steps 1000"));
}

TEST_F(CliOverflow, Json) {
  const auto result = [&](const std::string& rules) {
    return run_json("search cheap.json --no-store --rules " + rules).at("results").at(0).at("overflows");
  };
  EXPECT_EQ(result("seed"), 1);
  EXPECT_EQ(result("seed-honest"), 1);
  EXPECT_EQ(result("physical"), 0);
  for (const auto& [file, count] : {std::pair("seed.json", 1), std::pair("physical.json", 0)}) {
    EXPECT_EQ(run_json(fmt::format("check {}", file)).at("plans").at(0).at("overflows"), count);
    EXPECT_EQ(run_json(fmt::format("explain {}", file)).at("overflows"), count);
    const Finished exported = run(fmt::format("export {} --format json", file));
    EXPECT_EQ(json::parse(exported.out).at("plan").at("overflows"), count);
  }
  const json headroom = run_json("headroom cheap.json --rules seed --steps 1000");
  EXPECT_THAT(headroom.dump(), HasSubstr("\"overflows\":1"));
  // tune proposes no plan that overflows on purpose.
  EXPECT_EQ(
      run_json("tune cheap.json --model none --no-store --trials 8").at("results").at(0).at("overflows"), 0);
  EXPECT_THAT(run_json("search cheap.json --no-store --pareto traffic").dump(), HasSubstr("\"overflows\":1"));
}

TEST_F(CliOverflow, TheStoreShowsIt) {
  const Finished table = run("best list --store s.sqlite");
  EXPECT_THAT(squeezed(table.out), AllOf(HasSubstr(" optimal, 1 kernel overflows "),
                                         HasSubstr(" 54,055,000.00 0% optimal "), HasSubstr(remedy)));
  for (const json& record : run_json("best list --store s.sqlite").at("records")) {
    EXPECT_EQ(record.at("overflows"), record.at("rules") == "physical" ? 0 : 1);
    const std::string key = record.at("key");
    EXPECT_EQ(run_json("best show " + key + " --store s.sqlite").at("overflows"), record.at("overflows"));
    EXPECT_EQ(run("best show " + key + " --store s.sqlite").out.find(words) == std::string::npos,
              record.at("rules") == "physical");
  }
}

TEST_F(CliOverflow, PlayEndsWithIt) {
  write("actions.txt",
        "{\"fuse_with_prev\": false, \"tile\": 32, \"retain\": [0]}\n"
        "{\"fuse_with_prev\": false, \"tile\": 128, \"retain\": []}\n"
        "{\"fuse_with_prev\": false, \"tile\": 32, \"retain\": []}\n");
  const Finished played = run("play cheap.json actions.txt --quiet");
  EXPECT_THAT(played.out, AllOf(HasSubstr(words), HasSubstr(remedy)));
  EXPECT_THAT(run("play cheap.json actions.txt --json").out, HasSubstr("\"overflows\":1"));
  write("small.txt", "{\"fuse_with_prev\": false, \"tile\": 32, \"retain\": []}\n");
  const Finished fits = run("play cheap.json small.txt --quiet");
  EXPECT_THAT(fits.out, Not(HasSubstr("overflow")));
}

TEST_F(CliOverflow, ThePageSaysSo) {
  run("report seed.json physical.json --out page.html");
  const std::string page = read("page.html");
  EXPECT_THAT(page, AllOf(HasSubstr("\"overflows\":1"), HasSubstr("\"overflows\":0")));
}

}  // namespace
}  // namespace fuselage
