// What a plan costs and whether it is legal, from the rules alone: every kernel is run tile by tile and
// k-step by k-step. This is the judge of every figure that is reported; searches use closed forms
// (kernel_cost.h) and share no code with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

// What a plan can break; in files by their names (fault_name).
enum class Fault : std::uint8_t {
  unknown_op,
  duplicate_op,
  order,          // of the ops of a kernel: a consumer before its producer
  not_available,  // a boundary input that is neither stored, retained nor a graph input
  not_connected,
  grid,            // w, h or k below 1, or sinks of different shapes
  super_native,    // w or h above native
  super_native_k,  // k above native width in a kernel with a matmul
  k_above_op_k,    // k above the K of a matmul
  prologue,        // split-k with a pointwise operand whose tile does not hold all of K
  retain,          // of a tensor that the kernel does not make
  out_of_memory,
  traversal,  // no permutation of the tiles
  coverage,   // an op that no kernel runs
  output_not_stored,
};
std::string_view fault_name(Fault fault);  // "OOM", "NOT_CONNECTED", ... as in the golden files

struct Violation {
  Fault fault = Fault::grid;
  std::optional<int> kernel = {};  // none: of the plan as a whole
  std::string message = {};        // "kernel 3: working set 41984 exceeds fast_memory_capacity 25000"
};

struct KernelReport {
  double latency = 0;            // time units
  std::int64_t working_set = 0;  // elements, the most of any iteration
  std::int64_t tiles = 0;
  std::int64_t k_steps = 1;
  double compute = 0;      // time units, all iterations
  double transferred = 0;  // elements loaded and stored, all iterations
  double stored = 0;       // of these

  double loaded() const { return transferred - stored; }
};

struct Evaluation {
  double latency = 0;  // of the kernels before the violation
  std::vector<KernelReport> kernels = {};
  std::optional<Violation> violation = {};  // the first; none: the plan is legal

  bool valid() const { return !violation.has_value(); }
};

// A plan that breaks the rules is an answer, whatever ids and numbers it holds. Throws Error for what can't
// be judged: under mlsys, an instance whose shapes don't agree, and a plan of more than 2^28 iterations.
Evaluation evaluate(const Instance& instance, const Rules& rules, const Plan& plan);

}  // namespace fuselage::grid
