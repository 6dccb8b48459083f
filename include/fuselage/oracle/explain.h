// Where the cycles of a plan go: for every kernel what it runs, what it moves, which side of the roofline it
// is on, and how full fast memory is. A table for people, and the same numbers as JSON for programs. Both
// print a Simulation, so that they can't disagree with the check.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuselage/graph/graph.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/plan.h"

namespace fuselage::oracle {

// "compute", "memory", or "fallback": its members ran alone.
std::string_view bound_of(const KernelReport& report);

// One row a kernel that was priced and one of totals, columns aligned, cycles with two decimals, bytes whole;
// after an illegal plan a last line names its fault. `simulation` is what simulate() said of `plan`.
std::string explain_table(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                          const Simulation& simulation);

// {legal, fault?: {code, kernel, message}, capacity, overflows, kernels: [...], totals: {...}}. `bound` is
// compute, memory or fallback; working_set_share is a fraction of the capacity.
nlohmann::ordered_json explain_json(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                                    const Simulation& simulation);

}  // namespace fuselage::oracle
