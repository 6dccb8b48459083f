// What a learned model is told about a schedule of the grid family: a schedule is a sequence of tokens, one
// an op of a kernel, and a kernel is the tokens of its ops in execution order. A kernel as a whole has a row
// of its own, for models that choose among the kernels of a state.
//
// - Features describe, they never price: nothing here asks what a kernel or the schedule so far costs, nor
//   searches a granularity. What a row says of time is arithmetic of single ops, each tile once, and single
//   transfers of whole tensors; what tiles, k-steps and reuse make of them is left to the model.
// - Everything is relative to the problem: elements to the capacity, time to what an op takes alone on
//   average if it moves each tensor once (Features::mean_time). Times scaled all at once change nothing;
//   neither do elements.
// - No number depends on how ops and tensors are numbered. Where an op stands is its level: the most ops on
//   a way to it.
//
// A candidate that isn't priced has no granularity yet: it is described at native granularity.
#pragma once

#include <span>
#include <vector>

#include "fuselage/core/schema.h"
#include "fuselage/grid/instance.h"
#include "fuselage/grid/kernel_cost.h"
#include "fuselage/grid/plan.h"
#include "fuselage/grid/problem.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

const Schema& token_schema();
const Schema& kernel_schema();
const Schema& state_schema();
const Schema& workload_schema();  // the machine, as seen from the problem

struct KernelView {
  std::span<const OpId> ops = {};         // in execution order
  std::span<const TensorId> retain = {};  // of what they make
  Granularity granularity = {};
  Traversal traversal = Traversal::raster;
};

// What the problem's numbers are relative to, and its own features. Sizes in elements.
struct WorkloadFacts {
  double mean_time = 0;     // of an op that moves each of its tensors once
  double memory_share = 0;  // of the ops' transfers and arithmetic
  double matmul_share = 0;  // of their arithmetic
  double capacity = 0;
  double mean_size = 0;         // of a tensor
  double largest_size = 0;      // of a tensor
  double tile_size = 0;         // native
  double strip_size = 0;        // of the longest reduction, a native tile high or wide
  double tile_transfer = 0;     // part of a native tile's transfer in that and its mean arithmetic
  double time_per_element = 0;  // of a transfer
  double native_width = 0;
  int ops = 0;
  int matmuls = 0;
  int levels = 0;
  bool contest = true;     // the rules are mlsys
  bool forgiving = false;  // what no kernel stored can be loaded all the same (fusionops)
  bool native_k = false;   // mlsys: a k-step of a matmul costs what it is long against native
};

// What is the same for all kernels of a state.
struct StateView {
  const State* state = nullptr;
  std::vector<char> ready = {};  // by op: has not run, and all that makes its inputs did
  int ready_ops = 0;
  int least_level = 0;  // of the ops to do
  int done = 0;
};

struct StateFacts;

// Of one problem, which must outlive it. Rows are as wide as their schema. Safe to use from several threads.
class Features {
 public:
  Features(const Instance& instance, const Rules& rules);

  double mean_time() const { return workload_.mean_time; }
  int ops() const { return workload_.ops; }
  // The granularity of a kernel that has none yet: native, or what the kernel makes where that is less.
  Granularity native_granularity(std::span<const OpId> ops) const;

  StateView view(const State& state) const;
  void workload(std::span<float> row) const;
  void state(const StateView& before, std::span<float> row) const;
  // Row by row, one for each op; a token knows its whole kernel.
  void tokens(const KernelView& kernel, const StateView& before, std::span<float> rows) const;
  void kernel(const KernelView& kernel, const StateView& before, std::span<float> row) const;
  // A kernel's row, and of each number of its tokens' rows the most and the least: what a kernel is said to
  // be without an order of its ops, which in a search follows from how they are numbered.
  struct Summary {
    std::span<float> kernel = {};
    std::span<float> most = {};
    std::span<float> least = {};
  };
  void summary(const KernelView& kernel, const StateView& before, const Summary& rows) const;

 private:
  class Reader;

  void add_made(const State& state, OpId id, StateFacts& facts) const;

  const Instance& instance_;
  Rules rules_;
  WorkloadFacts workload_;
  std::vector<int> level_;       // by op
  std::vector<double> compute_;  // by op: arithmetic of all tiles of native size, time units
  std::vector<double> moved_;    // by op: its tensors, each once, elements
  double all_compute_ = 0;       // time units
};

}  // namespace fuselage::grid
