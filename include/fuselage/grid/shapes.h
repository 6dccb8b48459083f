// Whether the tensors of a problem fit the ops that name them: a MatMul's LHS is h x K, its RHS K x w and its
// outputs h x w; all tensors of a pointwise op have one shape. The environment fusionops-env never looks (its
// prices need no more than single widths and heights), the contest and the honest rules take it for granted:
// a plan of a product that doesn't exist is no schedule of anything.
#pragma once

#include <string>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

// For each op whose tensors don't fit, ascending: the op, the shapes and what would fit, as width x height.
std::vector<std::string> shape_faults(const Instance& instance);

// Error, beginning with `source`, for a problem that the rules need to fit and that doesn't. Under fusionops
// any passes.
void check_shapes(const Instance& instance, const Rules& rules, const std::string& source = "problem");

// What to tell the user where the rules let a problem pass that doesn't fit, one line; empty if it fits.
std::string shape_warning(const Instance& instance, const Rules& rules,
                          const std::string& source = "problem");

}  // namespace fuselage::grid
