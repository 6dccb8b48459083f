// A grid problem as the MLSys 2026 contest writes it: one JSON object of parallel lists over tensors and ops,
// with the machine beside them. What such a file may not hold is told with file, field, index and value.
#pragma once

#include <string>
#include <string_view>

#include "fuselage/core/json.h"
#include "fuselage/grid/instance.h"

namespace fuselage::grid {

// Throws Error for what is not JSON, for a field that is missing, unknown or of another type, for lists whose
// lengths differ, and for what Instance refuses. `source` is what messages call the text.
Instance read_problem(std::string_view text, const std::string& source);
// A problem within a larger file; messages begin with the field's source and path.
Instance read_problem(const JsonField& problem);
// The file at `path`; "-" is the standard input.
Instance read_problem_file(const std::string& path);

// Reads back as the same instance; stable to the byte, a list a line. Whole numbers are written without a
// point, which the contest's own readers need.
std::string problem_to_json(const Instance& instance);

}  // namespace fuselage::grid
