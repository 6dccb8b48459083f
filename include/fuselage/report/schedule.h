// A plan of either family as what there is to see: ops and tensors, kernels with what they read, hold, move
// and take, and when. All drawings, tables and traces are made of this and of nothing else, so that they
// can't disagree; the figures are those of the judges (oracle/simulate.h, grid/evaluate.h), as `explain`
// prints them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/walk/plan_json.h"

namespace fuselage::report {

using OpId = std::int32_t;
using TensorId = std::int32_t;

struct Op {
  std::string kind;              // "matmul"
  std::string name = {};         // what the user calls it, any text; often empty
  std::string shape = {};        // "256 x 256": height x width of its (first) output, elements
  std::vector<TensorId> inputs;  // each once
  std::vector<TensorId> outputs;
};

struct Tensor {
  std::optional<OpId> producer = {};  // none: a graph input
  std::int64_t size = 0;              // bytes, or elements of a grid problem
};

struct Machine {
  std::int64_t capacity = 0;  // of fast memory
  double bandwidth = 0;       // sizes per time; 0: free
  double launch = 0;          // time of one
  std::optional<int> max_fusion_depth = {};
  std::optional<std::array<std::int64_t, 2>> native = {};  // width, height: of a tile that is full
};

// What is scheduled. Plans of equal keys are of one graph on one machine.
struct Subject {
  std::string name;
  std::string family;     // "walk", "grid"
  std::string time_unit;  // "cycles", "time units"
  std::string size_unit;  // "B", "elements"
  Machine machine = {};
  std::vector<Op> ops = {};          // by id
  std::vector<Tensor> tensors = {};  // by id; walk: as the nodes
  std::string key = {};
};

struct Kernel {
  std::vector<OpId> ops = {};
  std::string tile = {};       // "128", "256 x 256 x 64" (w x h x k)
  std::string traversal = {};  // of a grid plan: "raster", "snake by rows", ...
  std::vector<TensorId> retain = {};
  std::vector<TensorId> loads = {};  // read from slow memory; after a fallback once for every member
  std::vector<TensorId> stores = {};
  double loaded = 0;  // sizes
  double stored = 0;
  double compute = 0;  // time
  double memory = 0;
  double launch = 0;  // of all launches that were paid
  int launches = 1;
  double latency = 0;
  double start = 0;
  double end = 0;
  std::string bound = {};  // "compute", "memory"; walk: "fallback"; grid: "both"
  std::int64_t working_set = 0;
  double working_set_share = 0;  // of the capacity
  // Tensors in fast memory that the working set counts in full, ascending; the rest of it is tiles. (The seed
  // rules have some that they don't count: a resident that the kernel makes, or reads for the last time.)
  std::vector<TensorId> held = {};
  std::int64_t held_size = 0;  // of these
};

struct Fault {
  std::string code;
  std::optional<int> kernel = {};
  std::string message;
};

struct Totals {
  double compute = 0;
  double memory = 0;
  double launch = 0;
  double loaded = 0;
  double stored = 0;
  int launches = 0;
  std::int64_t largest_working_set = 0;
};

struct Schedule {
  std::string label;
  std::string rules;
  std::string order = {};  // walk: "fixed", "free"
  std::optional<Fault> fault = {};
  std::vector<Kernel> kernels = {};  // up to the fault, if there is one
  double latency = 0;
  std::optional<double> greedy_latency = {};
  std::optional<double> naive_latency = {};
  std::optional<double> lower_bound = {};
  std::string proof = "none";
  int overflows = 0;       // kernels that need more than fast memory (oracle/overflow.h)
  std::string doubt = {};  // a false claim of the file, whose claims are then left out; empty: none
  Totals totals = {};

  bool legal() const { return !fault; }
};

Subject subject_of(const Workload& workload);
Subject subject_of(const grid::Instance& instance, const std::string& name);

// Judges the plan.
Schedule schedule_of(const walk::PlanFile& plan, std::string label);
// Error for what the judge refuses to judge.
Schedule schedule_of(const grid::Instance& instance, const grid::Rules& rules, const grid::Plan& plan,
                     std::string label);

}  // namespace fuselage::report
