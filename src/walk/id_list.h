// Short lists of ids are searched from the front: they rarely hold more than a handful.
#pragma once

#include <algorithm>

#include "fuselage/graph/graph.h"

namespace fuselage::walk {

template <class Ids>
bool holds(const Ids& ids, NodeId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace fuselage::walk
