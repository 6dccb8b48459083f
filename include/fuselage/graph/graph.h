// The tensor graph that is scheduled: one node per op, one output tensor per node, so a tensor is named by
// the node that makes it. Everything that engines read in a hot loop is a flat array; the Boost.Graph view
// beside them is for its algorithms (see analysis.h).
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuselage/graph/hardware.h"
#include "fuselage/graph/op.h"

namespace fuselage {

using NodeId = std::int32_t;

struct Node {
  Op op = Op::matmul;
  std::int64_t height = 0;  // shape [height, width], elements
  std::int64_t width = 0;
  std::vector<NodeId> inputs;     // producers; the same one may appear twice
  double flops = 0;               // cycles
  std::int64_t output_bytes = 0;  // bytes

  std::int64_t elements() const { return height * width; }
};

// A node whose flops and output_bytes follow from its op and shape (4 bytes an element).
Node derived_node(Op op, std::int64_t height, std::int64_t width, std::vector<NodeId> inputs);

// Producer -> consumer, one edge per input entry; parallel edges are kept.
using Dag = boost::compressed_sparse_row_graph<boost::bidirectionalS>;

class Graph {
 public:
  // All tensors together take at most this many bytes, so that no sum of working sets overflows.
  static constexpr std::int64_t max_total_bytes = std::int64_t{1} << 61;

  // Node ids are positions in `nodes`. Throws Error for an empty list, an input that names no node, a node
  // that reads itself, or a cycle (whose nodes the message lists).
  explicit Graph(std::vector<Node> nodes);

  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const NodeId> inputs(NodeId id) const { return node(id).inputs; }
  // Consumers, one entry per edge, in the order in which the consumers appear.
  std::span<const NodeId> consumers(NodeId id) const {
    const auto i = static_cast<std::size_t>(id);
    return std::span(consumers_).subspan(consumer_begin_[i], consumer_begin_[i + 1] - consumer_begin_[i]);
  }
  int uses(NodeId id) const { return static_cast<int>(consumers(id).size()); }
  std::int64_t bytes(NodeId id) const { return node(id).output_bytes; }

  // The order that a schedule visits: Kahn's algorithm with a first-in first-out queue, seeded in id order.
  std::span<const NodeId> order() const { return order_; }
  int position(NodeId id) const { return position_[static_cast<std::size_t>(id)]; }

  const Dag& dag() const { return dag_; }

 private:
  std::vector<Node> nodes_;
  std::vector<std::size_t> consumer_begin_;  // size() + 1
  std::vector<NodeId> consumers_;
  std::vector<NodeId> order_;
  std::vector<int> position_;
  Dag dag_;
};

// A graph and the machine it is to run on: what one search is about.
struct Workload {
  std::string name;
  Graph graph;
  Hardware hardware;
  // What the user calls the nodes, for drawings: any text, one per node, empty where there is none. No
  // schedule, price or key depends on it. An empty list: none has a name.
  std::vector<std::string> node_names = {};
};

}  // namespace fuselage
