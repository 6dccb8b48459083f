// Names of plan files in one directory: of each graph's name what any file system takes, each name once.
#pragma once

#include <string>
#include <vector>

namespace fuselage::cli {

// Where the plan of each graph goes; empty if `out` is. That is a directory, or the file itself if it ends in
// .json. Error for one file of several plans, and rather than a plan in place of a target.
std::vector<std::string> plan_paths(const std::vector<std::string>& names, const std::string& out,
                                    const std::vector<std::string>& targets);

// The path with something put before its suffix: "plans/g.json" and "-2" make "plans/g-2.json".
std::string with_suffix(const std::string& path, const std::string& suffix);

// The `name` of each, as plan_paths takes them.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& named) {
  std::vector<std::string> names;
  for (const Named& one : named) names.push_back(one.name);
  return names;
}

}  // namespace fuselage::cli
