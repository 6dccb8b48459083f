#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fuselage/report/page.h"
#include "report_plans.h"

namespace fuselage::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

PageGraph graph_of(const Workload& workload) {
  return {
      .subject = subject_of(workload),
      .plans = {schedule_of(*best_plan(workload, walk::Rules::seed_honest), "best"),
                schedule_of(*best_plan(workload, walk::Rules::seed_honest, oracle::Engine::naive), "naive")}};
}

// The document in the page, as a browser finds it: to the first end of a script.
json data_of(const std::string& html) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = html.find(begin);
  EXPECT_NE(from, std::string::npos);
  EXPECT_EQ(html.find(begin, from + 1), std::string::npos);
  const std::size_t end = html.find("</script", from);
  return json::parse(html.substr(from + begin.size(), end - from - begin.size()));
}

Workload named(std::string name, std::vector<std::string> nodes) {
  std::vector<Node> list;
  for (int id = 0; id < static_cast<int>(nodes.size()); ++id)
    list.push_back(
        derived_node(fuselage::Op::relu, 64, 64, id == 0 ? std::vector<NodeId>{} : std::vector{id - 1}));
  return {.name = std::move(name),
          .graph = Graph(list),
          .hardware = {1 << 18, 8, 100, 3},
          .node_names = std::move(nodes)};
}

TEST(ReportPage, HoldsTheDocumentsOfItsPlans) {
  Dice dice(41);
  const PageGraph graph = graph_of(random_workload(dice, {.nodes = 9}));
  const json data = data_of(page_of({graph}, {.version = "7"}).html);
  EXPECT_EQ(data["version"], "7");
  ASSERT_EQ(data["graphs"].size(), 1U);
  const json& shown = data["graphs"][0];
  EXPECT_EQ(shown["rules"], "seed-honest");
  EXPECT_EQ(shown["ops"].size(), 9U);
  ASSERT_EQ(shown["plans"].size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(shown["plans"][i]["latency"].get<double>(), graph.plans[i].latency);
    EXPECT_EQ(shown["plans"][i]["drawing"]["nodes"].size(), 9U);
    EXPECT_EQ(shown["plans"][i]["overview"]["nodes"].size(), graph.plans[i].kernels.size());
  }
  double sum = 0;
  for (const json& segment : shown["comparison"]["plans"][0]["segments"])
    sum += segment["worth"].get<double>();
  EXPECT_NEAR(sum, shown["comparison"]["plans"][0]["difference"].get<double>(), 1e-6 * (1 + sum));
  EXPECT_EQ(shown["log"], nullptr);
}

TEST(ReportPage, IsTheSameAgainAndAlone) {
  Dice dice(42);
  std::vector<PageGraph> graphs;
  for (int i = 0; i < 3; ++i) graphs.push_back(graph_of(random_workload(dice, {.nodes = 6 + i})));
  graphs[1].log = {{.seconds = 0.5, .steps = 10, .engine = "beam", .lower_bound = 3},
                   {.seconds = 0.7, .steps = 20, .engine = "exact", .incumbent = 5, .lower_bound = 4}};
  const std::string html = page_of(graphs, {}).html;
  EXPECT_EQ(html, page_of(graphs, {}).html);
  for (const char* reference : {"<script src", "<img", "rel=\"stylesheet\"", "@import", "url(http"})
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
  EXPECT_THAT(html, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(html, HasSubstr("<title>Fuselage: 3 graphs</title>"));
  const json log = data_of(html)["graphs"][1]["log"];
  EXPECT_EQ(log[0]["incumbent"], nullptr);
  EXPECT_EQ(log[1]["incumbent"], 5);
}

TEST(ReportPage, NamesStayData) {
  const std::string end = "</script><script>alert(1)</script><!--";
  const std::string html =
      page_of({graph_of(named("<b>&\"", {end, "/*JS*/", std::string(10'000, 'z')}))}, {}).html;
  EXPECT_THAT(html, HasSubstr("<title>Fuselage: &lt;b>&amp;\"</title>"));
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  const json shown = data_of(html)["graphs"][0];
  EXPECT_EQ(shown["name"], "<b>&\"");
  EXPECT_EQ(shown["ops"][0]["name"], end);
  EXPECT_EQ(shown["ops"][1]["name"], "/*JS*/");
  // What they are called changes nothing else.
  json plain = data_of(page_of({graph_of(named("<b>&\"", {"1", "2", "3"}))}, {}).html)["graphs"][0];
  EXPECT_EQ(plain["plans"], shown["plans"]);
}

TEST(ReportPage, LeavesOutDrawingsThatAreTooLarge) {
  Dice dice(43);
  const PageGraph graph = graph_of(random_workload(dice, {.nodes = 9}));
  const Page page = page_of({graph}, {.most_drawn = 8});
  EXPECT_EQ(data_of(page.html)["graphs"][0]["plans"][0]["drawing"], nullptr);
  EXPECT_FALSE(data_of(page.html)["graphs"][0]["plans"][0]["overview"].is_null());
  ASSERT_FALSE(page.notes.empty());
  EXPECT_THAT(page.notes[0],
              HasSubstr("random, best: the drawing of its ops is left out: 9 nodes, of 8 at most"));
}

}  // namespace
}  // namespace fuselage::report
