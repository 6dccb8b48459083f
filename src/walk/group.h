// Any set of nodes as one kernel under `physical`: its boundary and its compute, from the run table under the
// fixed order, worked out from the members under free order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "fuselage/walk/problem.h"

namespace fuselage::walk {

struct Group {
  IdList positions;                   // of the members, sorted
  IdList inputs;                      // distinct, none a member
  IdList outputs;                     // members that nobody reads, or that a node outside reads
  std::array<double, 4> cycles = {};  // by tile, summed in order of position

  bool has(int position) const;
};

Group make_group(const Graph& graph, const RunTable& runs, IdList positions);

// The size of every tensor where all have the same, else 1: residents take up a multiple of it.
std::int64_t common_bytes(const Graph& graph);

// Cycles that loading inputs of a kernel, instead of finding them resident, can add to its latency at most:
// by how much its memory time exceeds its compute if everything on its boundary moves, and all else that fast
// memory has room for, in multiples of `unit` bytes, is written back.
struct Boundary {
  std::span<const NodeId> inputs;
  std::span<const NodeId> outputs;
  std::span<const double, 4> cycles;  // by tile
};
inline double most_load_cost(const Graph& graph, const Hardware& hardware, const Boundary& kernel,
                             std::int64_t unit) {
  std::int64_t moved = 0;
  std::int64_t room = hardware.fast_mem_capacity;
  for (const auto ids : {kernel.inputs, kernel.outputs})
    for (NodeId x : ids) {
      moved += graph.bytes(x);
      room -= slice_bytes(graph.bytes(x), tiles[0]);
    }
  room = std::max<std::int64_t>(0, room) / unit * unit;
  const double memory = hardware.transfer_cycles(moved) + hardware.transfer_cycles(room);
  return std::max(0.0, memory - *std::min_element(kernel.cycles.begin(), kernel.cycles.end()));
}

}  // namespace fuselage::walk
