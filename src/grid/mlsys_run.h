// One kernel of the contest, run iteration by iteration: what each computes, holds and moves.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fuselage/grid/evaluate.h"
#include "mlsys_kernel.h"

namespace fuselage::grid::mlsys {

struct RunInput {
  const Instance& instance;
  const KernelParts& kernel;
  Compute compute = Compute::k;
  std::span<const TensorId> resident;                         // retained by the kernel before, ascending
  const std::optional<std::vector<std::int64_t>>& traversal;  // a permutation of the tiles
};

KernelReport run_kernel(const RunInput& input);

}  // namespace fuselage::grid::mlsys
