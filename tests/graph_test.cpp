#include "fuselage/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "error_of.h"
#include "fuselage/graph/analysis.h"

namespace fuselage {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Inputs = std::vector<std::vector<NodeId>>;

Graph graph_of(const Inputs& inputs) {
  std::vector<Node> nodes;
  for (const auto& of_node : inputs) nodes.push_back(derived_node(Op::add, 2, 2, of_node));
  return Graph(std::move(nodes));
}

std::vector<NodeId> order_of(const Inputs& inputs) {
  const Graph graph = graph_of(inputs);
  return {graph.order().begin(), graph.order().end()};
}

TEST(GraphOrder, IsKahnsWithAFirstInFirstOutQueue) {
  EXPECT_THAT(order_of({{}}), ElementsAre(0));
  EXPECT_THAT(order_of({{}, {0}, {1}}), ElementsAre(0, 1, 2));
  EXPECT_THAT(order_of({{1}, {2}, {}}), ElementsAre(2, 1, 0));
  // Both sources first, then their consumers as the queue meets them.
  EXPECT_THAT(order_of({{}, {0}, {}, {2}}), ElementsAre(0, 2, 1, 3));
  // Node 4 waits for the deep path, so 3 comes before it.
  EXPECT_THAT(order_of({{}, {0}, {1}, {0}, {0, 2}}), ElementsAre(0, 1, 3, 2, 4));
}

TEST(GraphOrder, CountsDuplicateEdgesOnceEach) {
  // Node 1 becomes ready at its second edge from 0, node 2 between the two visits of a stack, not of a queue.
  EXPECT_THAT(order_of({{}, {0, 0}, {0}}), ElementsAre(0, 1, 2));
  EXPECT_THAT(order_of({{}, {}, {0, 1, 0}, {1, 1}}), ElementsAre(0, 1, 2, 3));
  const Graph graph = graph_of({{}, {0, 0}, {0}});
  EXPECT_THAT(graph.consumers(0), ElementsAre(1, 1, 2));
  EXPECT_EQ(graph.uses(0), 3);
}

TEST(GraphOrder, PositionInvertsIt) {
  const Graph graph = graph_of({{}, {0}, {1}, {0}, {0, 2}});
  for (int i = 0; i < graph.size(); ++i)
    EXPECT_EQ(graph.position(graph.order()[static_cast<std::size_t>(i)]), i);
}

TEST(Graph, RefusesWhatIsNoDag) {
  EXPECT_THAT(error_of([] { graph_of({}); }), HasSubstr("empty"));
  EXPECT_THAT(error_of([] {
                graph_of({{}, {2}});
              }),
              AllOf(HasSubstr("nodes[1].inputs: 2"), HasSubstr("0 to 1")));
  EXPECT_THAT(error_of([] { graph_of({{-1}}); }), HasSubstr("-1"));
  EXPECT_THAT(error_of([] { graph_of({{}, {1}}); }), HasSubstr("reads itself"));
  EXPECT_THAT(error_of([] { graph_of({{}, {0, 3}, {1}, {2}}); }), HasSubstr("1 -> 2 -> 3 -> 1"));
}

TEST(Graph, DerivesCosts) {
  const Node node = derived_node(Op::conv2d, 3, 5, {});
  EXPECT_EQ(node.flops, 90.0);
  EXPECT_EQ(node.output_bytes, 60);
}

Dag dag_of(const Inputs& inputs) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t id = 0; id < inputs.size(); ++id)
    for (NodeId input : inputs[id]) edges.emplace_back(static_cast<std::size_t>(input), id);
  return Dag(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), inputs.size());
}

TEST(FindCycle, ListsACycleInEdgeOrder) {
  std::mt19937 random(3);
  int cyclic = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t n = 1 + random() % 7;
    Inputs inputs(n);
    for (auto edge = random() % (2 * n); edge > 0; --edge)
      inputs[random() % n].push_back(static_cast<NodeId>(random() % n));
    const std::vector<NodeId> cycle = find_cycle(dag_of(inputs));
    // Brute force: a graph without cycles loses a node without inputs until none is left.
    Inputs rest = inputs;
    std::vector<bool> gone(n, false);
    for (std::size_t pass = 0; pass < n; ++pass)
      for (std::size_t id = 0; id < n; ++id)
        gone[id] = std::all_of(rest[id].begin(), rest[id].end(),
                               [&](NodeId i) { return gone[static_cast<std::size_t>(i)]; });
    const bool has_cycle = std::find(gone.begin(), gone.end(), false) != gone.end();
    ASSERT_EQ(!cycle.empty(), has_cycle);
    cyclic += has_cycle ? 1 : 0;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const auto& readers = inputs[static_cast<std::size_t>(cycle[(i + 1) % cycle.size()])];
      EXPECT_THAT(readers, testing::Contains(cycle[i]));
    }
    EXPECT_EQ(std::set<NodeId>(cycle.begin(), cycle.end()).size(), cycle.size());
  }
  EXPECT_GT(cyclic, 200);
  EXPECT_LT(cyclic, 1800);
}

Inputs random_inputs(std::mt19937& random) {
  const std::size_t n = 1 + random() % 9;
  Inputs inputs(n);
  std::vector<NodeId> label(n);  // so that ids are not already a topological order
  for (std::size_t i = 0; i < n; ++i) label[i] = static_cast<NodeId>(i);
  for (std::size_t i = n; i > 1; --i) std::swap(label[i - 1], label[random() % i]);
  for (std::size_t i = 1; i < n; ++i)
    for (auto edge = random() % 4; edge > 0; --edge)
      inputs[static_cast<std::size_t>(label[i])].push_back(label[random() % i]);
  return inputs;
}

// Is there a path of at least one edge that does not pass `without`?
bool has_path(const Graph& graph, NodeId from, NodeId to, NodeId without = -1) {
  for (NodeId next : graph.consumers(from))
    if (next != without && (next == to || has_path(graph, next, to, without))) return true;
  return false;
}

TEST(Reachability, EqualsBruteForce) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    const Graph graph = graph_of(random_inputs(random));
    const Reachability reachability(graph);
    for (NodeId from = 0; from < graph.size(); ++from)
      for (NodeId to = 0; to < graph.size(); ++to)
        ASSERT_EQ(reachability.reaches(from, to), has_path(graph, from, to));
  }
}

// Does every path from a node without inputs to `id` pass `by`?
bool dominates(const Graph& graph, NodeId by, NodeId id) {
  if (by == id) return false;
  for (NodeId source = 0; source < graph.size(); ++source)
    if (graph.inputs(source).empty() && source != by && (source == id || has_path(graph, source, id, by)))
      return false;
  return true;
}

TEST(Dominators, EqualBruteForce) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const Graph graph = graph_of(random_inputs(random));
    const auto found = immediate_dominators(graph);
    for (NodeId id = 0; id < graph.size(); ++id) {
      // The immediate dominator is the last of a node's dominators in any topological order.
      std::optional<NodeId> expected;
      for (NodeId by : graph.order())
        if (dominates(graph, by, id)) expected = by;
      ASSERT_EQ(found[static_cast<std::size_t>(id)], expected) << "node " << id << ", round " << round;
    }
  }
}

TEST(ReadyNodes, HaveAllInputsDone) {
  const Graph graph = graph_of({{}, {0}, {0, 0}, {1, 2}, {}});
  EXPECT_THAT(ready_nodes(graph, {false, false, false, false, false}), ElementsAre(0, 4));
  EXPECT_THAT(ready_nodes(graph, {true, false, false, false, true}), ElementsAre(1, 2));
  EXPECT_THAT(ready_nodes(graph, {true, true, false, false, true}), ElementsAre(2));
  EXPECT_THAT(ready_nodes(graph, {true, true, true, true, true}), ElementsAre());
}

TEST(LiveRanges, EndAtTheLastReader) {
  const Graph graph = graph_of({{}, {0}, {}, {0, 1}, {3}});  // order 0 2 1 3 4
  const std::vector<LiveRange> ranges = live_ranges(graph);
  const auto expect = [&](NodeId id, int first, int last) {
    EXPECT_EQ(ranges[static_cast<std::size_t>(id)].first, first) << id;
    EXPECT_EQ(ranges[static_cast<std::size_t>(id)].last, last) << id;
  };
  expect(0, 0, 3);
  expect(1, 2, 3);
  expect(2, 1, 4);
  expect(3, 3, 4);
  expect(4, 4, 4);
  EXPECT_EQ(peak_live_bytes(graph), 4 * 16) << "0, 1, 2 and 3 while 3 runs";
}

TEST(LiveRanges, PeakEqualsBruteForce) {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    const Graph graph = graph_of(random_inputs(random));
    const std::vector<LiveRange> ranges = live_ranges(graph);
    std::int64_t peak = 0;
    for (int position = 0; position < graph.size(); ++position) {
      std::int64_t live = 0;
      for (NodeId id = 0; id < graph.size(); ++id) {
        const LiveRange range = ranges[static_cast<std::size_t>(id)];
        if (range.first <= position && position <= range.last) live += graph.bytes(id);
      }
      peak = std::max(peak, live);
    }
    ASSERT_EQ(peak_live_bytes(graph), peak);
  }
}

// As deep as a graph gets, with a skip over all of it: no algorithm may recurse along it.
TEST(Graph, HundredThousandNodeChain) {
  constexpr NodeId n = 100'000;
  Inputs inputs(n);
  for (NodeId id = 1; id < n; ++id) inputs[static_cast<std::size_t>(id)] = {id - 1};
  inputs[n - 1].push_back(0);
  const Graph graph = graph_of(inputs);
  for (NodeId id = 0; id < n; ++id) ASSERT_EQ(graph.position(id), id);
  const auto dominators = immediate_dominators(graph);
  EXPECT_FALSE(dominators[0]);
  EXPECT_EQ(dominators[n - 2], n - 3);
  EXPECT_EQ(dominators[n - 1], 0);
  EXPECT_EQ(live_ranges(graph)[0].last, n - 1);
  EXPECT_EQ(peak_live_bytes(graph), 3 * 16);
  inputs[0] = {n - 1};
  EXPECT_EQ(find_cycle(dag_of(inputs)).size(), static_cast<std::size_t>(n));
}

TEST(Reachability, ThousandsOfNodes) {
  constexpr NodeId n = 2000;
  Inputs inputs(n);
  for (NodeId id = 1; id < n; ++id) inputs[static_cast<std::size_t>(id)] = {id - 1};
  const Reachability reachability(graph_of(inputs));
  EXPECT_TRUE(reachability.reaches(0, n - 1));
  EXPECT_FALSE(reachability.reaches(n - 1, 0));
  EXPECT_FALSE(reachability.reaches(7, 7));
}

}  // namespace
}  // namespace fuselage
