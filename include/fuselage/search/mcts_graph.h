// The states that tree search has met, once each, and the kernels between them. States that are equal are one
// node, whichever way they were reached (a transposition table by key, verified), so what is known of a state
// holds for all paths to it: a node keeps no cost from the start, only bounds on the cost to go. Nodes and
// edges are numbers into flat arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace fuselage::search {

inline constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

template <class State>
class StateGraph {
 public:
  // A kernel that was priced. What it leads to may be better known than when it was priced: see the child.
  struct Edge {
    double price = 0;           // cycles
    std::uint32_t child = 0;    // node
    std::uint32_t kernel = 0;   // place among the kernels of the state, in canonical order
    std::uint32_t visits = 0;
    float prior = 1;
  };

  // All costs are to go, in cycles. lower <= cheapest completion <= best.
  struct Node {
    std::uint64_t key = 0;
    double lower = 0;  // over the kernels that are not left out by a guide
    double best = std::numeric_limits<double>::infinity();  // of the best completion found
    double guess = 0;                                       // before anything was found
    double mean = 0;                                        // of the completions sampled through this node
    std::uint32_t first = 0;     // edges [first, first + edges), room for `room`
    std::uint32_t edges = 0;     // those that can still matter
    std::uint32_t room = 0;
    std::uint32_t priced = 0;    // kernels, in the order of pricing
    std::uint32_t declared = 0;  // kernels to price in the end
    std::uint32_t best_edge = 0; // offset of the edge that `best` runs over; moot while it is infinite
    std::uint32_t visits = 0;
    std::uint32_t deferred = no_node;  // index of what a guide said of the kernels not yet priced
    bool expanded = false;
    bool closed = false;  // lower == best: nothing is left to find

    bool all_priced() const { return priced == declared; }
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  Node& node(std::uint32_t n) { return nodes_[n]; }
  const Node& node(std::uint32_t n) const { return nodes_[n]; }
  const State& state(std::uint32_t n) const { return states_[n]; }
  Edge* edges(const Node& n) { return edges_.data() + n.first; }
  const Edge* edges(const Node& n) const { return edges_.data() + n.first; }

  // The node of a state; true if it is new.
  std::pair<std::uint32_t, bool> find_or_add(State&& state, std::uint64_t key) {
    if ((nodes_.size() + 1) * 2 > table_.size()) grow();
    std::size_t at = slot(key);
    for (; table_[at] != no_node; at = (at + 1) & (table_.size() - 1)) {
      const std::uint32_t n = table_[at];
      if (nodes_[n].key == key && states_[n] == state) return {n, false};
    }
    const std::uint32_t n = size();
    table_[at] = n;
    nodes_.push_back({.key = key});
    states_.push_back(std::move(state));
    return {n, true};
  }

  // Edges of one node lie side by side; a node that gets more than it has room for moves to the end.
  void add_edge(std::uint32_t n, const Edge& edge) {
    Node& node = nodes_[n];
    if (node.edges == node.room && node.first + node.room != edges_.size()) move_edges(node);
    if (node.edges == node.room) {
      edges_.emplace_back();
      ++node.room;
    }
    edges_[node.first + node.edges++] = edge;
  }
  // Where the edges of a node that has none yet will lie.
  void begin_edges(Node& node) { node.first = static_cast<std::uint32_t>(edges_.size()); }

  // What the nodes, edges and the table take; not what a state holds outside itself.
  std::uint64_t bytes() const {
    return nodes_.size() * (sizeof(Node) + sizeof(State)) + edges_.size() * sizeof(Edge) +
           table_.size() * sizeof(std::uint32_t);
  }

 private:
  std::size_t slot(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 20) & (table_.size() - 1);
  }
  void grow() {
    table_.assign(std::max<std::size_t>(64, 2 * table_.size()), no_node);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      std::size_t at = slot(nodes_[n].key);
      while (table_[at] != no_node) at = (at + 1) & (table_.size() - 1);
      table_[at] = n;
    }
  }
  void move_edges(Node& node) {
    const std::size_t from = node.first;
    begin_edges(node);
    node.room = std::max<std::uint32_t>(8, 2 * node.room);
    edges_.resize(edges_.size() + node.room);
    std::copy_n(edges_.begin() + static_cast<std::ptrdiff_t>(from), node.edges,
                edges_.begin() + node.first);
  }

  std::vector<Node> nodes_;
  std::vector<State> states_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> table_;  // open addressing, at most half full
};

}  // namespace fuselage::search
