#include "train_data.h"

#include <set>

#include "fuselage/core/error.h"

namespace fuselage::cli {

TrainData read_train_data(const std::vector<std::string>& paths, const learn::TrajectorySchemas& schemas) {
  TrainData data;
  for (learn::Schedules& schedules : data.splits) {
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
    learn::TrajectoryGroup group;
    while (reader.next(group)) {
      if (!seen.insert(group.graph_hash).second) {
        ++data.duplicates;
        continue;
      }
      const auto split = static_cast<std::size_t>(group.split);
      learn::append_group(group, data.splits[split]);
      data.names[split].push_back(group.graph_hash);
    }
  }
  return data;
}

}  // namespace fuselage::cli
