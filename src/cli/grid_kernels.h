// The kernels of a grid plan and what each takes, as the judge runs them: a table for people, rows of JSON
// for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/plan_json.h"

namespace fuselage::cli {

// Up to the kernel that breaks a rule; what the file states beside what each kernel takes, if it does.
std::string grid_kernels_table(const grid::PlanFile& file, const grid::Evaluation& evaluation);
nlohmann::ordered_json grid_kernels_json(const grid::PlanFile& file, const grid::Evaluation& evaluation);

}  // namespace fuselage::cli
