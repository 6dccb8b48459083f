// A grid schedule as the MLSys 2026 contest writes it: parallel lists, an entry a kernel. Whether the plan is
// legal, or belongs to any problem at all, is for evaluate() to say; here only the form is checked.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/json.h"
#include "fuselage/grid/plan.h"

namespace fuselage::grid {

struct PlanFile {
  Plan plan;
  // What the file says that each kernel takes, time units; empty if it says nothing.
  std::vector<double> latencies = {};
};

// Throws Error for what is not JSON, for a field that is missing, unknown or of another type, for lists whose
// lengths differ, and for ids beyond 32 bits. A null in traversal_orders is raster, as is the list's absence.
PlanFile read_plan(std::string_view text, const std::string& source);
// A plan within a larger file; messages begin with the field's source and path.
PlanFile read_plan(const JsonField& plan);
// The file at `path`; "-" is the standard input.
PlanFile read_plan_file(const std::string& path);

// Reads back the same; stable to the byte. `latencies` must be finite: one a kernel, or none at all, and then
// the list is left out.
std::string plan_to_json(const Plan& plan, std::span<const double> latencies);

}  // namespace fuselage::grid
