// The judge of plans under the environment's rules, as they are and honest: a step after the other as
// judge_step() prices it, whatever the number of steps, with recomputation.
#pragma once

#include "fuselage/grid/evaluate.h"

namespace fuselage::grid {

// A kernel of no ops is legal, as it is in the environment. Honest plans store every graph output.
Evaluation evaluate_fusionops(const Instance& instance, const Rules& rules, const Plan& plan);

}  // namespace fuselage::grid
