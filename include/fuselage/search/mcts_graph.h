// The states that tree search has met, once each, and the kernels between them. Equal states are one node,
// whichever way they were reached (a transposition table by key, verified by ==), so a node keeps no cost
// from the start, only what holds for every path to it: bounds on the cost to go. Nodes and edges are numbers
// into flat arrays; a kernel is its place in the canonical order, listed anew when a plan is read off.
#pragma once

#include <algorithm>
#include <boost/container/deque.hpp>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace fuselage::search {

template <class State>
class StateGraph {
 public:
  using Index = std::uint32_t;
  static constexpr Index none = std::numeric_limits<Index>::max();

  // A kernel that was priced.
  struct Edge {
    double price = 0;  // cycles
    Index child = 0;
    std::uint32_t kernel = 0;  // place among the declared kernels of the state
    std::uint32_t visits = 0;
    float prior = 1;
  };

  // All costs are to go, in cycles: lower <= cheapest completion <= best.
  struct Node {
    std::uint64_t key = 0;
    double lower = 0;
    double best = std::numeric_limits<double>::infinity();  // of the best completion found
    double guess = 0;                                       // finite; what is thought before one is found
    double mean = 0;                                        // of the completions sampled through this node
    std::size_t first = 0;                                  // edges [first, first + edges); room for `room`
    std::uint32_t edges = 0;                                // those that can still matter
    std::uint32_t room = 0;
    std::uint32_t best_edge = 0;  // offset of the edge that `best` runs over; moot while that is infinite
    std::uint32_t visits = 0;
    std::uint32_t declared = 0;  // kernels to price in the end
    std::uint32_t priced = 0;    // that many of them, in the order of pricing
    Index ranking = none;        // the order of pricing, if it isn't the default and there are more to price
    bool expanded = false;
    bool complete = false;  // its schedule is
    bool closed = false;    // lower == best: nothing is left to find

    bool all_priced() const { return priced == declared; }
  };

  Index size() const { return static_cast<Index>(nodes_.size()); }
  Node& node(Index n) { return nodes_[n]; }
  const Node& node(Index n) const { return nodes_[n]; }
  const State& state(Index n) const { return states_[n]; }
  Edge* edges(const Node& node) { return edges_.data() + node.first; }
  const Edge* edges(const Node& node) const { return edges_.data() + node.first; }
  const Node& child(const Edge& edge) const { return nodes_[edge.child]; }

  // The node of a state; true if it is new.
  std::pair<Index, bool> find_or_add(State&& state, std::uint64_t key) {
    if ((nodes_.size() + 1) * 2 > table_.size()) grow_table();
    std::size_t at = slot(key);
    for (; table_[at] != none; at = (at + 1) & (table_.size() - 1))
      if (nodes_[table_[at]].key == key && states_[table_[at]] == state) return {table_[at], false};
    const Index n = size();
    table_[at] = n;
    nodes_.emplace_back().key = key;
    states_.push_back(std::move(state));
    return {n, true};
  }

  // Edges of a node lie side by side; if others lie behind them, they move to the end.
  void add_edge(Index n, const Edge& edge) {
    Node& node = nodes_[n];
    if (node.room == 0) node.first = edges_.size();
    if (node.edges == node.room && node.first + node.room != edges_.size()) move_edges(node);
    if (node.edges == node.room) {
      edges_.emplace_back();
      ++node.room;
    }
    edges_[node.first + node.edges++] = edge;
  }

  // What nodes, edges and table take, without what a state holds outside itself.
  std::uint64_t bytes() const {
    return room_of(nodes_) + states_.size() * sizeof(State) + room_of(edges_) +
           table_.size() * sizeof(Index);
  }

 private:
  // A list that is nearly full will soon be copied to one of twice its room.
  template <class T>
  static std::uint64_t room_of(const std::vector<T>& list) {
    const std::uint64_t room = list.capacity() * sizeof(T);
    return list.size() + list.size() / 16 < list.capacity() ? room : 3 * room;
  }

  // Fibonacci hashing: keys need not be uniform in their low bits.
  std::size_t slot(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 20) & (table_.size() - 1);
  }
  void grow_table() {
    table_.assign(std::max<std::size_t>(64, 2 * table_.size()), none);
    for (Index n = 0; n < nodes_.size(); ++n) {
      std::size_t at = slot(nodes_[n].key);
      while (table_[at] != none) at = (at + 1) & (table_.size() - 1);
      table_[at] = n;
    }
  }
  void move_edges(Node& node) {
    const std::size_t from = node.first;
    node.first = edges_.size();
    node.room = std::max<std::uint32_t>(8, 2 * node.room);
    edges_.resize(node.first + node.room);
    std::copy_n(edges_.begin() + static_cast<std::ptrdiff_t>(from), node.edges,
                edges_.begin() + static_cast<std::ptrdiff_t>(node.first));
  }

  std::vector<Node> nodes_;
  // States stay where they are: copying millions of them takes longer than a search may be late.
  using InBlocks = boost::container::deque_options_t<boost::container::block_size<1024>>;
  boost::container::deque<State, void, InBlocks> states_;
  std::vector<Edge> edges_;
  std::vector<Index> table_;  // open addressing, at most half full; a power of two
};

}  // namespace fuselage::search
