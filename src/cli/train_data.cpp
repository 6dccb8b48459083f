#include "train_data.h"

#include <set>

#include "fuselage/core/error.h"

namespace fuselage::cli {
namespace {

using learn::Schedules;
using learn::Trajectory;
using learn::TrajectoryGroup;

void add_group(const TrajectoryGroup& group, Schedules& schedules) {
  schedules.begin_group(group.workload);
  std::vector<float> increments;
  for (const Trajectory& schedule : group.schedules) {
    increments.clear();
    double before = 0;
    for (double cost : schedule.prefix_cost) {
      increments.push_back(static_cast<float>((cost - before) / group.mean_cycles));
      before = cost;
    }
    schedules.add(schedule.tokens, increments, schedule.latency);
  }
}

}  // namespace

TrainData read_train_data(const std::vector<std::string>& paths, const learn::TrajectorySchemas& schemas) {
  TrainData data;
  for (Schedules& schedules : data.splits) {
    schedules.features = static_cast<learn::Index>(schemas.token.size());
    schedules.facts = static_cast<learn::Index>(schemas.workload.size());
  }
  std::set<std::string> seen;
  std::string rules;
  for (const std::string& path : paths) {
    learn::TrajectoryReader reader(path, schemas);
    if (rules.empty()) rules = reader.manifest().rules;
    if (reader.manifest().rules != rules)
      fail("{}: made under the rules {}; expected {}, as {} is", path, reader.manifest().rules, rules,
           paths.front());
    TrajectoryGroup group;
    while (reader.next(group)) {
      if (!seen.insert(group.graph_hash).second) {
        ++data.duplicates;
        continue;
      }
      const auto split = static_cast<std::size_t>(group.split);
      add_group(group, data.splits[split]);
      data.names[split].push_back(group.graph_hash);
    }
  }
  return data;
}

}  // namespace fuselage::cli
