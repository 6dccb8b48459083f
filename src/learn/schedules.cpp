#include "fuselage/learn/schedules.h"

#include "fuselage/core/error.h"

namespace fuselage::learn {

void Schedules::begin_group(std::span<const float> workload) {
  if (static_cast<Index>(workload.size()) != facts)
    fail("a workload of {} numbers; expected {}", workload.size(), facts);
  workloads.insert(workloads.end(), workload.begin(), workload.end());
  first_schedule.push_back(costs.size());
}

void Schedules::add(std::span<const float> token_rows, std::span<const float> token_increments, double cost) {
  if (groups() == 0) fail("a schedule without a group; expected begin_group() before it");
  if (token_rows.size() != token_increments.size() * static_cast<std::size_t>(features))
    fail("{} numbers for {} tokens; expected {} a token", token_rows.size(), token_increments.size(),
         features);
  tokens.insert(tokens.end(), token_rows.begin(), token_rows.end());
  increments.insert(increments.end(), token_increments.begin(), token_increments.end());
  first_token.push_back(increments.size());
  costs.push_back(cost);
  first_schedule.back() = costs.size();
}

}  // namespace fuselage::learn
