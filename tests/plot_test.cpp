// `fuselage plot`: the numbers in a picture are those of the table, names can do nothing, and what can't be
// drawn is refused with its place.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/core/csv.h"
#include "fuselage/report/gnuplot.h"
#include "fuselage/report/plot_kinds.h"
#include "svg.h"

namespace fuselage::report {
namespace {

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
  for (const char* tiny : {"5e-324", "1e-310", "1e-300", "1e-290", "1e-280", "1e-270", "1e-200"})
    for (const char* other : {"0", tiny, "1", "-1e-310"})
      EXPECT_EQ(drawn(lines(fmt::format("x,y\n0,{}\n1,{}\n{},0\n", other, tiny, tiny))).curves.size(), 2U)
          << tiny << ", " << other;
  EXPECT_EQ(drawn(lines("x,y\n1e-90,1\n1e90,2\n", {.log_x = true})).curves.at(0).line.size(), 2U);
}

Plot spans(std::vector<PlotPoint> points) {
  return {.mark = PlotMark::spans,
          .y = {.to_at_least = 1000},
          .categories = {"compute", "memory"},
          .panels = {{.series = {{.name = "spans", .points = std::move(points)}}}}};
}

TEST(Plot, thin_spans_have_no_border) {
  const auto script = [](std::vector<PlotPoint> points) {
    return gnuplot_script(spans(std::move(points)), {.width = 800}).text;
  };
  const PlotPoint wide = {.x = 0, .y = 0, .low = 0, .high = 500};
  const PlotPoint thin = {.x = 1, .y = 600, .low = 600, .high = 601};
  EXPECT_THAT(script({wide}), AllOf(HasSubstr("border lc rgb '#ffffff'"), Not(HasSubstr("$t0 using"))));
  EXPECT_THAT(script({thin}), AllOf(HasSubstr("plot $t0"), Not(HasSubstr("border lc rgb '#ffffff'"))));
  const std::string both = script({wide, thin, wide});
  EXPECT_THAT(both, HasSubstr("$d0 << END\n0 0 0 500\n0 0 0 500\nEND\n$t0 << END\n1 600 600 601\nEND\n"));
  EXPECT_THAT(both, HasSubstr("plot $d0 "));
  const Svg svg = drawn(spans({wide, thin, wide}));
  ASSERT_EQ(svg.curves.size(), 2U);
  EXPECT_EQ(svg.curves[0].areas.size(), 2U);
  EXPECT_EQ(svg.curves[1].areas.size(), 1U);
  EXPECT_EQ(svg.curves[1].title, "spans");
  // Of two curves, so that no border of a wide neighbour covers them.
  Plot plot = spans({thin});
  plot.panels[0].series.push_back({.name = "others", .points = {wide}});
  const Svg ordered = drawn(plot);
  ASSERT_EQ(ordered.curves.size(), 2U);
  EXPECT_EQ(ordered.curves[0].title, "others");
  EXPECT_EQ(ordered.curves[1].title, "spans");
}

TEST(Plot, an_axis_runs_as_far_as_it_is_told) {
  const Svg svg = drawn(spans({{.x = 0, .y = 0, .low = 0, .high = 10}}));
  EXPECT_GT(svg.x_of("1000"), svg.x_of("200"));
  EXPECT_LT(svg.x_of("1000"), 800);
  Plot plot = lines("x,y\n1,2\n2,3\n");
  plot.x.to_at_least = 40;
  plot.y.to_at_least = -5;
  const Svg far = drawn(plot);
  EXPECT_GT(far.x_of("40"), far.x_of("0"));
  EXPECT_LT(far.y_of("0"), far.y_of("-4"));
}

TEST(Plot, nothing_is_drawn_on_axes_that_are_told_how_far_to_run) {
  const Svg empty = drawn(spans({}));
  EXPECT_TRUE(empty.has_text("1000"));
  EXPECT_TRUE(empty.has_text("compute"));
  EXPECT_TRUE(empty.has_text("spans"));
  ASSERT_EQ(empty.curves.size(), 1U);
  EXPECT_TRUE(empty.curves[0].areas.empty());
  for (const PlotMark mark : {PlotMark::lines, PlotMark::steps, PlotMark::points}) {
    Plot plot{.mark = mark, .x = {.to_at_least = 0}, .panels = {{}, {.series = {{.name = "a"}}}}};
    EXPECT_TRUE(drawn(plot).has_text("0")) << static_cast<int>(mark);
    plot.x.to_at_least.reset();
    EXPECT_THAT(error_of([&] { check(plot); }), HasSubstr("there is nothing to draw"));
    plot.x = {.label = "steps", .log = true, .to_at_least = 5};
    EXPECT_THAT(error_of([&] { check(plot); }), HasSubstr("\"steps\": a logarithmic axis has no 0"));
    plot.x = {.to_at_least = 1e300};
    EXPECT_THAT(error_of([&] { check(plot); }), HasSubstr("can't be drawn"));
  }
}

// Whoever gives a column of 300,000 ids reads soon that it is too much.
TEST(Plot, reading_ends_at_the_first_curve_too_many) {
  std::string csv = "x,y,id\n";
  for (int i = 0; i < 300'000; ++i) csv += "1,2,id" + std::to_string(i) + "\n";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { lines(csv, {.by = {"id"}}); }),
            "the plot has at least 41 curves in a panel; expected at most 40");
  EXPECT_EQ(error_of([&] { lines(csv, {.panel = "id"}); }),
            "the plot has at least 13 panels; expected at most 12");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
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

}  // namespace
}  // namespace fuselage::report
