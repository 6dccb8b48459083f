// fuselage rank-eval, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class RankEval : public CommandTest {
 protected:
  // Of group a `good` ranks all, `bad` none; of b `good` has one pair of three wrong and misses the best.
  const std::string csv_ =
      "group,cost,good,bad\na,10,3,1\nb,100,2,1\na,20,2,2\nb,150,3,2\na,40,1,3\nb,200,1,3\n";

  std::string refusal(const std::string& csv) const {
    write("bad.csv", csv);
    const Finished finished = run("rank-eval bad.csv");
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    EXPECT_EQ(finished.out, "");
    return finished.err;
  }
};

TEST_F(RankEval, PrintsOneRowARanker) {
  write("scores.csv", csv_);
  const Finished finished = run("rank-eval scores.csv");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const auto rows = lines(squeezed(finished.out));
  ASSERT_EQ(rows.size(), 8U) << finished.out;
  EXPECT_EQ(rows[0], "ranker pairwise tau top-1 top-5 regret % NDCG@5");
  EXPECT_THAT(rows[1],
              HasSubstr("good 0.8333 [0.6667, 1.0000] 0.6667 [0.3333, 1.0000] 0.6875 [0.6667, 1.0000] "
                        "1.0000 [1.0000, 1.0000] 25.00 [0.00, 50.00] "));
  EXPECT_THAT(rows[2], HasSubstr("bad 0.0000 [0.0000, 0.0000] -1.0000 [-1.0000, -1.0000] 0.4583"));
  EXPECT_EQ(rows[4], "minus good pairwise tau top-1 top-5 regret % NDCG@5");
  EXPECT_THAT(rows[5], HasSubstr("bad -0.8333 [-1.0000, -0.6667] -1.6667 [-2.0000, -1.3333] -0.2292"));
  EXPECT_EQ(rows[7], "2 groups, 6 rows; 95 % intervals of 2,000 resamples, seed 0");
}

TEST_F(RankEval, TheJsonHasEveryFigure) {
  write("scores.csv", csv_ + "single,5,1,1\n\"one, cost\",7,1,2\n\"one, cost\",7,2,1\n");
  const json all = run_json("rank-eval scores.csv --seed 9 --resamples 50");
  EXPECT_EQ(all.at("source"), "scores.csv");
  EXPECT_EQ(all.at("rows"), 9);
  EXPECT_EQ(all.at("groups"), 2);
  EXPECT_EQ(all.at("groups_left_out"), 2);
  EXPECT_EQ(all.at("resamples"), 50);
  EXPECT_EQ(all.at("seed"), 9);
  EXPECT_EQ(all.at("confidence"), 0.95);
  ASSERT_EQ(all.at("rankers").size(), 2U);
  const json& good = all["rankers"][0];
  EXPECT_EQ(good.at("ranker"), "good");
  EXPECT_EQ(good.at("difference_to_first"), nullptr);
  EXPECT_DOUBLE_EQ(good.at("figures").at("top_1").at("value"), 110.0 / 160);
  for (const char* name : {"pairwise", "tau", "top_1", "top_5", "regret", "ndcg_5"}) {
    const json& figure = good["figures"].at(name);
    EXPECT_LE(figure.at("low"), figure.at("value")) << name;
    EXPECT_GE(figure.at("high"), figure.at("value")) << name;
  }
  EXPECT_DOUBLE_EQ(all["rankers"][1].at("difference_to_first").at("regret").at("value"), 2.0 - 0.25);
  EXPECT_THAT(run("rank-eval scores.csv").out,
              HasSubstr("2 groups, 9 rows, 2 groups with nothing to rank left out;"));
}

TEST_F(RankEval, SameSeedSameAnswer) {
  write("scores.csv", csv_ + "c,3,1,2\nc,4,2,1\nd,3,9,2\nd,4,2,1\n");
  const std::string once = run("rank-eval scores.csv --json --resamples 30").out;
  EXPECT_EQ(run("rank-eval scores.csv --json --resamples 30").out, once);
  EXPECT_EQ(
      shell("\"$FUSELAGE\" rank-eval - --json --resamples 30 < scores.csv | sed s/stdin/scores.csv/").out,
      once);
  EXPECT_NE(run("rank-eval scores.csv --json --resamples 30 --seed 1").out, once);
}

TEST_F(RankEval, WeightsAndPredictedCosts) {
  write("scores.csv",
        "cost,weight,group,predicted\r\n10,3,a,1.5\r\n20,3,a,1.25\r\n100,1,b,7\r\n50,1,b,+5e0\r\n");
  const json lower = run_json("rank-eval scores.csv --lower-is-better");
  EXPECT_DOUBLE_EQ(lower.at("rankers")[0].at("figures").at("top_1").at("value"), 80.0 / 110);
  const json higher = run_json("rank-eval scores.csv");
  EXPECT_DOUBLE_EQ(higher.at("rankers")[0].at("figures").at("top_1").at("value"), 80.0 / 130);
}

TEST_F(RankEval, TakesWhatSpreadsheetsWrite) {
  write("scores.csv",
        "\xEF\xBB\xBF\"group\",\"cost\",\"my \"\"best\"\" ranker\"\r\n\r\na,1, 2 \r\na,2,1\r\n");
  const json all = run_json("rank-eval scores.csv");
  EXPECT_EQ(all.at("rankers")[0].at("ranker"), "my \"best\" ranker");
  EXPECT_EQ(all.at("rankers")[0].at("figures").at("pairwise").at("value"), 1);
}

// Whatever is taken, no figure is infinite or none.
TEST_F(RankEval, FiguresAreFinite) {
  const auto figures = [&](const std::string& rows) {
    write("scores.csv", "group,weight,cost,one,two\n" + rows);
    const json all = run_json("rank-eval scores.csv --resamples 50");
    for (const json& ranker : all.at("rankers"))
      for (const char* set : {"figures", "difference_to_first"})
        for (const json& figure : ranker.at(set).is_null() ? json::object() : ranker.at(set))
          for (const json& value : figure) EXPECT_TRUE(value.is_number()) << ranker;
    const Finished table = run("rank-eval scores.csv --resamples 50");
    EXPECT_EQ(table.exit_code, 0);
    EXPECT_THAT(table.out, testing::Not(testing::ContainsRegex("[^a-z](inf|nan)")));
  };
  figures(
      "a,1e-120,1e120,1e308,5e-324\na,1e-120,1e-120,-1e308,0\n"
      "b,1e120,1e120,5e-324,1\nb,1e120,1e-120,0,1\nc,1e120,1e120,0,2\nc,1e120,5e119,1,1\n");
  figures("a,1e120,1e120,1,1\na,1e120,1e-120,2,0\n");
  EXPECT_THAT(refusal("group,cost,score\na,1e308,1\na,1e307,2\na,5e-324,0\n"),
              HasSubstr("bad.csv: line 2, column 2 (\"cost\"): \"1e308\" is wrong; expected a number from "
                        "1e-120 to 1e+120"));
  EXPECT_THAT(refusal("group,cost,weight,score\na,1,1e121,1\na,2,1e121,1\n"),
              HasSubstr("line 2, column 3 (\"weight\"): \"1e121\" is wrong; expected a number from"));
  EXPECT_THAT(refusal("group,cost,score\ncaf\xe9,1,1\n"),
              HasSubstr("bad.csv: line 2, column 4: the byte 0xE9"));
}

TEST_F(RankEval, RefusesBadFiles) {
  EXPECT_EQ(refusal(""),
            "fuselage: error: bad.csv: is empty; expected a first line such as group,cost,score\n");
  EXPECT_EQ(refusal("group,cost,score\na,1,2\na,x,3\n"),
            "fuselage: error: bad.csv: line 3, column 2 (\"cost\"): \"x\" is wrong; expected a finite number "
            "> 0\n");
  EXPECT_THAT(refusal("group,cost,score\n\na,0,2\n"),
              HasSubstr("line 3, column 2 (\"cost\"): \"0\" is wrong"));
  for (const char* score : {"nan", "inf", "-inf", "", "1e999", "1 2", "0x10", "1,", "++1", "+-1"})
    EXPECT_THAT(refusal(fmt::format("group,cost,score\na,1,1\na,2,{}\n", score)),
                HasSubstr("bad.csv: line 3"))
        << score;
  EXPECT_THAT(refusal("group,cost,score\na,1,nan\n"),
              HasSubstr("line 2, column 3 (\"score\"): \"nan\" is wrong; expected a finite number\n"));
  EXPECT_THAT(refusal("group,cost,score\na,1\n"),
              HasSubstr("line 2: has 2 columns; expected 3, as the first line"));
  EXPECT_THAT(refusal("group,price,score\na,1,1\n"), HasSubstr("line 1: there is no column \"cost\""));
  EXPECT_THAT(refusal("cost,score\n1,1\n"), HasSubstr("line 1: there is no column \"group\""));
  EXPECT_THAT(refusal("group,cost\na,1\n"), HasSubstr("line 1: there is no column of scores"));
  EXPECT_THAT(refusal("group,cost,weight\na,1,1\n"), HasSubstr("line 1: there is no column of scores"));
  EXPECT_THAT(refusal("group,cost,s,s\n"), HasSubstr("line 1, column 4: \"s\" appears twice"));
  EXPECT_THAT(refusal("group,cost,\n"), HasSubstr("line 1, column 3: the name is empty"));
  EXPECT_THAT(refusal("group,cost,score\n"), HasSubstr("bad.csv: has no rows after its first line"));
  EXPECT_THAT(refusal("group,cost,score\n\"a,1,1\n"), HasSubstr("line 2, column 1: the quote does not end"));
  EXPECT_THAT(refusal("group,cost,score\n\"a\"b,1,1\n"),
              HasSubstr("line 2, column 1: \"b\" after the quote"));
  EXPECT_THAT(refusal("group,cost,weight,score\na,1,2,1\na,2,3,1\n"),
              HasSubstr("line 3, column 3 (\"weight\"): \"3\" is wrong; expected 2.0, as in the rows of "
                        "group \"a\" before"));
  EXPECT_THAT(refusal("group,cost,score\na,1,1\nb,2,1\nc,3,1\nc,3,2\n"),
              HasSubstr("bad.csv: no group has two different costs; expected something to rank"));
}

TEST_F(RankEval, RefusesBadUsage) {
  write("scores.csv", csv_);
  EXPECT_EQ(run("rank-eval").exit_code, 2);
  EXPECT_THAT(run("rank-eval none.csv").err, HasSubstr("none.csv: cannot be opened"));
  EXPECT_THAT(run("rank-eval scores.csv --resamples 0").err, HasSubstr("--resamples"));
  EXPECT_THAT(run("rank-eval scores.csv --seed -1").err, HasSubstr("--seed"));
  const Finished help = run("rank-eval --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("fuselage rank-eval scores.csv"));
  EXPECT_THAT(help.err, Not(HasSubstr("error")));
}

}  // namespace
}  // namespace fuselage
