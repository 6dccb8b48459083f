// Decisions of the walk family as data for a ranker: states that searches and policies get into, and for each
// kernel that could come next its exact regret, the cycles by which the least latency of the whole schedule
// rises if it is chosen. Under `seed_honest`, fixed order.
#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/learn/schedule_model.h"
#include "fuselage/oracle/trajectories.h"

namespace fuselage::oracle {

// Groups of candidates: each is a state, or, for whole schedules, a workload.
struct Decisions {
  std::size_t width = 0;                  // features of a row
  std::vector<float> rows = {};           // [width x candidates]
  std::vector<double> regret = {};        // of each candidate, in the workload's mean cycles of an op alone
  std::vector<std::uint32_t> sizes = {};  // candidates of each group

  std::size_t groups() const { return sizes.size(); }
};

// Of the states that candidates lead to: what a value head learns from (walk_guide.h).
struct StateValues {
  std::vector<float> rows = {};
  std::vector<float> targets = {};  // (least cost to go − bound) / mean cycles
};

struct DecisionOptions {
  int episodes = 3;                  // of a graph; each visits as many states as its schedule has kernels
  std::size_t most_candidates = 96;  // of a state; drawn from those there are, the best among them
  std::uint64_t seed = 0;
};

// Adds the decisions of one workload; states whose values aren't proven within some steps are left out. Half
// of the moves are optimal, the others random, so that states are those that good and middling searches see.
// With a model that rolls schedules, also the values of the states that they lead to.
void add_decisions(const Workload& workload, const DecisionOptions& options, Decisions& out);
void add_decisions(const Workload& workload, const DecisionOptions& options,
                   const learn::ScheduleModel& model, Decisions& out, StateValues& values);

// Levels of relevance that a ranker learns from, 4 = optimal … 0 (rank:pairwise looks at nothing but the
// order, and a kernel that loses half of an op is as wrong as one that loses two).
float relevance(double regret);

}  // namespace fuselage::oracle
