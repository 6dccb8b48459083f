// `fuselage plot`: the numbers in a picture are those of the table, names can do nothing, and what can't be
// drawn is refused with its place.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/core/csv.h"
#include "fuselage/report/gnuplot.h"
#include "fuselage/report/plot_kinds.h"
#include "svg.h"

namespace fuselage::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Plot lines(const std::string& csv, LinesOptions options = {}) {
  if (options.x.empty()) options.x = "x";
  if (options.y.empty()) options.y = {"y"};
  const std::array<PlotInput, 1> files = {{{.source = "table.csv", .name = "table", .text = csv}}};
  return lines_plot(files, options);
}

Svg drawn(const Plot& plot, const PlotSize& size = {}) {
  return Svg(plot_svg(plot, size));
}

// A value from its place, by two ticks that have labels.
double value_at(double place, double place_1, double value_1, double place_2, double value_2) {
  return value_1 + (place - place_1) / (place_2 - place_1) * (value_2 - value_1);
}

TEST(Plot, a_curve_goes_through_the_numbers_of_its_table) {
  const Svg svg = drawn(lines("x,y,who\n0,0,a\n4,20,a\n10,13.7,a\n5,40,b\n7,30,b\n", {.by = {"who"}}));
  ASSERT_EQ(svg.curves.size(), 4U);  // a line and its marks, twice
  const std::array<std::pair<double, double>, 3> a = {{{0, 0}, {4, 20}, {10, 13.7}}};
  for (const std::size_t curve : {0U, 1U}) {
    EXPECT_EQ(svg.curves[curve].title, "a");
    const auto& places = curve == 0 ? svg.curves[curve].line : svg.curves[curve].dots;
    ASSERT_EQ(places.size(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(value_at(places[i].first, svg.x_of("2"), 2, svg.x_of("8"), 8), a[i].first, 0.02);
      // A label stands a bit below its tick, by as much everywhere.
      EXPECT_NEAR(
          value_at(places[i].second - svg.curves[0].line[0].second, 0, 0, svg.y_of("30") - svg.y_of("0"), 30),
          a[i].second, 0.1);
    }
  }
  EXPECT_EQ(svg.curves[2].title, "b");
}

TEST(Plot, logarithmic_axes_are_logarithmic) {
  const Svg svg = drawn(lines("x,y\n1,0.01\n10,1\n1000,100\n", {.log_x = true, .log_y = true}));
  const auto& line = svg.curves.at(0).line;
  ASSERT_EQ(line.size(), 3U);
  EXPECT_NEAR(line[0].first, svg.x_of("1"), 0.1);
  EXPECT_NEAR(line[1].first, svg.x_of("10"), 0.1);
  EXPECT_NEAR(line[2].first, svg.x_of("1000"), 0.1);
  const double below = svg.y_of("0.01") - line[0].second;
  EXPECT_NEAR(svg.y_of("1") - line[1].second, below, 0.1);
  EXPECT_NEAR(svg.y_of("100") - line[2].second, below, 0.1);
  EXPECT_NEAR(svg.y_of("1") - svg.y_of("100"), svg.y_of("0.01") - svg.y_of("1"), 0.1);
}

TEST(Plot, rows_of_one_place_are_their_mean_in_a_band_to_the_extremes) {
  const Plot plot = lines("seed,x,y\n0,2,1\n1,2,5\n2,2,3\n0,1,7\n", {});
  EXPECT_EQ(plot_data(plot), "panel,series,x,y,low,high\n,,1,7,7,7\n,,2,3,1,5\n");
  EXPECT_THAT(plot.note, HasSubstr("Means of rows"));
  EXPECT_EQ(plot_data(lines("x,y,l,h\n1,2,1.5,2.5\n", {.low = "l", .high = "h"})),
            "panel,series,x,y,low,high\n,,1,2,1.5,2.5\n");
}

TEST(Plot, panels_curves_and_conditions_come_from_columns) {
  const std::string csv = "kind,who,x,y,z\nk1,a,1,2,3\nk1,b,1,4,\nk2,a,1,6,7\nk2,\"c,d\",1,8,9\n";
  EXPECT_EQ(plot_data(lines(csv, {.y = {"y", "z"}, .by = {"who"}, .panel = "kind"})),
            "panel,series,x,y,low,high\n"
            "k1,\"a, y\",1,2,,\nk1,\"a, z\",1,3,,\nk1,\"b, y\",1,4,,\n"
            "k2,\"a, y\",1,6,,\nk2,\"a, z\",1,7,,\nk2,\"c,d, y\",1,8,,\nk2,\"c,d, z\",1,9,,\n");
  EXPECT_EQ(plot_data(lines(csv, {.by = {"who"}, .where = {{"kind", "k2"}, {"who", "c,d", true}}})),
            "panel,series,x,y,low,high\n,a,1,6,,\n");
  EXPECT_EQ(plot_data(lines(csv, {.where = {{"who", "b"}, {"who", "c,d"}}})),
            "panel,series,x,y,low,high\n,,1,6,4,8\n");
}

TEST(Plot, is_the_same_every_time_and_names_no_day) {
  const Plot plot = lines("x,y\n1,2\n3,4\n");
  const std::string svg = plot_svg(plot, {});
  EXPECT_EQ(svg, plot_svg(plot, {}));
  EXPECT_THAT(svg, Not(HasSubstr("Produced by")));
  EXPECT_THAT(svg, HasSubstr("width=\"800\""));
  EXPECT_THAT(plot_svg(plot, {.width = 500, .height = 300}), HasSubstr("width=\"500\" height=\"300\""));
}

// Names that mean something to a shell, to gnuplot, or to XML.
const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names = {
      "'; system(\"touch touched\"); '",
      "\"; system('touch touched'); \"",
      "`touch touched`",
      "$(touch touched)",
      "@macro",
      "END",
      "<script>alert(1)</script>",
      "</text></svg>&amp;&#0;]]>",
      "100 % %s %n %g",
      "a\\nb\\\\",
      "{/Symbol a}_b^c~d",
      "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D mirror",
      "\xEE\x80\x80\xEE\x80\x81 private use",
      "|touch touched",
      "#comment",
      "gnuplot_plot_1",
      "<title>",
  };
  return names;
}

std::string csv_of(const std::vector<std::string>& names) {
  std::string csv = "x,y,who\n";
  for (const std::string& name : names)
    for (const char* x : {"1", "2"}) csv += csv_line(std::array<std::string, 3>{x, x, name});
  return csv;
}

Plot named(const std::string& name) {
  Plot plot = lines(csv_of({name, "b"}), {.by = {"who"}});
  plot.title = plot.note = plot.x.label = plot.y.label = plot.panels[0].title = name;
  return plot;
}

// Whatever a name says, gnuplot is told the same: how long it is.
TEST(Plot, no_name_reaches_gnuplot) {
  for (const std::string& name : hostile_names()) {
    const auto length = std::count_if(name.begin(), name.end(),
                                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    const std::string harmless(static_cast<std::size_t>(length), 'x');
    EXPECT_TRUE(gnuplot_script(named(name), {}).text == gnuplot_script(named(harmless), {}).text) << name;
  }
}

TEST(Plot, names_are_shown_as_they_are) {
  for (const std::string& name : hostile_names()) {
    Plot plot = lines(csv_of({name, "b"}), {.by = {"who"}});
    plot.title = name;
    const Svg svg = drawn(plot);
    EXPECT_EQ(svg.title, name);
    EXPECT_TRUE(svg.has_text(name)) << name;
    EXPECT_EQ(svg.curves.at(0).title, name);
  }
}

TEST(Plot, categories_are_shown_as_they_are) {
  Plot plot{.mark = PlotMark::estimates, .categories = {"100 % %s %n", "`touch touched`", "it's"}};
  plot.panels = {{.title = "", .series = {{.name = "", .points = {{0, 1}, {1, 2}, {2, 3}}}}}};
  for (const PlotMark mark : {PlotMark::estimates, PlotMark::bars}) {
    plot.mark = mark;
    const Svg svg = drawn(plot);
    for (const std::string& category : plot.categories) EXPECT_TRUE(svg.has_text(category)) << category;
  }
}

TEST(Plot, odd_texts_become_lines_that_fit) {
  Plot plot = lines(csv_of({"b"}), {.by = {"who"}});
  const auto text_of = [&](const std::string& name) {
    plot.panels[0].series[0].name = name;
    return gnuplot_script(plot, {}).texts.at(0);
  };
  EXPECT_EQ(text_of("two\nlines\tand\x01\x7F"), "two lines and");
  EXPECT_EQ(text_of("\xFF\xC0\xAF\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text_of("\xEF\xBF\xBF"), "\uFFFD");
  EXPECT_EQ(text_of("\u202Emirror"), "mirror");
  const std::string long_name = text_of(std::string(10'000, 'x'));
  EXPECT_EQ(long_name, std::string(39, 'x') + "\u2026");
  EXPECT_EQ(drawn(plot).curves.at(0).title, std::string(199, 'x') + "\u2026");
  EXPECT_EQ(text_of("\xE6\xBC\xA2\xE5\xAD\x97"), "\xE6\xBC\xA2\xE5\xAD\x97");
}

TEST(Plot, little_data_is_drawn_too) {
  EXPECT_EQ(drawn(lines("x,y\n3,7\n")).curves.at(0).dots.size(), 1U);
  EXPECT_EQ(drawn(lines("x,y\n0,0\n")).curves.at(0).dots.size(), 1U);
  EXPECT_EQ(drawn(lines("x,y\n3,7\n", {.log_x = true, .log_y = true})).curves.at(0).dots.size(), 1U);
  EXPECT_EQ(drawn(lines("x,y\n1,5\n2,5\n")).curves.at(0).line.size(), 2U);
  EXPECT_EQ(drawn(lines("x,y\n-1e99,1e-99\n1e99,-1e-99\n")).curves.at(0).line.size(), 2U);
  EXPECT_EQ(drawn(lines("x,y\n1e16,1\n10000000000000002,2\n")).curves.at(0).line.size(), 2U);
  EXPECT_EQ(drawn(lines("x,y\n1e-90,1\n1e90,2\n", {.log_x = true})).curves.at(0).line.size(), 2U);
}

TEST(Plot, bad_tables_are_refused_with_the_place) {
  const auto refusal = [](const std::string& csv, const LinesOptions& options = {}) {
    return error_of([&] { check(lines(csv, options)); });
  };
  EXPECT_THAT(refusal(""), HasSubstr("table.csv: is empty; expected a first line such as x,y"));
  EXPECT_THAT(refusal("x,y\n"), HasSubstr("table.csv: has no rows after its first line"));
  EXPECT_THAT(refusal("x,z\n1,2\n"), HasSubstr("table.csv: line 1: there is no column \"y\""));
  EXPECT_THAT(refusal("x,y\n1\n"), HasSubstr("table.csv: line 2: has 1 columns; expected 2"));
  for (const char* value : {"nan", "inf", "-inf", "1e999", "0x1", "1 2", "a"})
    EXPECT_THAT(refusal("x,y\n1,1\n2," + std::string(value) + "\n"),
                HasSubstr("table.csv: line 3, column 2 (\"y\"): \"" + std::string(value) +
                          "\" is wrong; expected a finite number"));
  EXPECT_THAT(
      refusal("x,y\n0,1\n", {.log_x = true}),
      HasSubstr("line 2, column 1 (\"x\"): \"0\" is wrong; expected a number > 0 on a logarithmic axis"));
  EXPECT_THAT(refusal("x,y\n1,-1\n", {.log_y = true}), HasSubstr("\"-1\" is wrong"));
  EXPECT_THAT(refusal("x,y\n1,\n"), HasSubstr("there is nothing to draw"));
  EXPECT_THAT(refusal("x,y\n1,1e200\n"), HasSubstr("can't be drawn; expected numbers between"));
  EXPECT_THAT(refusal("x,y\n1,2\n", {.where = {{"x", "7"}}}),
              HasSubstr("no row has \"7\" in column \"x\"; expected one of \"1\""));
  EXPECT_THAT(refusal("x,y\n1,2\n2,3\n", {.where = {{"x", "1"}, {"y", "3"}}}), HasSubstr("no row has all"));
  EXPECT_THAT(refusal("x,y\n1,2\n", {.where = {{"z", "7"}}}), HasSubstr("there is no column \"z\""));
  EXPECT_THAT(refusal("x,y,l\n1,2,1\n", {.low = "l"}), HasSubstr("--high"));
  EXPECT_THAT(refusal("x,y,l,h\n1,2,1,\n", {.low = "l", .high = "h"}), HasSubstr("line 2, column 4 (\"h\")"));
  std::string many = "x,y\n";
  for (int i = 0; i < 41; ++i) many += std::to_string(i) + ",1\n";
  EXPECT_THAT(refusal(many, {.by = {"x"}}), HasSubstr("41 curves in a panel; expected at most 40"));
}

std::string log_line(const char* graph, double x, const std::string& incumbent, double bound) {
  return "{\"graph\":\"" + std::string(graph) + "\",\"seconds\":" + std::to_string(x / 1000) +
         ",\"steps\":" + std::to_string(static_cast<int>(x)) +
         ",\"engine\":\"beam\",\"incumbent\":" + incumbent + ",\"lower_bound\":" + std::to_string(bound) +
         "}\n";
}

// Three graphs whose plans come at different steps: gaps 50 % (1), 20 % (2) and none until 30, then 10 %.
const std::string three_graphs = log_line("g1", 0, "null", 50) + log_line("g1", 10, "100", 50) +
                                 log_line("g2", 20, "100", 80) + log_line("g3", 30, "100", 90) +
                                 log_line("g1", 40, "50", 50);

TEST(PlotConvergence, is_the_median_over_graphs_in_a_band_of_quartiles) {
  const std::array<PlotInput, 1> files = {{{.source = "b.jsonl", .name = "b", .text = three_graphs}}};
  const Plot plot = convergence_plot(files, {});
  EXPECT_EQ(plot_data(plot),
            "panel,series,x,y,low,high\n"
            ",b,20,50,,\n"  // 50, 20, none: no upper quartile yet
            ",b,30,20,15,35\n"
            ",b,40,10,5,15\n");
  const Plot timed = convergence_plot(files, {.by_seconds = true});
  EXPECT_THAT(plot_data(timed), HasSubstr(",b,0.03,20,15,35\n"));
  EXPECT_EQ(timed.x.label, "seconds");
  EXPECT_EQ(drawn(plot).curves.at(0).areas.size(), 1U);
}

TEST(PlotConvergence, gaps_to_the_best_know_all_files) {
  const std::array<PlotInput, 2> files = {
      {{.source = "a.jsonl", .name = "a", .text = log_line("g", 0, "120", 60) + log_line("g", 8, "110", 60)},
       {.source = "b.jsonl", .name = "b", .text = log_line("g", 4, "100", 60)}}};
  EXPECT_EQ(plot_data(convergence_plot(files, {.above_best = true})),
            "panel,series,x,y,low,high\n"
            ",a,0,19.999999999999996,,\n,a,8,10.000000000000009,,\n,b,4,0,,\n");
  const Svg svg = drawn(convergence_plot(files, {.above_best = true}));
  // No gap is drawn where the tick says so, and step 0 likewise.
  EXPECT_TRUE(svg.has_text("\u2264 0.01"));
  EXPECT_TRUE(svg.has_text("\u2264 1"));
  EXPECT_THAT(svg.note, HasSubstr("g"));
}

TEST(PlotConvergence, tables_have_a_point_an_engine_and_a_panel_a_rule_set) {
  const std::string csv =
      "rules,engine,steps,gap_percent,ms\nseed,auto,100,0,5\nseed,mcts,900,17.5,50\nphysical,auto,70,0.5,7\n";
  const std::array<PlotInput, 1> files = {{{.source = "t.csv", .name = "t", .text = csv}}};
  EXPECT_EQ(plot_data(convergence_plot(files, {})),
            "panel,series,x,y,low,high\nseed,auto,100,0,,\nseed,mcts,900,17.5,,\nphysical,auto,70,0.5,,\n");
  EXPECT_THAT(plot_data(convergence_plot(files, {.by_seconds = true, .where = {{"engine", "mcts"}}})),
              HasSubstr("seed,mcts,0.05,17.5,,\n"));
}

TEST(PlotConvergence, bad_logs_are_refused_with_the_place) {
  const auto refusal = [](const std::string& text) {
    const std::array<PlotInput, 1> files = {{{.source = "b.jsonl", .name = "b", .text = text}}};
    return error_of([&] { convergence_plot(files, {}); });
  };
  EXPECT_THAT(refusal(""), HasSubstr("b.jsonl: is empty"));
  EXPECT_THAT(refusal(log_line("g", 1, "5", 1) + "\n{\"graph\": \"g\"}\n"),
              HasSubstr("b.jsonl: line 3: seconds"));
  EXPECT_THAT(refusal(log_line("g", 1, "5", 1) + "{\"graph\": \n"), HasSubstr("b.jsonl: line 2"));
  EXPECT_THAT(refusal(log_line("g", 1, "\"5\"", 1)), HasSubstr("b.jsonl: line 1: incumbent"));
  EXPECT_THAT(refusal(log_line("g", 1, "null", 1)), HasSubstr("b.jsonl: no plan was found"));
  const std::array<PlotInput, 2> both = {{{"a", "a", log_line("g", 1, "5", 1)}, {"b", "b", "engine\n"}}};
  EXPECT_THAT(error_of([&] { convergence_plot(both, {}); }), HasSubstr("some files are logs"));
}

TEST(PlotBudget, is_the_mean_over_graphs_whose_figure_is_the_mean_of_its_seeds) {
  const std::string csv =
      "kind,graph,filter,seed,optimum,gap_16_percent,gap_256_percent,gap_last_percent\n"
      "mixed,g1,none,0,10,2,1,0\nmixed,g1,none,1,10,4,,0\nmixed,g2,none,0,10,7,3,0\n"
      "mixed,g1,model,0,10,0,,0\n";
  const std::array<PlotInput, 1> files = {{{.source = "t.csv", .name = "t", .text = csv}}};
  // Of 3 and 7: their standard error is 2.
  EXPECT_EQ(plot_data(budget_plot(files, {})),
            "panel,series,x,y,low,high\n"
            "mixed,none,16,5,1.08,8.92\nmixed,none,256,2,0.040000000000000036,3.96\nmixed,model,16,0,,\n");
}

TEST(PlotRanking, the_best_is_on_top) {
  const std::string csv =
      "set,schedules,ranker,metric,graphs,mean,low,high\n"
      "s1,all,bad,pairwise,6,0.5,0.4,0.6\ns1,all,good,pairwise,6,0.9,0.8,0.95\n"
      "s1,within,bad,pairwise,6,0.1,0.1,0.1\ns2,all,good,pairwise,6,0.7,0.6,0.8\n"
      "s1,all,bad,regret,6,0.25,0.2,0.3\ns1,all,good,regret,6,0,0,0\n";
  const std::array<PlotInput, 1> files = {{{.source = "t.csv", .name = "t", .text = csv}}};
  const Plot plot = ranking_plot(files, {});
  EXPECT_THAT(plot.categories, ElementsAre("good", "bad"));
  EXPECT_EQ(plot_data(plot),
            "panel,series,category,y,low,high\n"
            ",s1,bad,0.5,0.4,0.6\n,s1,good,0.9,0.8,0.95\n,s2,good,0.7,0.6,0.8\n");
  EXPECT_THAT(plot_data(ranking_plot(files, {.metrics = {"regret"}})), HasSubstr(",s1,bad,25,20,30\n"));
  const Svg svg = drawn(plot);
  EXPECT_LT(svg.y_of("good"), svg.y_of("bad"));
  const auto& dots = svg.curves.at(0).dots;
  ASSERT_EQ(dots.size(), 2U);
  EXPECT_NEAR(value_at(dots[0].first, svg.x_of("0.4"), 0.4, svg.x_of("0.8"), 0.8), 0.5, 0.002);
  EXPECT_NEAR(value_at(dots[1].first, svg.x_of("0.4"), 0.4, svg.x_of("0.8"), 0.8), 0.9, 0.002);
  EXPECT_LT(dots[1].second, dots[0].second);
  EXPECT_THAT(error_of([&] { ranking_plot(files, {.metrics = {"speed"}}); }),
              HasSubstr("--metric: \"speed\" is unknown; expected one of pairwise, tau"));
}

}  // namespace
}  // namespace fuselage::report
