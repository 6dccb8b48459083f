// The four tasks of fusionops in `fuselage tasks`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fuselage::cli {

// Their sizes and figures, and a line that describes each.
std::string grid_tasks_table();
// Appends an object a task to an array.
void add_grid_tasks(nlohmann::ordered_json& tasks);
// Writes DIRECTORY/TASK.json for each, a problem in the contest's JSON; returns how many.
std::size_t write_grid_tasks(const std::string& directory);

}  // namespace fuselage::cli
