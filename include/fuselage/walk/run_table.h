// Everything about contiguous runs of the fixed order that does not depend on what is resident: computed once
// per workload, read by the episode and by every engine. A run is a group of the rules: `first` is a position
// in the order, its members are the `count` nodes from there. Only runs that can be one kernel are kept:
// connected (each node but the first reads a member) and at most max_fusion_depth long.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/rules.h"

namespace fuselage::walk {

// Cycles of one node at a tile, as the rules' compute model has it. The order of operations is part of the
// contract: figures are compared bit for bit.
double node_cycles(const Node& node, int tile);

// Bytes of a tensor that stream through fast memory at a tile.
inline std::int64_t slice_bytes(std::int64_t bytes, int tile) {
  const std::int64_t slice = std::int64_t{4} * tile * tile;
  return bytes < slice ? bytes : slice;
}

struct Run {
  int first = 0;  // position in the order
  int count = 0;
  std::size_t inputs_begin = 0;  // into RunTable's pool
  int input_count = 0;
  int output_count = 0;
  std::int64_t input_bytes = 0;             // of the boundary inputs
  std::int64_t output_bytes = 0;            // of the boundary outputs
  std::array<double, 4> cycles = {};        // by tile
  std::array<std::int64_t, 4> slices = {};  // bytes of boundary inputs and outputs, by tile

  int end() const { return first + count; }
};

class RunTable {
 public:
  static constexpr std::size_t most_runs = 5'000'000;

  // Throws Error if graph and fusion depth make more than most_runs.
  RunTable(const Graph& graph, const Hardware& hardware);

  // The runs that start at a position, shortest first; never empty.
  std::span<const Run> from(int first) const {
    const auto i = static_cast<std::size_t>(first);
    return std::span(runs_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  const Run& run(int first, int count) const {
    return runs_[begin_[static_cast<std::size_t>(first)] + static_cast<std::size_t>(count - 1)];
  }
  // Number of nodes of the longest run that starts at a position.
  int longest(int first) const { return static_cast<int>(from(first).size()); }

  // Distinct inputs of members that are not members, in order of first appearance.
  std::span<const NodeId> inputs(const Run& run) const {
    return std::span(pool_).subspan(run.inputs_begin, static_cast<std::size_t>(run.input_count));
  }
  // Members that no member reads, or that a node outside reads, in order.
  std::span<const NodeId> outputs(const Run& run) const {
    return std::span(pool_).subspan(run.inputs_begin + static_cast<std::size_t>(run.input_count),
                                    static_cast<std::size_t>(run.output_count));
  }
  // Cycles of one node, by tile.
  const std::array<double, 4>& cycles(NodeId id) const { return cycles_[static_cast<std::size_t>(id)]; }
  // Position of the last consumer of a tensor; -1 for graph outputs.
  int last_use(NodeId id) const {
    const auto uses = use_positions(id);
    return uses.empty() ? -1 : uses.back();
  }
  // Position of the first consumer at or after `position`; the largest integer if there is none.
  int next_use(NodeId id, int position) const {
    const auto uses = use_positions(id);
    const auto next = std::lower_bound(uses.begin(), uses.end(), position);
    return next == uses.end() ? std::numeric_limits<int>::max() : *next;
  }
  // Consumer edges of a tensor at positions >= `position`.
  int uses_from(NodeId id, int position) const {
    const auto uses = use_positions(id);
    return static_cast<int>(uses.end() - std::lower_bound(uses.begin(), uses.end(), position));
  }

 private:
  void list_uses(const Graph& graph);
  void add_run(const Graph& graph, int first, int count);
  std::span<const int> use_positions(NodeId id) const {
    const auto i = static_cast<std::size_t>(id);
    return std::span(use_positions_).subspan(use_begin_[i], use_begin_[i + 1] - use_begin_[i]);
  }

  std::vector<std::size_t> begin_;  // size() + 1
  std::vector<Run> runs_;
  std::vector<NodeId> pool_;
  std::vector<std::size_t> use_begin_;         // size() + 1
  std::vector<int> use_positions_;             // of the consumers of each tensor, sorted
  std::vector<std::size_t> seen_in_;           // by node: the run (counted from 1) that listed it last
  std::vector<std::array<double, 4>> cycles_;  // by node
};

}  // namespace fuselage::walk
