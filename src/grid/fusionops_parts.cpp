#include "fusionops_parts.h"

#include <algorithm>
#include <limits>

#include "arithmetic.h"
namespace fuselage::grid::fusionops_parts {
namespace {

__extension__ using Wide = __int128;

std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return a != 0 && b > most / a ? most : a * b;
}

}  // namespace

Role role_in(const Op& op, TensorId tensor) {
  if (op.kind == OpKind::pointwise) return Role::pointwise;
  return op.inputs.front() == tensor ? Role::lhs : Role::rhs;
}

StepTensors::StepTensors(const Instance& instance, const StepState& state, const Kernel& step)
    : is_made(static_cast<std::size_t>(instance.tensor_count())),
      is_inside(static_cast<std::size_t>(instance.tensor_count())) {
  const auto at = [](TensorId id) { return static_cast<std::size_t>(id); };
  for (const OpId id : step.ops)
    for (const TensorId output : instance.op(id).outputs) is_made[at(output)] = 1;
  std::vector<std::size_t> place(is_made.size());  // in `loaded`, from 1
  for (const OpId id : step.ops) {
    for (const TensorId input : instance.op(id).inputs) {
      const bool is_first = is_inside[at(input)] == 0;
      is_inside[at(input)] = 1;
      if (is_made[at(input)]) continue;
      if (state.resident[at(input)]) {
        if (is_first) resident.push_back(input);
        continue;
      }
      if (is_first) {
        loaded.push_back({.tensor = input});
        place[at(input)] = loaded.size();
      }
      loaded[place[at(input)] - 1].role = role_in(instance.op(id), input);
    }
  }
  std::vector<std::uint8_t> is_retained(is_made.size());
  for (const TensorId id : step.retain) is_retained[at(id)] = 1;
  for (const OpId id : step.ops) {
    for (const TensorId output : instance.op(id).outputs) {
      if (is_inside[at(output)]) continue;
      ++outputs;
      if (!is_retained[at(output)]) stored.push_back(output);
    }
  }
}

StepGrid::StepGrid(const Instance& instance, const Kernel& step) {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t reduction = 0;
  for (const OpId id : step.ops) {
    const Op& op = instance.op(id);
    for (const TensorId output : op.outputs) {
      width = std::max(width, instance.tensor(output).width);
      height = std::max(height, instance.tensor(output).height);
    }
    if (op.kind == OpKind::matmul) reduction = std::max(reduction, instance.tensor(op.inputs.front()).width);
  }
  columns = ceil_div(width, step.granularity.w);
  rows = ceil_div(height, step.granularity.h);
  tiles = capped_product(columns, rows);
  if (reduction > 0) k_steps = ceil_div(reduction, step.granularity.k);
}

double area(std::int64_t width, std::int64_t height) {
  return static_cast<double>(static_cast<Wide>(width) * height);
}

double working_set(const Instance& instance, const StepState& state, const Kernel& step,
                   const StepTensors& tensors, const StepGrid& grid) {
  const auto [w, h, k] = step.granularity;
  const auto size = [&](TensorId id) { return static_cast<double>(instance.tensor(id).size()); };
  double elements = 0;
  for (const BoundaryInput& input : tensors.loaded) {
    if (input.role == Role::pointwise)
      elements += area(w, h);
    else if (input.role == Role::rhs)
      elements += area(w, k);
    else
      elements += grid.k_steps > 1 ? size(input.tensor) : area(k, h);
  }
  for (const TensorId id : tensors.resident) elements += size(id);
  for (int i = 0; i < tensors.outputs; ++i) elements += area(w, h);
  for (TensorId id = 0; id < instance.tensor_count(); ++id) {
    const auto at = static_cast<std::size_t>(id);
    const bool is_input = tensors.is_inside[at] && !tensors.is_made[at];
    if (state.resident[at] && !is_input) elements += size(id);
  }
  return elements;
}

}  // namespace fuselage::grid::fusionops_parts
