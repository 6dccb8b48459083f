// Small grid problems for tests.
#pragma once

#include <string>
#include <vector>

#include "fuselage/grid/instance.h"

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

}  // namespace fuselage::grid
