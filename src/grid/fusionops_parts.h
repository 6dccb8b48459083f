// What the rules of fusionops see in a step: its tensors by what the step does with them, and its tile grid.
#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/grid/fusionops.h"

namespace fuselage::grid::fusionops_parts {

enum class Role : std::uint8_t { pointwise, lhs, rhs };
// What an op sees in a tensor that it reads.
Role role_in(const Op& op, TensorId tensor);

struct BoundaryInput {
  TensorId tensor = 0;
  Role role = Role::pointwise;  // in the last op that names it
};

// Of a step whose ops exist.
struct StepTensors {
  std::vector<BoundaryInput> loaded;    // as ops and their inputs name them first
  std::vector<TensorId> resident;       // the boundary inputs in fast memory
  std::vector<TensorId> stored;         // made, and neither consumed in the step nor retained
  int outputs = 0;                      // made and not consumed in the step
  std::vector<std::uint8_t> is_made;    // by tensor
  std::vector<std::uint8_t> is_inside;  // by tensor: consumed in the step

  StepTensors(const Instance& instance, const StepState& state, const Kernel& step);
};

// Counts are at most 2^63 - 1.
struct StepGrid {
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::int64_t tiles = 0;
  std::int64_t k_steps = 1;

  // The granularity is positive.
  StepGrid(const Instance& instance, const Kernel& step);
};

// Elements; to the bit also where they are too many for 64 bits.
double area(std::int64_t width, std::int64_t height);

double working_set(const Instance& instance, const StepState& state, const Kernel& step,
                   const StepTensors& tensors, const StepGrid& grid);
// The cost but for its working set.
StepCost step_cost(const Instance& instance, const Kernel& step, const StepTensors& tensors,
                   const StepGrid& grid);

}  // namespace fuselage::grid::fusionops_parts
