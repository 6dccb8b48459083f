// `fuselage plot` as a user runs it, on what the other commands print and on the committed tables.
#include <gmock/gmock.h>

#include <filesystem>

#include "e2e/command.h"
#include "fuselage/core/csv.h"
#include "fuselage/core/files.h"
#include "fuselage/core/program.h"
#include "svg.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class PlotCommand : public CommandTest {
 protected:
  // Of --data, after the line of names.
  CsvTable data(const std::string& arguments) const {
    const Finished finished = run("plot " + arguments + " --data");
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return CsvTable(finished.out, "data", "panel,series");
  }
};

TEST_F(PlotCommand, headroom_bars_say_what_headroom_says) {
  ASSERT_EQ(shell("\"$FUSELAGE\" headroom all --rules seed --rules physical --json > h.json").exit_code, 0);
  const Finished drawn = run("plot headroom h.json --out h.svg");
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_EQ(drawn.out + drawn.err, "");
  const Svg svg(read("h.svg"));
  const json results = json::parse(read("h.json")).at("results");
  for (const json& task : results) {
    EXPECT_TRUE(svg.has_text(task.at("name")));
    const double optimum = task.at("rules").at(0).at("optimum").at("improvement");
    EXPECT_TRUE(svg.has_text(fmt::format("{:.1f}", 100 * optimum))) << optimum;
  }
  EXPECT_EQ(svg.curves.size(), 5U);
  EXPECT_THAT(svg.note, HasSubstr("Rules seed."));
  const CsvTable physical = data("headroom h.json --rules physical");
  const double best = results.at(3).at("rules").at(1).at("optimum").at("improvement");
  EXPECT_EQ(physical.rows().back().fields[1], "optimum");
  EXPECT_NEAR(physical.number(physical.rows().at(physical.rows().size() - 2), 3), 100 * best, 1e-9);
  // Published scores are of rules seed: beside another optimum they would be above it.
  for (const CsvRow& row : physical.rows()) EXPECT_THAT(row.fields[1], Not(HasSubstr("published")));
  ASSERT_EQ(run("plot headroom h.json --rules physical --out p.svg").exit_code, 0);
  EXPECT_EQ(
      Svg(read("p.svg")).note,
      "Rules physical. Left out: published scores (measured under seed); heuristic: illegal on task4_mixed.");
  EXPECT_THAT(run("plot headroom h.json --rules mlsys --data").err,
              HasSubstr("has no rule set \"mlsys\"; expected --rules to be one of \"seed\", \"physical\""));
}

TEST_F(PlotCommand, fronts_and_logs_come_from_search) {
  ASSERT_EQ(shell("\"$FUSELAGE\" search task4_mixed --pareto traffic --json > one.json && "
                  "\"$FUSELAGE\" search task4_mixed task3_attention --pareto traffic --json > two.json && "
                  "\"$FUSELAGE\" search all --no-store --quiet --engine mcts --log mcts.jsonl")
                .exit_code,
            0);
  const json points = json::parse(read("one.json")).at("results").at(0).at("points");
  const CsvTable one = data("pareto one.json");
  ASSERT_EQ(one.rows().size(), points.size());
  for (std::size_t i = 0; i < points.size();
       ++i) {  // a front begins with the fastest plan, a plot at the left
    const CsvRow& row = one.rows()[points.size() - 1 - i];
    EXPECT_EQ(one.number(row, 2), points[i].at("bytes_moved"));
    EXPECT_EQ(one.number(row, 3), points[i].at("latency"));
  }
  const CsvTable two = data("pareto two.json");
  EXPECT_EQ(two.rows().back().fields[2], "100");
  EXPECT_EQ(two.rows().back().fields[3], "100");
  ASSERT_EQ(run("plot pareto two.json --out two.svg").exit_code, 0);
  EXPECT_EQ(Svg(read("two.svg")).curves.size(), 4U);
  const CsvTable log = data("convergence mcts.jsonl");
  EXPECT_EQ(log.rows().front().fields[1], "mcts");
  ASSERT_EQ(run("plot convergence mcts.jsonl --out - > mcts.svg").exit_code, 0);
  EXPECT_TRUE(Svg(read("mcts.svg")).has_text("mcts"));
}

TEST_F(PlotCommand, ranking_metrics_come_from_rank_eval) {
  write("s.csv", "group,cost,mine,theirs\na,10,3,1\na,12,2,2\na,15,1,3\nb,1,2,1\nb,2,1,2\n");
  const json figures = run_json("rank-eval s.csv").at("rankers").at(0).at("figures").at("tau");
  ASSERT_EQ(shell("\"$FUSELAGE\" rank-eval s.csv --json > r.json").exit_code, 0);
  const CsvTable table = data("ranking r.json --metric tau --metric regret");
  ASSERT_EQ(table.rows().size(), 4U);
  EXPECT_EQ(table.rows()[0].fields[2], "mine");
  EXPECT_EQ(table.number(table.rows()[0], 3), figures.at("value"));
  EXPECT_EQ(table.number(table.rows()[0], 5), figures.at("high"));
}

TEST_F(PlotCommand, one_ranker_is_drawn) {
  write("scores.csv", "group,cost,score\na,10,3\na,12,2\na,15,1\nb,1,2\nb,2,1\n");
  ASSERT_EQ(shell("\"$FUSELAGE\" rank-eval scores.csv --json > rank.json").exit_code, 0);
  const Finished drawn = run("plot ranking rank.json --out r.svg");
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_TRUE(Svg(read("r.svg")).has_text("score"));
  EXPECT_FALSE(Svg(read("r.svg")).has_text("rank"));
}

TEST_F(PlotCommand, hostile_names_run_nothing) {
  write("t.csv",
        "x,y,who\n1,2,\"'; system(\"\"touch touched\"\"); '\"\n2,2,`touch touched`\n3,2,$(touch touched)\n");
  ASSERT_EQ(run("plot lines t.csv --x x --y y --by who --out t.svg --title '`touch touched`'").exit_code, 0);
  EXPECT_EQ(list("."), (std::vector<std::string>{"t.csv", "t.svg"}));
  EXPECT_TRUE(Svg(read("t.svg")).has_text("'; system(\"touch touched\"); '"));
}

// Linux calls a file whatever one likes.
TEST_F(PlotCommand, file_names_need_be_no_text) {
  write("t.csv", "x,y\n1,2\n2,3\n");
  const std::string odd = "bad\xFF\n\xE2\x80\xAE<b>";
  write(odd + ".csv", "x,y\n1,2\n2,3\n");
  const Finished drawn = run("plot lines t.csv '" + odd + ".csv' --x x --y y --out -");
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_TRUE(Svg(drawn.out).has_text("bad\uFFFD <b>"));
}

TEST_F(PlotCommand, settings_of_the_user_change_nothing) {
  write("t.csv", "x,y\n1,2.5\n2,3.5\n");
  write(".gnuplot", "set title 'mine'\nset output 'elsewhere'\n");
  ASSERT_EQ(run("plot lines t.csv --x x --y y --out a.svg").exit_code, 0);
  ASSERT_EQ(
      shell("HOME=. LC_ALL=de_DE.UTF-8 GNUTERM=dumb \"$FUSELAGE\" plot lines t.csv --x x --y y --out b.svg")
          .exit_code,
      0);
  EXPECT_EQ(read("a.svg"), read("b.svg"));
}

TEST_F(PlotCommand, without_gnuplot_it_says_what_to_install) {
  write("t.csv", "x,y\n1,2\n");
  const Finished missing = shell("PATH=/nowhere \"$FUSELAGE\" plot lines t.csv --x x --y y --out t.svg");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("gnuplot: not found; expected it to be installed (Debian's package "
                                     "gnuplot-nox)"));
  EXPECT_EQ(list("."), (std::vector<std::string>{"t.csv"}));
  EXPECT_EQ(shell("PATH=/nowhere \"$FUSELAGE\" plot lines t.csv --x x --y y --data").exit_code, 0);
}

TEST_F(PlotCommand, bad_usage_is_refused) {
  write("t.csv", "x,y\n1,2\n");
  write("bad.json", "{\"results\": [{\"name\": 7}]}");
  const std::pair<const char*, const char*> cases[] = {
      {"pie t.csv --data", "\"pie\" is no kind of plot; expected one of convergence, headroom"},
      {"lines t.csv --x x --y y", "expected --out FILE, or --data"},
      {"lines t.csv --x x --y y --data --out t.svg", "expected --out FILE, or --data"},
      {"lines t.csv --x x --data", "expected --x COLUMN and --y COLUMN"},
      {"lines t.csv --x x --y y --metric tau --data", "--metric: is about ranking"},
      {"budget t.csv --log-x --data", "--log-x: is about lines; expected no such option with budget"},
      {"budget t.csv --data", "no column \"graph\""},
      {"lines t.csv --x x --y y --where x --data", "--where: \"x\" is no condition"},
      {"lines t.csv --x x --y y --where '!=1' --data", "--where: \"!=1\" is no condition"},
      {"lines t.csv --x x --y y --width 10 --out t.svg", "--width: "},
      {"lines t.csv --x x --y y --height 150 --title t --out t.svg", ""},
      {"lines none.csv --x x --y y --data", "none.csv: cannot be opened"},
      {"convergence t.csv --x minutes --data", "--x: \"minutes\" is unknown"},
      {"lines t.csv t.csv --x x --y y --data", "\"t.csv\" is given twice; expected each file once"},
      {"headroom bad.json --data", "bad.json: results[0]"},
      {"pareto t.csv --data", "t.csv"},
      {"ranking bad.json --data", "bad.json: rankers: this field is missing"},
  };
  for (const auto& [arguments, words] : cases) {
    const Finished finished = run(std::string("plot ") + arguments);
    EXPECT_EQ(finished.exit_code, *words == '\0' ? 0 : 2) << arguments << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(words)) << arguments;
  }
  const Finished help = run("plot --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("fuselage plot lines scaling.csv"));
  // As the axes say.
  EXPECT_THAT(help.out, HasSubstr("(plan - bound) / plan"));
  EXPECT_THAT(help.out, HasSubstr("(plan - best) / best"));
}

// The pictures beside the tables are what the commands in their README.md draw, to the byte with the gnuplot
// that drew them.
TEST_F(PlotCommand, committed_pictures_are_what_the_tables_say) {
  if (run_program({.arguments = {"gnuplot", "--version"}, .package = "gnuplot-nox"}, "") !=
      "gnuplot 5.4 patchlevel 4\n")
    GTEST_SKIP() << "another gnuplot";
  const std::filesystem::path root = std::filesystem::path(FUSELAGE_SOURCE_DIR) / "experiments";
  int pictures = 0;
  for (const auto& experiment : std::filesystem::directory_iterator(root)) {
    const std::filesystem::path page = experiment.path() / "README.md";
    if (!std::filesystem::exists(page)) continue;
    for (const std::string& line : lines(slurp(page))) {
      const std::size_t out = line.find(" --out ");
      if (!line.starts_with("fuselage plot ") || out == std::string::npos) continue;
      ++pictures;
      const Finished drawn = shell(
          fmt::format("cd '{}' && \"$FUSELAGE\" {} --out -", experiment.path().string(),
                      line.substr(std::string("fuselage ").size(), out - std::string("fuselage ").size())));
      EXPECT_EQ(drawn.exit_code, 0) << line << drawn.err;
      const std::string picture = line.substr(out + std::string(" --out ").size());
      EXPECT_TRUE(drawn.out == slurp(experiment.path() / picture)) << line << " draws another picture";
      EXPECT_FALSE(Svg(drawn.out).curves.empty()) << line;
    }
  }
  EXPECT_GE(pictures, 9);
}

}  // namespace
}  // namespace fuselage
