// `fuselage report` and `fuselage export` as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Report : public CommandTest {
 protected:
  Report() {
    EXPECT_EQ(run("search task4_mixed task5_adversarial --out plans --log log.jsonl --quiet").exit_code, 0);
    EXPECT_EQ(run("search task3_matmul --out grid.json --quiet").exit_code, 0);
  }
  json data_of(const std::string& page) const {
    const std::string html = read(page);
    const std::string begin = "id=\"data\">";
    const std::size_t from = html.find(begin) + begin.size();
    return json::parse(html.substr(from, html.find("</script", from) - from));
  }
  void expect_refused(const std::string& arguments, const std::string& message) const {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments;
    EXPECT_EQ(refused.out, "") << arguments;
    EXPECT_THAT(refused.err, StartsWith("fuselage: error: " + message)) << arguments;
  }
};

TEST_F(Report, shows_plans_of_several_graphs_with_greedys_and_the_log) {
  const Finished made =
      run("report plans/task4_mixed.json plans/task5_adversarial.json --greedy --log log.jsonl --out p.html");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(StartsWith("4 plans of 2 graphs: p.html ("), EndsWith(" KB)\n")));
  const json data = data_of("p.html");
  ASSERT_EQ(data["graphs"].size(), 2U);
  const json& mixed = data["graphs"][0];
  EXPECT_EQ(mixed["name"], "task4_mixed");
  EXPECT_EQ(mixed["plans"][0]["label"], "task4_mixed");
  EXPECT_EQ(mixed["plans"][1]["label"], "greedy");
  EXPECT_EQ(mixed["comparison"]["reference"], 0);
  EXPECT_GT(mixed["log"].size(), 0U);
  const json explained = run_json("explain plans/task4_mixed.json");
  ASSERT_EQ(mixed["plans"][0]["kernels"].size(), explained["kernels"].size());
  for (std::size_t k = 0; k < explained["kernels"].size(); ++k)
    EXPECT_EQ(mixed["plans"][0]["kernels"][k]["latency"], explained["kernels"][k]["latency"]);
  const std::string first = read("p.html");
  run("report plans/task4_mixed.json plans/task5_adversarial.json --greedy --log log.jsonl --out p.html");
  EXPECT_EQ(read("p.html"), first);
}

TEST_F(Report, shows_grid_plans) {
  const Finished made =
      run("report grid.json --problem task3_matmul --greedy --out - > g.html; cp g.html same.html");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const json graph = data_of("g.html")["graphs"][0];
  EXPECT_EQ(graph["name"], "task3_matmul");
  EXPECT_EQ(graph["family"], "grid");
  EXPECT_EQ(graph["rules"], "fusionops-honest");
  const json explained = run_json("explain grid.json --problem task3_matmul");
  EXPECT_EQ(graph["plans"][0]["kernels"][1]["latency"], explained["kernels"][1]["latency"]);
  EXPECT_EQ(graph["plans"][0]["naive_latency"], explained["naive_latency"]);
}

TEST_F(Report, tells_plans_of_one_graph_apart_by_their_paths) {
  EXPECT_EQ(run("search task4_mixed --engine greedy --out other --quiet").exit_code, 0);
  run("report plans/task4_mixed.json other/task4_mixed.json --out p.html");
  const json graph = data_of("p.html")["graphs"][0];
  EXPECT_EQ(graph["plans"][0]["label"], "plans/task4_mixed.json");
  EXPECT_EQ(graph["plans"][1]["label"], "other/task4_mixed.json");
}

TEST_F(Report, an_illegal_plan_is_a_negative_answer) {
  json plan = json::parse(read("plans/task4_mixed.json"));
  plan["kernels"][2]["tile"] = 77;
  write("bad.json", plan.dump());
  for (const std::string command :
       {"report bad.json --out p.html", "export bad.json --format csv --out p.csv"}) {
    const Finished made = run(command);
    EXPECT_EQ(made.exit_code, 1) << made.err;
    EXPECT_THAT(made.err, HasSubstr("illegal, TILE: kernel 2: tile 77 is not one of 32, 64, 128, 256"));
  }
  EXPECT_EQ(data_of("p.html")["graphs"][0]["plans"][0]["fault"]["code"], "TILE");
  plan["kernels"][0]["tile"] = 77;
  write("worse.json", plan.dump());
  for (const std::string drawing : {"graph", "timeline", "memory", "roofline"})
    EXPECT_EQ(run("export worse.json --format svg --drawing " + drawing + " --out p.svg").exit_code, 1)
        << drawing;
  EXPECT_EQ(lines(read("p.csv")).size(), 3U);
}

TEST_F(Report, refuses_what_it_cannot_show) {
  write("text.json", "{}");
  write("log.txt",
        "{\"graph\": \"x\", \"seconds\": 1, \"steps\": 2, \"engine\": \"e\", \"incumbent\": null, "
        "\"lower_bound\": 0}\n");
  write("bad.jsonl", "{\"graph\": \"task4_mixed\", \"seconds\": -1}\n");
  write("empty.jsonl", "");
  const std::string plan = "plans/task4_mixed.json";
  expect_refused("report none.json --out p.html", "none.json: ");
  expect_refused("report text.json --out p.html", "text.json: ");
  expect_refused("report " + plan, "--out is required");
  expect_refused(
      "report " + plan + " --out p.html --log log.txt",
      "log.txt: begins with the search of \"x\", and no plan is of a graph in it; expected the log of ");
  expect_refused("report " + plan + " --out p.html --log bad.jsonl", "bad.jsonl: line 1: seconds: -1");
  expect_refused("report " + plan + " --out p.html --log empty.jsonl", "empty.jsonl: is empty");
  expect_refused("report grid.json --out p.html", "grid.json: is a solution of a grid problem");
  expect_refused("export " + plan, "--format is required");
  expect_refused("export " + plan + " --format pdf",
                 "--format: \"pdf\" is unknown; expected one of chrome-trace, ");
  expect_refused("export " + plan + " --format csv --drawing memory", "--drawing: does not exist in csv");
  const Finished without = shell("PATH=/nowhere; \"$FUSELAGE\" report " + plan + " --out p.html");
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err,
              HasSubstr("dot: not found; expected it to be installed (Debian's package graphviz)"));
  EXPECT_FALSE(std::filesystem::exists(path("p.html")));
}

TEST_F(Report, shows_rules_apart_and_claims_only_if_true) {
  EXPECT_EQ(run("search task4_mixed --rules physical --out phys.json --quiet").exit_code, 0);
  EXPECT_EQ(run("search task4_mixed --rules physical --order free --out free.json --quiet").exit_code, 0);
  EXPECT_EQ(run("report plans/task4_mixed.json phys.json free.json --out p.html").exit_code, 0);
  const json graphs = data_of("p.html")["graphs"];
  ASSERT_EQ(graphs.size(), 2U);
  EXPECT_EQ(graphs[0]["name"], "task4_mixed (seed-honest)");
  EXPECT_EQ(graphs[1]["name"], "task4_mixed (physical, physical in free order)");
  EXPECT_EQ(graphs[1]["plans"].size(), 2U);

  EXPECT_EQ(run("search task4_mixed --price traffic=0.1,launch=500 --out priced.json --quiet").exit_code, 0);
  EXPECT_EQ(run("check priced.json").exit_code, 0);
  json plan = json::parse(read("priced.json"));
  plan["lower_bound"] = 9e9;
  write("boast.json", plan.dump());
  const Finished made = run("report boast.json --out p.html");
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_THAT(made.err, HasSubstr("boast.json: lower_bound: the file claims 9000000000"));
  EXPECT_EQ(data_of("p.html")["graphs"][0]["plans"][0]["lower_bound"], nullptr);
}

TEST_F(Report, survives_names_and_places_that_are_odd) {
  EXPECT_EQ(shell("cp plans/task4_mixed.json $(printf '\\377.json'); \"$FUSELAGE\" report $(printf "
                  "'\\377.json') --out p.html")
                .exit_code,
            0);
  EXPECT_EQ(run("report plans/task4_mixed.json plans/task4_mixed.json --out p.html").exit_code, 0);
  const json plans = data_of("p.html")["graphs"][0]["plans"];
  EXPECT_NE(plans[0]["label"], plans[1]["label"]);
  // What is no file is written to, not replaced.
  EXPECT_EQ(shell("mkfifo pipe; cat pipe > got & \"$FUSELAGE\" export plans/task4_mixed.json --format csv "
                  "--out pipe; wait")
                .exit_code,
            0);
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_EQ(read("got"), run("export plans/task4_mixed.json --format csv").out);
  expect_refused("export plans/task4_mixed.json --format json --out plans/../plans/task4_mixed.json",
                 "--out: ");
  expect_refused("report plans/task4_mixed.json --log log.jsonl --out log.jsonl",
                 "--out: log.jsonl is one of");
  // A dot that crashes costs its drawings only.
  EXPECT_EQ(shell("mkdir bin; printf '#!/bin/sh\\nexit 3\\n' > bin/dot; chmod +x bin/dot; "
                  "PATH=$PWD/bin:$PATH; \"$FUSELAGE\" report plans/task4_mixed.json --out p.html")
                .exit_code,
            0);
  EXPECT_EQ(data_of("p.html")["graphs"][0]["plans"][0]["drawing"], nullptr);
}

TEST_F(Report, exports_what_explain_says) {
  const json explained = run_json("explain plans/task4_mixed.json");
  const json exported = json::parse(run("export plans/task4_mixed.json --format json").out);
  const std::vector<std::string> rows = lines(run("export plans/task4_mixed.json --format csv").out);
  const json trace = json::parse(run("export plans/task4_mixed.json --format chrome-trace").out);
  ASSERT_EQ(exported["plan"]["kernels"].size(), explained["kernels"].size());
  ASSERT_EQ(rows.size(), explained["kernels"].size() + 1);
  std::size_t spans = 0;
  for (const json& event : trace["traceEvents"])
    spans += event["ph"] == "X" && event["args"].contains("tile");
  EXPECT_EQ(spans, explained["kernels"].size());
  for (std::size_t k = 0; k < explained["kernels"].size(); ++k) {
    EXPECT_EQ(exported["plan"]["kernels"][k]["working_set"], explained["kernels"][k]["working_set"]);
    EXPECT_THAT(rows[k + 1], HasSubstr(explained["kernels"][k]["latency"].dump()));
  }
  const std::string dot = run("export plans/task4_mixed.json --format dot").out;
  EXPECT_THAT(dot, AllOf(StartsWith("digraph"), HasSubstr("subgraph cluster_8 {")));
}

TEST_F(Report, every_svg_parses) {
  for (const std::string drawing : {"graph", "timeline", "memory", "roofline"})
    for (const std::string plan : {"plans/task4_mixed.json", "grid.json --problem task3_matmul"}) {
      const Finished drawn = run("export " + plan + " --format svg --drawing " + drawing);
      EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
      std::istringstream in(drawn.out);
      boost::property_tree::ptree tree;
      EXPECT_NO_THROW(boost::property_tree::read_xml(in, tree)) << drawing;
      EXPECT_EQ(tree.count("svg"), 1U) << drawing;
      EXPECT_EQ(drawn.out, run("export " + plan + " --format svg --drawing " + drawing).out) << drawing;
    }
}

}  // namespace
}  // namespace fuselage
