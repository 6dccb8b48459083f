// `search` for grid problems: what it does for walk graphs, with the contest's files and rules.
#pragma once

#include <vector>

#include "families.h"
#include "search_options.h"

namespace fuselage::cli {

// Prints the answers; returns the exit code. Stops between two problems if Ctrl-C was pressed.
int search_grid(const std::vector<GridTarget>& problems, const SearchOptions& options);

}  // namespace fuselage::cli
