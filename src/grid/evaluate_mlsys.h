// The judge of the contest's rules. It runs every iteration of every kernel and adds up what the rules charge
// for it, without any closed form, so that agreement with a search's figures means something.
//
// A kernel's faults are looked for in the order of enum Fault, but for the traversal, which is checked before
// the run that finds the working set.
#pragma once

#include "fuselage/grid/evaluate.h"

namespace fuselage::grid {

inline constexpr std::int64_t max_iterations = std::int64_t{1} << 28;

// Throws Error for an instance whose shapes don't agree (a matmul's LHS h x K, RHS K x w and output h x w;
// all tensors of a pointwise op), and for a plan with more than max_iterations.
Evaluation evaluate_mlsys(const Instance& instance, const Rules& rules, const Plan& plan);

}  // namespace fuselage::grid
