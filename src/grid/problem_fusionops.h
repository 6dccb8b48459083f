// What the search problem needs of the fusionops rules.
#pragma once

#include <span>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

// Elements that any schedule moves at least for a tensor: of a graph input that some op reads, and of a graph
// output where it must be stored; else 0.
double least_moved(const Instance& instance, const Rules& rules, TensorId id);

// A step without ops, which leaves fast memory empty.
Kernel dropping_step(const Machine& machine);

// The ops as a step names them, `order` as in KernelPricer::Best.
std::vector<OpId> step_order(const Instance& instance, std::span<const OpId> ops, int order);

}  // namespace fuselage::grid
