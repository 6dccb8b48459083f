// What refuses a step, in the order of the rules, and what a step leaves behind.

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/grid/fusionops.h"
#include "fusionops_parts.h"

namespace fuselage::grid {
namespace {

using fusionops_parts::StepGrid;
using fusionops_parts::StepTensors;
using Verdict = std::optional<StepError>;

template <class... Args>
StepError refused(StepFault fault, fmt::format_string<Args...> format, Args&&... args) {
  return {.fault = fault, .message = fmt::format(format, std::forward<Args>(args)...)};
}

bool has(std::span<const std::uint8_t> flags, std::int32_t id) {
  return flags[static_cast<std::size_t>(id)] != 0;
}

Verdict check_ops(const Instance& instance, const StepRules& rules, const StepState& state,
                  std::span<const OpId> ops) {
  for (const OpId id : ops)
    if (id < 0 || id >= instance.op_count())
      return refused(StepFault::unknown_op, "Invalid operation ID: {}", id);
  for (const OpId id : ops)
    if (!rules.allow_recomputation && has(state.ran, id))
      return refused(StepFault::already_scheduled, "Operation {} already scheduled", id);
  std::vector<OpId> sorted(ops.begin(), ops.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return refused(StepFault::duplicate_op, "Duplicate operation IDs in action");
  return std::nullopt;
}

// By op: is it in the step?
std::vector<std::uint8_t> members(const Instance& instance, std::span<const OpId> ops) {
  std::vector<std::uint8_t> in_step(static_cast<std::size_t>(instance.op_count()));
  for (const OpId id : ops) in_step[static_cast<std::size_t>(id)] = 1;
  return in_step;
}

// Calls `found(op, input, producer)` for every input that an op outside the step makes, until that gives a
// verdict.
template <class Found>
Verdict each_dependency(const Instance& instance, std::span<const OpId> ops,
                        std::span<const std::uint8_t> in_step, const Found& found) {
  for (const OpId id : ops) {
    for (const TensorId input : instance.op(id).inputs) {
      const OpId producer = instance.producer(input);
      if (producer == no_op || has(in_step, producer)) continue;
      if (Verdict verdict = found(id, input, producer)) return verdict;
    }
  }
  return std::nullopt;
}

Verdict check_inputs(const Instance& instance, const StepRules& rules, const StepState& state,
                     std::span<const OpId> ops) {
  const std::vector<std::uint8_t> in_step = members(instance, ops);
  Verdict verdict =
      each_dependency(instance, ops, in_step, [&](OpId id, TensorId input, OpId producer) -> Verdict {
        if (has(state.ran, producer)) return std::nullopt;
        return refused(StepFault::dependency,
                       "Dependency not met: op {} needs tensor {} from op {} which is not scheduled", id,
                       input, producer);
      });
  if (verdict || !rules.honest) return verdict;
  return each_dependency(instance, ops, in_step, [&](OpId id, TensorId input, OpId producer) -> Verdict {
    if (has(state.resident, input) || has(state.stored, input)) return std::nullopt;
    return refused(StepFault::not_stored,
                   "Tensor lost: op {} needs tensor {}, which op {} made but which was neither stored nor "
                   "retained for this step",
                   id, input, producer);
  });
}

bool is_connected(const Instance& instance, std::span<const OpId> ops) {
  if (ops.size() < 2) return true;
  std::vector<std::uint8_t> unseen = members(instance, ops);
  std::vector<OpId> reached;
  const auto reach = [&](OpId id) {
    if (id == no_op || !has(unseen, id)) return;
    unseen[static_cast<std::size_t>(id)] = 0;
    reached.push_back(id);
  };
  reach(ops.front());
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Op& op = instance.op(reached[i]);
    for (const TensorId input : op.inputs) reach(instance.producer(input));
    for (const TensorId output : op.outputs)
      for (const OpId consumer : instance.consumers(output)) reach(consumer);
  }
  return reached.size() == ops.size();
}

Verdict check_shape(const Instance& instance, const Kernel& step) {
  if (!is_connected(instance, step.ops))
    return refused(StepFault::connectivity, "Operations do not form a connected subgraph");
  const auto [w, h, k] = step.granularity;
  if (w <= 0 || h <= 0 || k <= 0)
    return refused(StepFault::dimensions, "Config dimensions must be positive: [{},{},{}]", w, h, k);
  const std::vector<std::uint8_t> in_step = members(instance, step.ops);
  const auto makes = [&](TensorId tensor) {
    return tensor >= 0 && tensor < instance.tensor_count() && !instance.is_input(tensor) &&
           has(in_step, instance.producer(tensor));
  };
  for (const TensorId tensor : step.retain)
    if (!makes(tensor))
      return refused(StepFault::retention, "Cannot retain tensor {}: not produced by this subgraph", tensor);
  return std::nullopt;
}

// `elements` is whole, and may be beyond 64 bits.
bool exceeds(double elements, std::int64_t capacity) {
  return elements >= 0x1p63 || static_cast<std::int64_t>(elements) > capacity;
}

Verdict check_traversal(const Kernel& step, const StepGrid& grid) {
  if (!step.traversal) return std::nullopt;
  const std::vector<std::int64_t>& order = *step.traversal;
  if (static_cast<std::int64_t>(order.size()) != grid.tiles)
    return refused(StepFault::traversal_length, "Traversal order length {} != expected tiles {}",
                   order.size(), grid.tiles);
  std::vector<std::uint8_t> seen(order.size());
  for (const std::int64_t tile : order) {
    if (tile < 0 || tile >= grid.tiles || seen[static_cast<std::size_t>(tile)])
      return refused(StepFault::traversal_order, "Traversal order must be a permutation of tile indices");
    seen[static_cast<std::size_t>(tile)] = 1;
  }
  return std::nullopt;
}

}  // namespace

StepState::StepState(const Instance& instance)
    : ran(static_cast<std::size_t>(instance.op_count())),
      resident(static_cast<std::size_t>(instance.tensor_count())),
      stored(static_cast<std::size_t>(instance.tensor_count())) {
  for (TensorId id = 0; id < instance.tensor_count(); ++id)
    stored[static_cast<std::size_t>(id)] = instance.is_input(id) ? 1 : 0;
}

StepJudgement judge_step(const Instance& instance, const StepRules& rules, const StepState& state,
                         const Kernel& step) {
  if (Verdict verdict = check_ops(instance, rules, state, step.ops)) return {.error = verdict};
  if (Verdict verdict = check_inputs(instance, rules, state, step.ops)) return {.error = verdict};
  if (Verdict verdict = check_shape(instance, step)) return {.error = verdict};
  const StepTensors tensors(instance, state, step);
  const StepGrid grid(instance, step);
  const double working_set = fusionops_parts::working_set(instance, state, step, tensors, grid);
  if (const std::int64_t capacity = instance.machine().capacity; exceeds(working_set, capacity))
    return {.error = refused(StepFault::memory, "OOM: working set {:.0f} exceeds fast memory capacity {}",
                             working_set, capacity)};
  if (Verdict verdict = check_traversal(step, grid)) return {.error = verdict};
  StepJudgement judgement{.cost = fusionops_parts::step_cost(instance, step, tensors, grid)};
  judgement.cost.working_set = working_set;
  return judgement;
}

void apply_step(const Instance& instance, const Kernel& step, StepState& state) {
  const StepTensors tensors(instance, state, step);
  for (const OpId id : step.ops) state.ran[static_cast<std::size_t>(id)] = 1;
  for (const TensorId id : tensors.stored) state.stored[static_cast<std::size_t>(id)] = 1;
  std::fill(state.resident.begin(), state.resident.end(), std::uint8_t{0});
  for (const TensorId id : step.retain) state.resident[static_cast<std::size_t>(id)] = 1;
}

}  // namespace fuselage::grid
