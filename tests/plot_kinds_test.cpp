// Each kind of table as a plot: the figures are those of the table, and what would be drawn on top of each
// other, or can't be compared, is refused with its place.
#include "fuselage/report/plot_kinds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/report/gnuplot.h"
#include "svg.h"

namespace fuselage::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Svg drawn(const Plot& plot) {
  return Svg(plot_svg(plot, {}));
}

// A value from its place, by two ticks that have labels.
double value_at(double place, double place_1, double value_1, double place_2, double value_2) {
  return value_1 + (place - place_1) / (place_2 - place_1) * (value_2 - value_1);
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
  EXPECT_EQ(convergence_plot(files, {.above_best = true}).y.label,
            "above the best plan: (plan - best) / best, %");
  EXPECT_EQ(convergence_plot(files, {}).y.label, "gap to the bound: (plan - bound) / plan, %");
  const Svg svg = drawn(convergence_plot(files, {.above_best = true}));
  // No gap is drawn where the tick says so, and step 0 likewise.
  EXPECT_TRUE(svg.has_text("\u2264 0.01"));
  EXPECT_TRUE(svg.has_text("\u2264 1"));
  EXPECT_THAT(svg.note, HasSubstr("g"));
}

TEST(PlotConvergence, a_gap_of_rounding_is_none) {
  const auto data = [](double bound) {
    const std::string line = fmt::format(
        R"({{"graph":"g","seconds":0,"steps":1,"engine":"e","incumbent":1000,"lower_bound":{:.17g}}})",
        bound);
    const std::array<PlotInput, 1> files = {{{"a.jsonl", "a", line}}};
    return plot_data(convergence_plot(files, {}));
  };
  EXPECT_THAT(data(1000 * (1 - 2e-16)), HasSubstr(",a,1,0,,\n"));
  EXPECT_THAT(data(1000 * (1 - 9e-13)), HasSubstr(",a,1,0,,\n"));
  EXPECT_THAT(data(1000 * (1 - 2e-12)), Not(HasSubstr(",a,1,0,,\n")));
}

TEST(PlotConvergence, curves_over_different_graphs_are_refused) {
  const auto refusal = [](const std::string& a, const std::string& b) {
    const std::array<PlotInput, 2> files = {{{"a.jsonl", "a", a}, {"b.jsonl", "b", b}}};
    return error_of([&] { convergence_plot(files, {}); });
  };
  const std::string g1 = log_line("g1", 0, "9", 5);
  const std::string g2 = log_line("g2", 0, "9", 5);
  EXPECT_EQ(refusal(g1 + g2, g2 + g1), "no error");
  EXPECT_EQ(refusal(g1, g2),
            "b.jsonl: says nothing of graph \"g1\", which is in a.jsonl; expected logs of the same graphs");
  EXPECT_THAT(refusal(g1, g2 + g1), HasSubstr("a.jsonl: says nothing of graph \"g2\""));
  EXPECT_THAT(refusal(g1 + g2, g1), HasSubstr("b.jsonl: says nothing of graph \"g2\""));
  const std::array<PlotInput, 2> same = {{{"a.jsonl", "a", g1}, {"b.jsonl", "a", g1}}};
  EXPECT_EQ(error_of([&] { convergence_plot(same, {}); }),
            "b.jsonl: \"a\" is drawn already, from a.jsonl; expected one figure in its place");
}

TEST(PlotConvergence, gaps_are_shares_of_something) {
  const auto refusal = [](const std::string& incumbent, double bound, bool above_best) {
    const std::array<PlotInput, 2> files = {{{"a.jsonl", "a", log_line("g", 0, "9", bound)},
                                             {"b.jsonl", "b", log_line("g", 0, incumbent, bound)}}};
    return error_of([&] { convergence_plot(files, {.above_best = above_best}); });
  };
  for (const char* incumbent : {"0", "-5", "-1e-320"}) {
    for (const bool above_best : {false, true})
      EXPECT_THAT(refusal(incumbent, -9, above_best), HasSubstr(": graph \"g\": no gap is a share of a plan"))
          << incumbent;
    EXPECT_THAT(refusal(incumbent, -9, true), testing::StartsWith("b.jsonl"));
  }
  EXPECT_THAT(refusal("5e-324", 0, true), testing::StartsWith("a.jsonl: graph \"g\""));
  EXPECT_EQ(refusal("0", 0, false), "no error");  // proven
  const std::string unbounded =
      R"({"graph":"g","seconds":0,"steps":1,"engine":"e","incumbent":5,"lower_bound":null})";
  const std::array<PlotInput, 1> files = {{{"u.jsonl", "u", unbounded}}};
  EXPECT_THAT(error_of([&] { convergence_plot(files, {}); }), HasSubstr("u.jsonl: no bound is known"));
  EXPECT_EQ(error_of([&] { convergence_plot(files, {.above_best = true}); }), "no error");
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
  EXPECT_EQ(error_of([&] {
              ranking_plot(files, {.metrics = {"regret", "regret"}});
            }),
            "--metric: \"regret\" is given twice; expected each once");
  EXPECT_THAT(error_of([&] {
                ranking_plot(files, {.metrics = {"regret", "tau"}});
              }),
              HasSubstr("--metric: no row that counts is about \"tau\""));
}

TEST(PlotRanking, two_figures_of_one_place_are_refused) {
  const std::string csv = "set,ranker,metric,mean,low,high\ns1,a,tau,1,1,1\ns2,a,tau,1,1,1\ns1,a,tau,2,2,2\n";
  const std::array<PlotInput, 1> table = {{{.source = "t.csv", .name = "t", .text = csv}}};
  EXPECT_EQ(error_of([&] { ranking_plot(table, {.metrics = {"tau"}}); }),
            "t.csv: line 4: \"tau\", \"s1\", \"a\" is drawn already, from t.csv: line 2; "
            "expected one figure in its place");
  EXPECT_EQ(error_of([&] {
              ranking_plot(table, {.metrics = {"tau"}, .where = {{"set", "s2"}}});
            }),
            "no error");
  const std::string ranker = R"({"ranker":"a","figures":{"tau":{"value":1,"low":1,"high":1}}})";
  const std::array<PlotInput, 1> json = {
      {{.source = "r.json", .name = "r", .text = "{\"rankers\":[" + ranker + "," + ranker + "]}"}}};
  EXPECT_THAT(
      error_of([&] { ranking_plot(json, {.metrics = {"tau"}}); }),
      testing::StartsWith("r.json: rankers[1]: \"tau\", \"a\" is drawn already, from r.json: rankers[0]"));
}

// Of `rank-eval --json`.
PlotInput one_ranker(const std::string& name) {
  std::string figures;
  for (const char* metric : {"pairwise", "tau", "top_1", "top_5", "regret", "ndcg_5"})
    figures += fmt::format(R"({}"{}":{{"value":1,"low":1,"high":1}})", figures.empty() ? "" : ",", metric);
  return {.source = name + ".json",
          .name = name,
          .text = R"({"rankers":[{"ranker":"score","figures":{)" + figures + "}}]}"};
}

TEST(PlotRanking, one_ranker_has_room_in_any_number_of_drawings) {
  const std::array<PlotInput, 1> file = {one_ranker("r")};
  std::vector<std::string> metrics;
  for (const char* metric : {"pairwise", "tau", "top_1", "top_5", "regret", "ndcg_5"}) {
    metrics.emplace_back(metric);
    const Plot plot = ranking_plot(file, {.metrics = metrics});
    EXPECT_EQ(drawn(plot).curves.size(), metrics.size());
    EXPECT_THAT(error_of([&] { plot_svg(plot, {.height = 90}); }),
                testing::ContainsRegex("a plot of 800 by 90 pixels .*; expected --height to be at least"));
  }
  EXPECT_TRUE(drawn(ranking_plot(file, {.metrics = {"regret"}})).has_text("regret, % (lower is better)"));
}

TEST(PlotRanking, the_height_that_is_asked_for_is_enough) {
  const std::array<PlotInput, 1> file = {one_ranker("r")};
  const Plot plot = ranking_plot(file, {});
  const std::string refusal = error_of([&] { plot_svg(plot, {.height = 90}); });
  const int least = std::stoi(refusal.substr(refusal.rfind(' ')));
  EXPECT_NE(error_of([&] { plot_svg(plot, {.height = least - 1}); }), "no error");
  EXPECT_EQ(error_of([&] { plot_svg(plot, {.height = least}); }), "no error");
}

TEST(PlotRanking, only_several_files_are_named) {
  const std::array<PlotInput, 1> one = {one_ranker("r")};
  EXPECT_EQ(plot_data(ranking_plot(one, {})), "panel,series,category,y,low,high\n,,score,1,1,1\n");
  EXPECT_FALSE(drawn(ranking_plot(one, {})).has_text("r"));
  const std::array<PlotInput, 2> two = {one_ranker("r"), one_ranker("s")};
  EXPECT_TRUE(drawn(ranking_plot(two, {})).has_text("r"));
}

// What a file is that some kind can't draw, and who writes one that it can.
TEST(PlotKinds, another_kind_of_file_is_refused_with_what_is_in_it) {
  const auto file = [](const char* source, const std::string& text) {
    return std::array<PlotInput, 1>{{{.source = source, .name = "f", .text = text}}};
  };
  const auto headroom =
      file("h.json", "{\n \"budget\": {},\n \"results\": [{\"name\": \"g\", \"rules\": []}]\n}\n");
  const auto table = file("x.csv", "a,b,c,d,e,f,g,h,i,j,k,l,m,n\n1,2,3,4,5,6,7,8,9,10,11,12,13,14\n");
  const char* first_dozen = R"("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" and 2 more)";
  EXPECT_EQ(
      error_of([&] { convergence_plot(headroom, {}); }),
      "h.json: is JSON with the fields \"budget\", \"results\"; expected a log of 'fuselage search --log', "
      "or a CSV with the columns engine, steps, gap_percent, ms");
  EXPECT_EQ(error_of([&] { convergence_plot(file("g.jsonl", "{\"nodes\": []}\n{\"nodes\": []}\n"), {}); }),
            "g.jsonl: the first line is JSON with the fields \"nodes\"; expected a log of 'fuselage search "
            "--log', or a CSV with the columns engine, steps, gap_percent, ms");
  EXPECT_THAT(error_of([&] { convergence_plot(file("t.jsonl", "{\"graph\": \n"), {}); }),
              HasSubstr("t.jsonl: line 1"));
  EXPECT_THAT(
      error_of([&] { convergence_plot(table, {}); }),
      testing::AllOf(HasSubstr("no column \"engine\""), HasSubstr("search --log"), HasSubstr(first_dozen)));
  EXPECT_EQ(error_of([&] { lines_plot(table, {.x = "a", .y = {"foo"}}); }),
            std::string("x.csv: line 1: there is no column \"foo\"; expected one of ") + first_dozen);
  EXPECT_THAT(error_of([&] {
                lines_plot(table, {.x = "a", .y = {"b"}, .where = {{"foo", "1"}}});
              }),
              HasSubstr(first_dozen));
  EXPECT_THAT(error_of([&] { lines_plot(headroom, {.x = "a", .y = {"b"}}); }),
              HasSubstr("h.json: is JSON and no CSV; expected a CSV"));
  EXPECT_EQ(error_of([&] { pareto_plot(headroom); }),
            "h.json: results[0]: has no field points; expected what 'fuselage search --pareto traffic "
            "--json' writes");
  EXPECT_THAT(error_of([&] { pareto_plot(table); }), HasSubstr("x.csv: is no JSON, it begins with \"a,b,c,"));
  EXPECT_THAT(error_of([&] { budget_plot(table, {}); }),
              testing::AllOf(HasSubstr("experiments/budget"), HasSubstr(first_dozen)));
  EXPECT_THAT(error_of([&] { ranking_plot(table, {}); }),
              testing::AllOf(HasSubstr("fuselage rank-eval --json"), HasSubstr(first_dozen)));
  EXPECT_EQ(error_of([&] { ranking_plot(headroom, {}); }),
            "h.json: rankers: this field is missing; expected what 'fuselage rank-eval --json' or "
            "experiments/ranking writes; the file is JSON with the fields \"budget\", \"results\"");
  const std::array<PlotInput, 1> rankers = {one_ranker("r")};
  EXPECT_THAT(error_of([&] { headroom_plot(rankers, {}); }),
              testing::AllOf(HasSubstr("'fuselage headroom --json'"), HasSubstr("\"rankers\"")));
}

TEST(PlotHeadroom, what_is_left_out_is_in_the_note) {
  const auto task = [](int number) {
    return fmt::format(R"({{"name":"g{}","rules":"mlsys","error":null,"greedy_latency":4,"lower_bound":1,)"
                       R"("engines":[{{"engine":"beam","latency":null}},{{"engine":"lns","latency":2}}]}})",
                       number);
  };
  std::string tasks = task(0);
  for (int i = 1; i < 5; ++i) tasks += "," + task(i);
  const std::array<PlotInput, 1> files = {{{"h.json", "h", "{\"results\":[" + tasks + "]}"}}};
  EXPECT_EQ(headroom_plot(files, {}).note, "Rules mlsys. Left out: beam: no plan on g0, g1, g2 and 2 more.");
}

TEST(PlotHeadroom, a_task_is_drawn_once) {
  const auto text = [](const std::string& task) {
    return R"({"name":")" + task +
           R"(","rules":"mlsys","error":null,"greedy_latency":4,"lower_bound":1,"engines":[{"engine":"beam","latency":2}]})";
  };
  const auto file = [&](const char* source, const std::string& tasks) {
    return PlotInput{.source = source, .name = source, .text = "{\"results\":[" + tasks + "]}"};
  };
  const std::array<PlotInput, 2> files = {file("h.json", text("a") + "," + text("b")),
                                          file("i.json", text("b"))};
  EXPECT_EQ(error_of([&] { headroom_plot(files, {}); }),
            "i.json: results[0]: \"beam\", \"b\" is drawn already, from h.json: results[1]; "
            "expected one figure in its place");
  const std::array<PlotInput, 2> others = {file("h.json", text("a")), file("i.json", text("b"))};
  EXPECT_EQ(plot_data(headroom_plot(others, {})),
            "panel,series,category,y,low,high\n,beam,a,50,,\n,beam,b,50,,\n,lower bound,a,75,,\n"
            ",lower bound,b,75,,\n");
}

TEST(PlotPareto, a_front_is_drawn_once) {
  const std::string front = R"({"name":"g","proof":"optimal","points":[{"bytes_moved":4,"latency":2}]})";
  const std::array<PlotInput, 1> files = {
      {{.source = "p.json", .name = "p", .text = "{\"results\":[" + front + "," + front + "]}"}}};
  EXPECT_EQ(error_of([&] { pareto_plot(files); }),
            "p.json: results[1]: \"g\" is drawn already, from p.json: results[0]; "
            "expected one figure in its place");
}

}  // namespace
}  // namespace fuselage::report
