#include "fuselage/grid/shapes.h"

#include <fmt/format.h>

#include <optional>

#include "fuselage/core/error.h"

namespace fuselage::grid {
namespace {

bool is_same(const Tensor& a, const Tensor& b) {
  return a.width == b.width && a.height == b.height;
}

std::string shape(const Tensor& tensor) {
  return fmt::format("{} x {}", tensor.width, tensor.height);
}

std::optional<std::string> fault_of_matmul(const Instance& instance, OpId id) {
  const Op& op = instance.op(id);
  const Tensor& lhs = instance.tensor(op.inputs[0]);
  const Tensor& rhs = instance.tensor(op.inputs[1]);
  const std::string product =
      fmt::format("op {}: MatMul of LHS tensor {}, {}, and RHS tensor {}, {} (width x height)", id,
                  op.inputs[0], shape(lhs), op.inputs[1], shape(rhs));
  if (lhs.width != rhs.height)
    return fmt::format(
        "{}: the LHS is {} wide, the RHS {} high; expected equal ones, such as an RHS of {} or an LHS of {}",
        product, lhs.width, rhs.height, shape({.width = rhs.width, .height = lhs.width}),
        shape({.width = rhs.height, .height = lhs.height}));
  const Tensor made{.width = rhs.width, .height = lhs.height};
  for (const TensorId output : op.outputs)
    if (!is_same(instance.tensor(output), made))
      return fmt::format("{}: output tensor {} is {}; expected {}", product, output,
                         shape(instance.tensor(output)), shape(made));
  return std::nullopt;
}

std::optional<std::string> fault_of_pointwise(const Instance& instance, OpId id) {
  const Op& op = instance.op(id);
  const TensorId first = op.outputs.front();
  const Tensor& made = instance.tensor(first);
  for (const auto* tensors : {&op.inputs, &op.outputs})
    for (const TensorId tensor : *tensors)
      if (!is_same(instance.tensor(tensor), made))
        return fmt::format(
            "op {}: Pointwise: {} tensor {} is {} and output tensor {} is {} (width x height); expected one "
            "shape, {}",
            id, tensors == &op.inputs ? "input" : "output", tensor, shape(instance.tensor(tensor)), first,
            shape(made), shape(made));
  return std::nullopt;
}

// "; 3 more ops do not fit either"
std::string more(std::size_t faults) {
  if (faults == 1) return "";
  return fmt::format("; {} more op{} not fit either", faults - 1, faults == 2 ? " does" : "s do");
}

}  // namespace

std::vector<std::string> shape_faults(const Instance& instance) {
  std::vector<std::string> faults;
  for (OpId id = 0; id < instance.op_count(); ++id)
    if (auto fault = instance.op(id).kind == OpKind::matmul ? fault_of_matmul(instance, id)
                                                            : fault_of_pointwise(instance, id))
      faults.push_back(*std::move(fault));
  return faults;
}

void check_shapes(const Instance& instance, const Rules& rules, const std::string& source) {
  if (rules.set == RuleSet::fusionops) return;
  const std::vector<std::string> faults = shape_faults(instance);
  if (!faults.empty())
    fail("{}: {}{} (rules {})", source, faults.front(), more(faults.size()), name(rules.set));
}

std::string shape_warning(const Instance& instance, const Rules& rules, const std::string& source) {
  if (rules.set != RuleSet::fusionops) return {};
  const std::vector<std::string> faults = shape_faults(instance);
  if (faults.empty()) return {};
  return fmt::format(
      "{}: warning: {}{}; the rules fusionops don't look at that, fusionops-honest and mlsys refuse it",
      source, faults.front(), more(faults.size()));
}

}  // namespace fuselage::grid
