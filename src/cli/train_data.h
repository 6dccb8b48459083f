// Files of trajectories as the schedules that a model is trained on and judged by.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fuselage/learn/schedules.h"
#include "fuselage/learn/trajectory_file.h"

namespace fuselage::cli {

struct TrainData {
  std::array<learn::Schedules, learn::split_names.size()> splits;
  std::array<std::vector<std::string>, learn::split_names.size()> names;  // of the groups: graph hashes
  std::size_t duplicates = 0;  // groups of a graph that an earlier file has; left out

  const learn::Schedules& of(learn::Split split) const { return splits[static_cast<std::size_t>(split)]; }
};

// Costs in cycles; what a token adds in the workload's mean cycles of an op. Error for a file that can't be
// read, of other schemas, or of another rule set than the first.
TrainData read_train_data(const std::vector<std::string>& paths, const learn::TrajectorySchemas& schemas);

}  // namespace fuselage::cli
