#include "fuselage/graph/graph.h"

#include <algorithm>

#include "fuselage/core/error.h"
#include "fuselage/graph/analysis.h"

namespace fuselage {
namespace {

void check_inputs(std::span<const Node> nodes) {
  if (nodes.empty()) fail("nodes: the graph is empty; expected at least one node");
  const auto n = static_cast<NodeId>(nodes.size());
  for (NodeId id = 0; id < n; ++id) {
    for (NodeId input : nodes[static_cast<std::size_t>(id)].inputs) {
      if (input < 0 || input >= n)
        fail("nodes[{}].inputs: {} names no node; expected ids from 0 to {}", id, input, n - 1);
      if (input == id) fail("nodes[{}].inputs: node {} reads itself", id, id);
    }
  }
}

void check_bytes(std::span<const Node> nodes) {
  std::int64_t total = 0;
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    const std::int64_t bytes = nodes[id].output_bytes;
    if (bytes < 0 || bytes > Graph::max_total_bytes - total)
      fail("nodes[{}].output_bytes: {}; expected 0 or more, and at most {} for all nodes together", id, bytes,
           Graph::max_total_bytes);
    total += bytes;
  }
}

Dag make_dag(std::span<const Node> nodes) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t id = 0; id < nodes.size(); ++id)
    for (NodeId input : nodes[id].inputs) edges.emplace_back(static_cast<std::size_t>(input), id);
  return Dag(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), nodes.size());
}

// "3 -> 5 -> 3"; the middle of a long one is left out.
std::string join_cycle(const std::vector<NodeId>& cycle) {
  constexpr std::size_t shown = 12;
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > shown && i == shown / 2)
      text += fmt::format("... ({} nodes) -> ", cycle.size() - shown);
    if (cycle.size() > shown && i >= shown / 2 && i < cycle.size() - shown / 2) continue;
    text += fmt::format("{} -> ", cycle[i]);
  }
  return text + fmt::format("{}", cycle.front());
}

}  // namespace

Node derived_node(Op op, std::int64_t height, std::int64_t width, std::vector<NodeId> inputs) {
  const double elements = static_cast<double>(height * width);
  return {.op = op,
          .height = height,
          .width = width,
          .inputs = std::move(inputs),
          .flops = elements * default_flops_per_element(op),
          .output_bytes = height * width * 4};
}

Graph::Graph(std::vector<Node> nodes) : nodes_(std::move(nodes)) {
  check_inputs(nodes_);
  check_bytes(nodes_);
  dag_ = make_dag(nodes_);
  if (const std::vector<NodeId> cycle = find_cycle(dag_); !cycle.empty())
    fail("nodes: the graph has a cycle: {}; expected a directed acyclic graph", join_cycle(cycle));

  const std::size_t n = nodes_.size();
  consumer_begin_.assign(n + 1, 0);
  for (const Node& consumer : nodes_)
    for (NodeId input : consumer.inputs) ++consumer_begin_[static_cast<std::size_t>(input) + 1];
  for (std::size_t i = 0; i < n; ++i) consumer_begin_[i + 1] += consumer_begin_[i];
  consumers_.resize(consumer_begin_[n]);
  std::vector<std::size_t> next(consumer_begin_.begin(), consumer_begin_.end() - 1);
  for (std::size_t id = 0; id < n; ++id)
    for (NodeId input : nodes_[id].inputs)
      consumers_[next[static_cast<std::size_t>(input)]++] = static_cast<NodeId>(id);

  // Boost's topological_sort is depth first; the rules ask for this queue.
  std::vector<std::size_t> waiting(n);
  for (std::size_t id = 0; id < n; ++id) {
    waiting[id] = nodes_[id].inputs.size();
    if (waiting[id] == 0) order_.push_back(static_cast<NodeId>(id));
  }
  for (std::size_t head = 0; head < order_.size(); ++head)
    for (NodeId consumer : consumers(order_[head]))
      if (--waiting[static_cast<std::size_t>(consumer)] == 0) order_.push_back(consumer);
  position_.resize(n);
  for (std::size_t i = 0; i < n; ++i) position_[static_cast<std::size_t>(order_[i])] = static_cast<int>(i);
}

}  // namespace fuselage
