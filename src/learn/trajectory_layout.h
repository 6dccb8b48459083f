// What writer and reader of trajectories share: the datasets, and what the numbers of a group can be.
#pragma once

#include <string>

#include "fuselage/learn/trajectory_file.h"
#include "hdf5.h"

namespace fuselage::learn {

inline constexpr const char* trajectory_format = "fuselage-trajectories";
inline constexpr std::uint64_t trajectory_version = 1;
inline constexpr std::size_t hash_bytes = 64;
inline constexpr std::size_t name_bytes = 100;

struct Widths {
  std::size_t token = 0;
  std::size_t state = 0;
  std::size_t workload = 0;
};
inline Widths widths_of(const TrajectorySchemas& schemas) {
  return {schemas.token.size(), schemas.state.size(), schemas.workload.size()};
}

// The datasets, in the order in which they are made.
struct TrajectoryRows {
  hdf5::Rows hash, name, split, schedules, mean_cycles, best, proven, workload;  // groups/
  hdf5::Rows tokens, sampler, latency;                                           // schedules/
  hdf5::Rows features, kernel, prefix_cost, regret;                              // tokens/
  hdf5::Rows states;                                                             // states/

  // Calls visit(member, path, type) for each; regret only if the file has it.
  template <class Visit>
  void for_each(const Widths& widths, bool has_regret, Visit visit) {
    using hdf5::Number;
    visit(hash, "groups/hash", {.width = hash_bytes, .is_text = true});
    visit(name, "groups/name", {.width = name_bytes, .is_text = true});
    visit(split, "groups/split", {.number = Number::u8});
    visit(schedules, "groups/schedules", {.number = Number::i32});
    visit(mean_cycles, "groups/mean_cycles", {.number = Number::f64});
    visit(best, "groups/best", {.number = Number::f64});
    visit(proven, "groups/proven", {.number = Number::u8});
    visit(workload, "groups/workload", {.number = Number::f32, .width = widths.workload});
    visit(tokens, "schedules/tokens", {.number = Number::i32});
    visit(sampler, "schedules/sampler", {.number = Number::u8});
    visit(latency, "schedules/latency", {.number = Number::f64});
    visit(features, "tokens/features", {.number = Number::f32, .width = widths.token});
    visit(kernel, "tokens/kernel", {.number = Number::i32});
    visit(prefix_cost, "tokens/prefix_cost", {.number = Number::f64});
    if (has_regret) visit(regret, "tokens/regret", {.number = Number::f64});
    visit(states, "states/features", {.number = Number::f32, .width = widths.state});
  }
};

// Error with file, dataset, row and value for numbers that no group has. `source` is the file.
struct GroupPlace {
  std::string source;
  std::size_t group = 0;  // its number
};
void check_group(const TrajectoryGroup& group, const Widths& widths, bool has_regret,
                 const GroupPlace& place);

}  // namespace fuselage::learn
