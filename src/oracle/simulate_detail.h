// What the two halves of the independent check (simulate_seed.cpp, simulate_physical.cpp) have in common: the
// boundary of a kernel, the cycles of its nodes, and the faults that don't depend on prices. Plain sets,
// written from the rules; nothing here is shared with the search.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fuselage/oracle/simulate.h"

namespace fuselage::oracle::detail {

using Tensors = std::set<NodeId>;

inline Tensors difference(Tensors from, const Tensors& what) {
  for (NodeId id : what) from.erase(id);
  return from;
}

// The nodes of one kernel and the tensors that cross its edge. A node joins after those of its inputs that
// are members.
class Group {
 public:
  explicit Group(const Graph& graph) : graph_(&graph) {}
  void add(NodeId node);

  const std::vector<NodeId>& sequence() const { return sequence_; }
  bool has(NodeId node) const { return members_.contains(node); }
  // Distinct inputs of members that are not members.
  const Tensors& inputs() const { return inputs_; }
  // Members that no member reads, or that a node outside reads too.
  const Tensors& outputs() const { return outputs_; }

 private:
  const Graph* graph_;
  std::vector<NodeId> sequence_;
  Tensors members_;
  Tensors inputs_;
  Tensors outputs_;
  std::map<NodeId, int> reads_inside_;  // by member: edges that end inside
};

// Bytes of whole tensors, and of what a tile of edge `tile` needs of each: min(bytes, 4 * tile^2). Sums stop
// at the largest integer instead of wrapping.
std::int64_t add_bytes(std::int64_t a, std::int64_t b);
std::int64_t full_bytes(const Graph& graph, const Tensors& tensors);
std::int64_t slice_bytes(const Graph& graph, const Tensors& tensors, int tile);

// Cycles of the nodes one after the other, summed in the order given.
double compute_cycles(const Graph& graph, std::span<const NodeId> nodes, int tile);

// Which nodes ran and what is left to read; says what is wrong with a kernel whatever it costs.
class Progress {
 public:
  Progress(const Graph& graph, const Hardware& hardware, walk::Order order);

  // Empty kernels, ORDER, DUPLICATE, NOT_CONNECTED, TOO_DEEP, TILE and retained ids that name no node.
  std::optional<Fault> check(int kernel, const walk::PlanKernel& plan) const;
  std::optional<Fault> check_coverage() const;

  // Marks the node as run and takes its reads off the uses that are left.
  void run(int kernel, NodeId node);
  int uses_left(NodeId tensor) const { return uses_left_[static_cast<std::size_t>(tensor)]; }
  bool complete() const { return nodes_run_ == graph_->size(); }

 private:
  std::optional<Fault> check_member(int kernel, NodeId node, const Group& before) const;
  std::optional<Fault> check_place(int kernel, NodeId node, const Group& before) const;
  std::optional<Fault> check_lists(int kernel, const walk::PlanKernel& plan) const;
  bool known(NodeId id) const { return id >= 0 && id < graph_->size(); }

  const Graph* graph_;
  const Hardware* hardware_;
  walk::Order order_;
  int nodes_run_ = 0;
  std::vector<int> uses_left_;
  std::vector<std::optional<int>> kernel_of_;  // by node; none: has not run
};

Fault not_retainable(int kernel, NodeId tensor);
// "kernel 3: working set 41984 B exceeds fast_mem_capacity 25000 B" and then `where`.
Fault out_of_memory(int kernel, std::int64_t working_set, const Hardware& hardware, const std::string& where);

Simulation simulate_seed(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                         walk::Rules rules);
Simulation simulate_physical(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                             walk::Order order);

}  // namespace fuselage::oracle::detail
