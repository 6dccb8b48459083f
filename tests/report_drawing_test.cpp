#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

#include "error_of.h"
#include "fuselage/core/figures.h"
#include "fuselage/report/drawing.h"
#include "fuselage/report/label.h"
#include "report_plans.h"

namespace fuselage::report {
namespace {

namespace pt = boost::property_tree;
using testing::Contains;

const std::string rtl = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d";  // Hebrew, right to left

pt::ptree xml_of(const std::string& text) {
  std::istringstream in(text);
  pt::ptree tree;
  pt::read_xml(in, tree);
  return tree;
}

// All texts of elements of this name, in order.
void collect(const pt::ptree& tree, const std::string& element, std::vector<std::string>& texts) {
  for (const auto& [name, child] : tree) {
    if (name == element) texts.push_back(child.data());
    collect(child, element, texts);
  }
}
std::vector<std::string> texts_of(const std::string& svg, const std::string& element) {
  std::vector<std::string> texts;
  collect(xml_of(svg), element, texts);
  return texts;
}

Workload chain(std::vector<std::string> names) {
  std::vector<Node> nodes;
  for (int id = 0; id < static_cast<int>(names.size()); ++id)
    nodes.push_back(derived_node(id == 0 ? fuselage::Op::matmul : fuselage::Op::relu, 64, 64,
                                 id == 0 ? std::vector<NodeId>{} : std::vector<NodeId>{id - 1}));
  return {.name = "chain",
          .graph = Graph(nodes),
          .hardware = {1 << 20, 8, 100, 4},
          .node_names = std::move(names)};
}

bool inside(const Box& in, const Box& out) {
  return in.x >= out.x - 0.2 && in.y >= out.y - 0.2 && in.x + in.width <= out.x + out.width + 0.2 &&
         in.y + in.height <= out.y + out.height + 0.2;
}

Layout laid_out(const Subject& subject, const Schedule& schedule) {
  const DrawnGraph graph = drawn_graph(subject, schedule);
  return layout_of(
      dot_of(subject, schedule),
      {.nodes = graph.nodes.size(), .edges = graph.edges.size(), .clusters = schedule.kernels.size()}, 60);
}

TEST(ReportDrawing, DotPutsEveryNodeIntoTheBoxOfItsKernel) {
  Dice dice(4);
  for (int round = 0; round < 12; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 3 + 2 * round});
    const Schedule schedule = schedule_of(diced_plan(workload, walk::Rules::seed_honest, dice), "diced");
    const Subject subject = subject_of(workload);
    const DrawnGraph graph = drawn_graph(subject, schedule);
    const Layout layout = laid_out(subject, schedule);
    ASSERT_EQ(layout.nodes.size(), static_cast<std::size_t>(workload.graph.size()));
    ASSERT_EQ(layout.edges.size(), graph.edges.size());
    ASSERT_EQ(layout.clusters.size(), schedule.kernels.size());
    const Box page = {0, 0, layout.width, layout.height};
    for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
      const int own = graph.nodes[i].kernel;
      for (int k = 0; k < static_cast<int>(layout.clusters.size()); ++k)
        EXPECT_EQ(inside(layout.nodes[i], layout.clusters[static_cast<std::size_t>(k)]), k == own)
            << "node " << i << ", kernel " << k;
      EXPECT_TRUE(inside(layout.nodes[i], page));
    }
    for (const std::string& path : layout.edges) EXPECT_THAT(path, testing::StartsWith("M"));
    std::size_t reads = 0;
    for (const Op& op : subject.ops) reads += op.inputs.size();
    EXPECT_EQ(graph.edges.size(), reads);
    const LayoutSize of_kernels = {.nodes = schedule.kernels.size(), .edges = kernel_edges(graph).size()};
    const Layout overview = layout_of(overview_dot_of(subject, schedule), of_kernels, 60);
    for (const Box& box : overview.nodes) EXPECT_TRUE(inside(box, {0, 0, overview.width, overview.height}));
  }
}

TEST(ReportDrawing, AnOpThatRunsAgainIsDrawnAgain) {
  const Subject subject = subject_of(chain({"a", "b", "c"}));
  const Schedule schedule = {
      .label = "s", .rules = "r", .kernels = {{.ops = {0}, .tile = "1"}, {.ops = {0, 1}, .tile = "1"}}};
  const DrawnGraph graph = drawn_graph(subject, schedule);
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_EQ(graph.nodes[3].op, 2);
  EXPECT_EQ(graph.nodes[3].kernel, no_kernel) << "no kernel runs it";
  ASSERT_EQ(graph.edges.size(), 2U);
  EXPECT_EQ(graph.edges[0].from, 1) << "from the op in the same kernel";
  EXPECT_EQ(graph.edges[0].to, 2);
  EXPECT_TRUE(kernel_edges(graph).empty());
  EXPECT_EQ(laid_out(subject, schedule).nodes.size(), 4U);
}

TEST(ReportDrawing, MembersMayBeNamedInAnyOrder) {
  const Subject subject = subject_of(chain({"a", "b", "c"}));
  const Schedule schedule = {.label = "s", .rules = "r", .kernels = {{.ops = {2, 1, 0}, .tile = "1"}}};
  const DrawnGraph graph = drawn_graph(subject, schedule);
  ASSERT_EQ(graph.edges.size(), 2U);
  for (const DrawnEdge& edge : graph.edges)
    EXPECT_EQ(graph.nodes[static_cast<std::size_t>(edge.from)].op + 1,
              graph.nodes[static_cast<std::size_t>(edge.to)].op);
}

TEST(ReportDrawing, AnswersThatAreNotAboutTheGraphAreRefused) {
  const std::string dot = "digraph g { n0 [width=1]; n1; n0 -> n1 [id=e0]; }";
  EXPECT_EQ(layout_of(dot, {.nodes = 2, .edges = 1}, 60).edges.size(), 1U);
  for (const LayoutSize& other : {LayoutSize{.nodes = 1, .edges = 1}, LayoutSize{.nodes = 2, .edges = 0},
                                  LayoutSize{.nodes = 3, .edges = 1}, LayoutSize{.nodes = 2, .edges = 2}})
    EXPECT_THAT(error_of([&] { layout_of(dot, other, 60); }), testing::StartsWith("dot: "));
}

TEST(ReportDrawing, TheFiguresAreThoseOfTheKernels) {
  Dice dice(8);
  const Workload workload = random_workload(dice, {.nodes = 9});
  const Schedule schedule = schedule_of(*best_plan(workload, walk::Rules::seed_honest), "best");
  const std::vector<std::string> texts = texts_of(graph_svg(dot_of(subject_of(workload), schedule)), "text");
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    EXPECT_THAT(texts, Contains(fmt::format("kernel {}: {}", k, cycles(kernel.latency))));
    EXPECT_THAT(texts, Contains(fmt::format("tile {}, {}", kernel.tile, kernel.bound)));
  }
  EXPECT_EQ(texts.size(), 2 * schedule.kernels.size() + static_cast<std::size_t>(workload.graph.size()));
}

TEST(ReportDrawing, NamesAreLabelsAndNothingElse) {
  const std::vector<std::string> names = {"<script>alert(1)</script>",
                                          "a\"]; b [label=\"c",
                                          "\\N\\G\\l&lt;&#65;",
                                          rtl + "\xe2\x80\xae",
                                          std::string(10'000, 'x'),
                                          "line\nbreak\x01\x7f",
                                          "<b>"};
  const Workload workload = chain(names);
  const Schedule schedule = schedule_of(*best_plan(workload, walk::Rules::seed_honest), "best");
  const Subject subject = subject_of(workload);
  const std::string dot = dot_of(subject, schedule);
  const std::vector<std::string> texts = texts_of(graph_svg(dot), "text");
  for (const std::string& name : names) EXPECT_THAT(texts, Contains(label_of(name, 18))) << dot;

  // The layout does not depend on what the nodes are called.
  const Layout plain = laid_out(subject_of(chain({"1", "2", "3", "4", "5", "6", "7"})), schedule);
  const Layout named = laid_out(subject, schedule);
  EXPECT_EQ(plain.edges, named.edges);
}

}  // namespace
}  // namespace fuselage::report
