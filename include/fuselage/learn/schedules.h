// Schedules as a model reads them: each a sequence of tokens, in groups that share a workload. Only schedules
// of one workload are ever compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

// Flat: schedule i has the tokens first_token[i] … first_token[i + 1] − 1, group g the schedules
// first_schedule[g] … first_schedule[g + 1] − 1. All rows have as many numbers as the first says.
struct Schedules {
  Index features = 0;                             // of a token
  Index facts = 0;                                // of a workload
  std::vector<float> tokens = {};                 // token by token
  std::vector<float> increments = {};             // what each token adds to the cost, in the group's unit
  std::vector<float> workloads = {};              // group by group
  std::vector<double> costs = {};                 // of each schedule
  std::vector<std::size_t> first_token = {0};     // by schedule, and the end
  std::vector<std::size_t> first_schedule = {0};  // by group, and the end

  std::size_t schedules() const { return costs.size(); }
  std::size_t groups() const { return first_schedule.size() - 1; }

  // Another schedule of the group that was begun last. Rows of `features` numbers each.
  void begin_group(std::span<const float> workload);
  void add(std::span<const float> token_rows, std::span<const float> token_increments, double cost);
};

}  // namespace fuselage::learn
