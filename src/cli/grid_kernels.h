// The kernels of a grid plan and what each takes, as the judge runs them: a table for people, rows of JSON
// for programs. `evaluate` and `best show` print the plain table, `explain` all that there is to say.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/plan_json.h"

namespace fuselage::cli {

// Up to the kernel that breaks a rule; what the file states beside what each kernel takes, if it does.
std::string grid_kernels_table(const grid::Machine& machine, const grid::PlanFile& file,
                               const grid::Evaluation& evaluation);
// With traversal, both sides of the roofline, which of them decides, and a row of totals.
std::string grid_explain_table(const grid::Instance& instance, const grid::PlanFile& file,
                               const grid::Evaluation& evaluation);

nlohmann::ordered_json grid_kernels_json(const grid::Machine& machine, const grid::PlanFile& file,
                                         const grid::Evaluation& evaluation);
// {latency, compute, memory, loaded, stored, ops, ops_run, largest_working_set, limited_by: {compute, memory,
// both}}: time units and elements of all kernels, and how much of the latency each side decides.
nlohmann::ordered_json grid_totals_json(const grid::Instance& instance, const grid::PlanFile& file,
                                        const grid::Evaluation& evaluation);

// What limits the plan, in a line: "limited by memory: 62.10 % of the latency, 3 kernels; by both: ...".
std::string grid_limits_text(const grid::Machine& machine, const grid::Evaluation& evaluation);

}  // namespace fuselage::cli
