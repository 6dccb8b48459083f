// Small grid problems for tests.
#pragma once

#include <string>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"

namespace fuselage::grid {

inline Op pointwise(std::vector<TensorId> inputs, TensorId output, double cost) {
  return {.kind = OpKind::pointwise, .inputs = std::move(inputs), .outputs = {output}, .base_cost = cost};
}
inline Op matmul(TensorId lhs, TensorId rhs, TensorId output, double cost) {
  return {.kind = OpKind::matmul, .inputs = {lhs, rhs}, .outputs = {output}, .base_cost = cost};
}

inline std::vector<Tensor> squares(std::size_t count, std::int64_t side) {
  return std::vector<Tensor>(count, {.width = side, .height = side});
}

inline Machine machine_of(std::int64_t capacity) {
  return {.capacity = capacity, .bandwidth = 10, .native_width = 128, .native_height = 128};
}

inline Kernel kernel_of(std::vector<OpId> ops, const Granularity& granularity,
                        std::vector<TensorId> retain = {}) {
  return {.ops = std::move(ops), .granularity = granularity, .retain = std::move(retain)};
}

}  // namespace fuselage::grid
