// What `fuselage train` is told in its file: the data, the shape of the model, how it is trained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/learn/schedule_training.h"

namespace fuselage::cli {

// A bundle makes its own data.
struct BundleConfig {
  int graphs = 520;  // of each of the kinds mixed and memory-bound
  int schedules = 48;
  int min_ops = 8;
  int max_ops = 32;
  int grid_problems = 440;  // 0: no grid family
};

struct TrainConfig {
  std::vector<std::string> data = {};       // files of trajectories
  std::optional<BundleConfig> bundle = {};  // instead of data
  std::uint64_t seed = 0;
  learn::ScheduleModelShape model = {};  // but for what the data says
  learn::ScheduleTrainingOptions training = {};
};

// Everything but "data" or "bundle" may be left out. Throws Error with `source`, field, value and what would
// be right, also for a field that is none.
TrainConfig parse_train_config(std::string_view text, const std::string& source);

}  // namespace fuselage::cli
