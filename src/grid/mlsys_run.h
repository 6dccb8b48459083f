// One kernel of the contest, run iteration by iteration: what each computes, holds and moves.
//
// Where no source settles a rule, it is read so that nothing is free:
// - an upstream matmul's RHS that a prologue makes moves with the k-step; its strip is the whole of that
// side,
//   charged at the first k-step;
// - a pointwise op between matmuls that serves an upstream matmul costs its part of K only where the k-step
//   cuts what is demanded, else all of it in every k-step;
// - a root that a matmul also reads is charged again unless what the matmul asks for, before it becomes a
//   prologue's strip, is the tile.
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
