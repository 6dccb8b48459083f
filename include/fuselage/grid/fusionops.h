// The rules of the environment fusionops-env, one step at a time: what a step costs, to the bit, and why it
// is refused, in its order and its words. The order of the floating-point operations is part of the rules, so
// the figures hold for that order only; sums over the tile grid take no loop over tiles (repeated_sum.h),
// whatever the grid. An Episode adds the game to it, evaluate() whole plans.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"

namespace fuselage::grid {

// What agents are told of an error, and what its penalty depends on.
enum class StepErrorClass : std::uint8_t {
  parse,
  invalid_action,
  already_scheduled,
  dependency,
  connectivity,
  retention,
  memory,
};
std::string_view step_error_class_name(StepErrorClass error_class);  // "Dependency Error (op not ready)", ...
double step_penalty(StepErrorClass error_class);                     // a reward: below 0

enum class StepFault : std::uint8_t {
  parse,
  unknown_op,
  already_scheduled,  // only where recomputation is switched off
  duplicate_op,
  dependency,
  not_stored,  // honest only: an input that is neither in fast memory nor in slow memory
  connectivity,
  dimensions,
  retention,
  memory,
  traversal_length,
  traversal_order,
};
StepErrorClass step_error_class(StepFault fault);

struct StepError {
  StepFault fault = StepFault::parse;
  std::string message = {};
};

// What earlier steps left behind; by op and by tensor, 0 or 1.
struct StepState {
  std::vector<std::uint8_t> ran;
  std::vector<std::uint8_t> resident;  // in fast memory
  std::vector<std::uint8_t> stored;    // in slow memory: graph inputs, and what a step stored

  explicit StepState(const Instance& instance);
};

struct StepRules {
  bool honest = false;  // a tensor that no step stored can't be loaded
  bool allow_recomputation = true;
};

struct StepCost {
  double latency = 0;      // time units
  double working_set = 0;  // elements
  std::int64_t tiles = 0;
  std::int64_t k_steps = 1;
  std::int64_t iterations = 0;  // tiles x k-steps, at most 2^63 - 1
  double compute = 0;           // time units, all iterations
  double transferred = 0;       // elements loaded and stored, all iterations; not to the bit
  double stored = 0;            // of these
};

struct StepJudgement {
  StepCost cost = {};                   // of a step that is not refused
  std::optional<StepError> error = {};  // the first that the rules find
};

StepJudgement judge_step(const Instance& instance, const StepRules& rules, const StepState& state,
                         const Kernel& step);
// The state after a step that is not refused.
void apply_step(const Instance& instance, const Kernel& step, StepState& state);

// Each op alone at native granularity and full K, nothing kept: what latencies are measured against.
double fusionops_naive_latency(const Instance& instance);

struct FusionopsTotals {
  double naive_latency = 0;
  double total_latency = 0;
  int covered_ops = 0;
  int ops = 0;
  bool complete = false;  // every op ran; under the honest rules every graph output is stored too
};
// In [0, 1]; at most 0.1 for what is not complete.
double fusionops_score(const FusionopsTotals& totals);
// The saving that the environment's README speaks of, max(0, (naive - total) / naive); none before the end.
std::optional<double> fusionops_readme_score(const FusionopsTotals& totals);

// The environment's own problems.
struct FusionopsTask {
  std::string_view name;
  std::string_view summary;
  Instance instance;
  int max_steps = 0;
};
std::span<const FusionopsTask> fusionops_tasks();
const FusionopsTask* find_fusionops_task(std::string_view name);  // nullptr: none of that name

}  // namespace fuselage::grid
