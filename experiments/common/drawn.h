// Workloads with schedules to learn from or to judge by, drawn from a seed in the way of `fuselage
// trajectories`, and the same as the sets that models read.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/learn/schedules.h"
#include "fuselage/learn/world_model.h"
#include "fuselage/oracle/trajectories.h"

namespace fuselage::experiments {

struct Draw {
  std::string name = {};
  oracle::DrawOptions graphs = {};
  int count = 0;                           // of graphs, which all differ
  std::optional<learn::Split> split = {};  // only graphs of it
  int schedules = 48;                      // of each graph
  std::uint64_t seed = 0;
};

struct Drawn {
  Workload workload;
  oracle::DrawnSchedules schedules;
};

// The same whatever the threads.
std::vector<Drawn> draw(const Draw& options, int threads);
// Schedules of these workloads, in their order; workloads that don't have two are left out.
std::vector<Drawn> schedules_of(std::vector<Workload> workloads, int schedules, int threads);

// Schedules with the states along them.
struct Set {
  std::string name = {};
  learn::Schedules schedules = {};  // costs in cycles to ten digits: sums that differ by rounding are equal
  learn::StateSequences sequences = {};  // by schedule
};

// An empty set of the walk family's features.
Set empty_set(const std::string& name);
void add(const learn::TrajectoryGroup& group, Set& set);
Set set_of(const std::string& name, const std::vector<Drawn>& drawn);

// For a manifest: how it was drawn, how much there is, and a hash of graphs and costs.
nlohmann::ordered_json describe(const Draw& options, const std::vector<Drawn>& drawn);

// Calls work(i) for all i < count from so many threads; the first exception is thrown on.
void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace fuselage::experiments
