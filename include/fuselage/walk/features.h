// What a learned model is told about a schedule of the walk family. A schedule is a sequence of tokens, one a
// node; a kernel is the tokens of its members. So one transition serves whole schedules, prefixes and single
// kernels: rolled over a kernel's tokens, it leads from the latent before the kernel to the one after.
//
// - Features describe, they never price: nothing here asks what a kernel or the schedule so far costs. What a
//   token says of time is about its own node.
// - Everything is relative to the workload: bytes to the capacity, cycles to what an op takes alone on
// average
//   (Features::mean_cycles). Times scaled all at once change nothing; neither do bytes, while every tensor
//   fits in the smallest tile.
// - No number depends on how nodes are numbered.
// - A token knows its kernel's tile and retain set, and the nodes up to its own, none after it: the tokens of
// a
//   kernel's beginning are the beginning of the kernel's tokens. What it says is the same however per-node
//   actions arrived at that kernel.
//
// Fixed order only: a kernel is a run of the graph's order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/core/schema.h"
#include "fuselage/graph/graph.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

const Schema& token_schema();
const Schema& state_schema();
const Schema& workload_schema();  // the machine, as seen from the graph

// Between two tokens. `resident` is what fast memory holds since the last kernel ended, also while the next
// one is being built.
struct Place {
  int position = 0;  // nodes done
  int open = 0;      // of these, members of a kernel that is not complete
  std::span<const NodeId> resident = {};
};

struct KernelView {
  int first = 0;  // position in the order
  int count = 0;
  int tile = 2;  // index into tiles
  std::span<const NodeId> retain = {};
};

// What the workload's numbers are relative to, and its own features.
struct WorkloadFacts {
  double mean_cycles = 0;    // of an op alone at tile 128, launch included, whether or not it fits
  double memory_share = 0;   // of the ops' transfer and compute cycles
  double capacity = 0;       // bytes
  double mean_bytes = 0;     // of a tensor
  double largest_bytes = 0;  // of a tensor
  double peak_bytes = 0;     // most that is live at once
  double launch_cycles = 0;
  double cycles_per_byte = 0;
  int nodes = 0;
  int depth = 0;  // max_fusion_depth
};

// Of one workload; graph, hardware and table must outlive it. Rows are as wide as their schema.
class Features {
 public:
  Features(const Graph& graph, const Hardware& hardware, const RunTable& runs);

  double mean_cycles() const { return workload_.mean_cycles; }

  void workload(std::span<float> row) const;
  void state(const Place& place, std::span<float> row) const;
  // Row by row, one for each member; `resident` is what the kernel finds in fast memory.
  void tokens(const KernelView& kernel, std::span<const NodeId> resident, std::span<float> rows) const;

 private:
  const Graph& graph_;
  const RunTable& runs_;
  WorkloadFacts workload_;
  // By position, one more than nodes: bytes made before it and still to be read, and cycles of flops from it
  // on.
  std::vector<std::int64_t> live_bytes_;
  std::vector<double> flops_left_;
};

}  // namespace fuselage::walk
