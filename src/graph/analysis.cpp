#include "fuselage/graph/analysis.h"

#include <pthread.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/transitive_closure.hpp>
#include <exception>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

std::size_t index(NodeId id) {
  return static_cast<std::size_t>(id);
}

using Vertex = boost::graph_traits<Dag>::vertex_descriptor;
using Edge = boost::graph_traits<Dag>::edge_descriptor;

// Keeps the first edge that closes a cycle, and the tree of the search. Parents never change once set, so the
// tree path from the edge's target to its source is still there when the search is over.
struct BackEdgeVisitor : boost::default_dfs_visitor {
  std::vector<Vertex>& parent;
  std::optional<Edge>& back;

  BackEdgeVisitor(std::vector<Vertex>& parent_of, std::optional<Edge>& back_edge)
      : parent(parent_of), back(back_edge) {}
  void tree_edge(const Edge& edge, const Dag& dag) const { parent[target(edge, dag)] = source(edge, dag); }
  void back_edge(const Edge& edge, const Dag&) const {
    if (!back) back = edge;
  }
};

// Boost's Lengauer-Tarjan compresses paths by recursion, as deep as the graph is; 100,000 nodes overflow the
// usual 8 MiB in an unoptimised build. So it runs on a thread whose stack fits; pages never touched cost
// nothing.
template <class Work>
void run_on_stack(std::size_t bytes, Work work) {
  struct Call {
    Work& work;
    std::exception_ptr thrown;
  } call{work, nullptr};
  const auto body = [](void* argument) -> void* {
    auto& job = *static_cast<Call*>(argument);
    try {
      job.work();
    } catch (...) {
      job.thrown = std::current_exception();
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  const int status = pthread_create(&thread, &attributes, body, &call);
  pthread_attr_destroy(&attributes);
  if (status != 0) fail("dominators: no memory for a stack of {} bytes; expected a smaller graph", bytes);
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

// The graph with one more vertex, size(), that precedes every node without inputs. (A compressed sparse row
// graph lacks degree(), which the dominator tree's concept check asks for.)
using RootedDag = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

RootedDag with_source(const Graph& graph) {
  RootedDag dag(index(graph.size()) + 1);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.inputs(id).empty()) add_edge(index(graph.size()), index(id), dag);
    for (NodeId input : graph.inputs(id)) add_edge(index(input), index(id), dag);
  }
  return dag;
}

}  // namespace

std::vector<NodeId> find_cycle(const Dag& dag) {
  std::vector<Vertex> parent(num_vertices(dag));
  std::optional<Edge> back;
  boost::depth_first_search(dag, boost::visitor(BackEdgeVisitor(parent, back)));
  if (!back) return {};
  std::vector<NodeId> cycle;
  for (Vertex v = source(*back, dag); v != target(*back, dag); v = parent[v])
    cycle.push_back(static_cast<NodeId>(v));
  cycle.push_back(static_cast<NodeId>(target(*back, dag)));
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

Reachability::Reachability(const Graph& graph) : n_(index(graph.size())), closure_(n_ * n_) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> closed;
  boost::transitive_closure(graph.dag(), closed);
  for (auto [edge, end] = edges(closed); edge != end; ++edge)
    closure_[source(*edge, closed) * n_ + target(*edge, closed)] = true;
}

bool Reachability::reaches(NodeId from, NodeId to) const {
  return closure_[index(from) * n_ + index(to)];
}

std::vector<NodeId> ready_nodes(const Graph& graph, const std::vector<bool>& done) {
  std::vector<NodeId> ready;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto inputs = graph.inputs(id);
    const auto is_done = [&](NodeId input) { return done[index(input)]; };
    if (!done[index(id)] && std::all_of(inputs.begin(), inputs.end(), is_done)) ready.push_back(id);
  }
  return ready;
}

std::vector<std::optional<NodeId>> immediate_dominators(const Graph& graph) {
  const RootedDag dag = with_source(graph);
  const std::size_t source = index(graph.size());
  std::vector<std::size_t> parent(num_vertices(dag), source);
  const std::size_t bytes_per_node = 4096;  // a frame of the recursion, sanitizers included
  run_on_stack((std::size_t{1} << 20) + bytes_per_node * parent.size(), [&] {
    boost::lengauer_tarjan_dominator_tree(
        dag, source, boost::make_iterator_property_map(parent.begin(), get(boost::vertex_index, dag)));
  });
  std::vector<std::optional<NodeId>> dominators(source);
  for (std::size_t id = 0; id < source; ++id)
    if (parent[id] != source) dominators[id] = static_cast<NodeId>(parent[id]);
  return dominators;
}

std::vector<LiveRange> live_ranges(const Graph& graph) {
  std::vector<LiveRange> ranges;
  ranges.reserve(index(graph.size()));
  for (NodeId id = 0; id < graph.size(); ++id) {
    LiveRange range{.first = graph.position(id), .last = graph.uses(id) == 0 ? graph.size() - 1 : 0};
    for (NodeId consumer : graph.consumers(id)) range.last = std::max(range.last, graph.position(consumer));
    ranges.push_back(range);
  }
  return ranges;
}

std::int64_t peak_live_bytes(const Graph& graph) {
  std::vector<std::int64_t> change(index(graph.size()) +
                                   1);  // live bytes at a position, minus at the one before
  const std::vector<LiveRange> ranges = live_ranges(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    change[index(ranges[index(id)].first)] += graph.bytes(id);
    change[index(ranges[index(id)].last) + 1] -= graph.bytes(id);
  }
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (std::int64_t step : change) peak = std::max(peak, live += step);
  return peak;
}

}  // namespace fuselage
