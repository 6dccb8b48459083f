// Parts of a graph that can be exchanged for each other, such as attention heads side by side. In free order
// a state is as good as one in which two of them have changed places, so the search keeps one state of each
// kind: among h heads that saves up to h! of them.
//
// Towers are found by colour refinement (Weisfeiler and Leman): nodes that look alike from above and below
// share a colour; the connected parts of the nodes whose colour is not unique are candidates. Two of them are
// towers of one group only if exchanging them maps every edge to an edge, which is checked.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/graph/graph.h"
#include "fuselage/walk/problem.h"

namespace fuselage::walk {

class Towers {
 public:
  // What isn't found by the deadline is missing.
  explicit Towers(const Graph& graph, const Deadline& deadline = {});

  bool empty() const { return groups_.empty(); }
  // Where each position goes when the towers of a state are sorted, those that have most done first; empty if
  // they are sorted already.
  std::vector<int> sorting(const State& state) const;
  // Of all exchanges the one whose done positions come first (lexicographically, sorted); empty: none is
  // needed.
  std::vector<int> earliest(const State& state) const;
  // The state with every position moved.
  State moved(const State& state, const std::vector<int>& to) const;

 private:
  using Tower = std::vector<int>;  // positions; node j of one tower corresponds to node j of the others
  using Group = std::vector<Tower>;

  std::uint64_t signature_of(const State& state, const Tower& tower) const;

  const Graph& graph_;
  std::vector<Group> groups_;
  int first_ = 0;  // least position of a tower
};

// Which node of the graph a node of a sorted state stands for, along one schedule.
class Labels {
 public:
  explicit Labels(const Graph& graph) : graph_(graph), actual_(static_cast<std::size_t>(graph.size())) {
    std::iota(actual_.begin(), actual_.end(), 0);
    sorted_ = actual_;
  }
  int actual(int position) const { return actual_[static_cast<std::size_t>(position)]; }
  NodeId actual_id(NodeId id) const { return id_at(actual(graph_.position(id))); }
  NodeId sorted_id(NodeId id) const { return id_at(sorted_[static_cast<std::size_t>(graph_.position(id))]); }
  // The state was sorted: every position went to to[position]. Empty: none did.
  void move(const std::vector<int>& to) {
    if (to.empty()) return;
    std::vector<int> next(actual_.size());
    for (std::size_t at = 0; at < to.size(); ++at) next[static_cast<std::size_t>(to[at])] = actual_[at];
    actual_ = std::move(next);
    for (std::size_t at = 0; at < actual_.size(); ++at)
      sorted_[static_cast<std::size_t>(actual_[at])] = static_cast<int>(at);
  }

 private:
  NodeId id_at(int position) const { return graph_.order()[static_cast<std::size_t>(position)]; }

  const Graph& graph_;
  std::vector<int> actual_;  // by position in the sorted state
  std::vector<int> sorted_;  // the inverse
};

}  // namespace fuselage::walk
