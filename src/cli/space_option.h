// --space ops=16,groups=800: the caps of the kernels that a search of a grid problem declares, as text.
#pragma once

#include <string_view>

#include "fuselage/grid/problem.h"

namespace fuselage::cli {

// Keys that are left out keep their defaults. Error for text without keys, an unknown key, one that is given
// twice, and a value that is no integer of its range.
grid::SpaceOptions parse_space(std::string_view text);

}  // namespace fuselage::cli
