// Any set of nodes as one kernel under `physical`: its boundary and its compute, from the run table under the
// fixed order, worked out from the members under free order.
#pragma once

#include <array>

#include "fuselage/walk/problem.h"

namespace fuselage::walk {

struct Group {
  IdList positions;                   // of the members, sorted
  IdList inputs;                      // distinct, none a member
  IdList outputs;                     // members that nobody reads, or that a node outside reads
  std::array<double, 4> cycles = {};  // by tile, summed in order of position

  bool has(int position) const;
};

Group make_group(const Graph& graph, IdList positions);

}  // namespace fuselage::walk
