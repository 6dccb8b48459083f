// The loose text form of an answer ("fuse=yes tile 64 retain [1, 2]"), for agents that do not write JSON.
// Matched by hand: std::regex recurses over its input.
#pragma once

#include <string_view>

#include "fuselage/walk/plan.h"

namespace fuselage::walk::answer_parts {

// Linear in the text; fields that are not found keep their defaults. The patterns are those of answer.h.
Action action_in_text(std::string_view text);

}  // namespace fuselage::walk::answer_parts
