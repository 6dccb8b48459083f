// The least that each op adds to the cost of any schedule under the mlsys rules, however ops are grouped,
// tiled, ordered and retained. Of every kernel the cost is at least alpha x compute + (1 - alpha) x traffic /
// bandwidth for any alpha in [0, 1]; both are shared out among the ops that cause them, so that the sum over
// all ops (or over those that have not run) bounds the optimum from below.
//
// What an op causes depends on its part in the kernel. A root matmul with K above the native width runs in
// several k-steps, so that each tile loads its slices anew: LHS x columns of tiles, RHS x rows of tiles. A
// matmul that feeds another is run again for every tile. A tensor that neither fits fast memory nor can be
// handed over inside a kernel (a pointwise op that feeds a matmul whose K exceeds the tile) is stored by its
// maker and loaded by its readers. Each op takes the cheapest of its parts: a relaxation. See
// CONTRIBUTING.md, "Lower bounds of the grid family", for the proof.
#pragma once

#include <functional>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

// By op, time units, with the alpha that is best for each set of ops that may share a kernel, of those that
// were tried until `stop` said so.
std::vector<double> least_charges(const Instance& instance, const Rules& rules,
                                  const std::function<bool()>& stop = {});

}  // namespace fuselage::grid
