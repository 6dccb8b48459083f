// Names of plan files in one directory: of each graph's name what any file system takes, each name once.
#pragma once

#include <string>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage::cli {

// Where the plan of each graph goes; empty if `directory` is. Error rather than a plan in place of a target.
std::vector<std::string> plan_paths(const std::vector<Workload>& workloads, const std::string& directory,
                                    const std::vector<std::string>& targets);

// The path with something put before its suffix: "plans/g.json" and "-2" make "plans/g-2.json".
std::string with_suffix(const std::string& path, const std::string& suffix);

}  // namespace fuselage::cli
