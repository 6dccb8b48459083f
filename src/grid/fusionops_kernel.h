// The cheapest way to run a set of ops as one step of the environment: its tiles, k-steps, traversal and the
// order in which it names its ops, which decides what role a tensor has that several of them read. Every
// price is the rules' own (fusionops_parts.h), to the bit.
#pragma once

#include <span>
#include <vector>

#include "fuselage/grid/kernel_cost.h"

namespace fuselage::grid::fusionops_parts {

// Orders of a step's ops that give its boundary inputs different roles, each combination once where some
// order has it, up to a limit; the first is `ops` itself.
std::vector<std::vector<OpId>> role_orders(const Instance& instance, std::span<const OpId> ops);

// Infinite latency: the working set exceeds the capacity.
KernelCost price(const Instance& instance, const Shape& shape, const Choice& choice);

// Of `kept` only what is resident, retained and beside. For every number of columns, rows and k-steps the
// least w, h and k that make so many; nothing else can be cheaper. Up to 16 columns and rows and 64 k-steps
// all numbers are tried, beyond that fewer, and more tiles only where those don't fit.
KernelPricer::Best cheapest(const Instance& instance, const Shape& shape, const Choice& kept);

}  // namespace fuselage::grid::fusionops_parts
