// One state in two workloads: what each says of it, and how the two differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuselage/oracle/counterfactuals.h"
#include "fuselage/oracle/graph_values.h"

namespace fuselage::oracle {

// A workload, and what its states are worth.
struct JudgedWorkload {
  std::string name;
  walk::EpisodeContext context;
  GraphValues values;

  JudgedWorkload(const Workload& workload, const CounterfactualOptions& options)
      : name(workload.name), context(workload), values(context, options.rules, options.budget) {}
  Workload workload() const { return {name, context.graph(), context.hardware()}; }
};

// The canonical actions of a state, and those of least Q.
struct JudgedState {
  double value = 0;  // cycles
  std::vector<walk::Action> canonical = {};
  std::vector<walk::Action> optimal = {};
};

// None if a value isn't proven.
std::optional<JudgedState> judge(JudgedWorkload& workload, const walk::Episode& episode);

// Plays the actions; none if the environment refuses or trims one of them.
std::optional<walk::Episode> replayed(const JudgedWorkload& workload, walk::Rules rules,
                                      const std::vector<walk::Action>& actions);

// A state in one of the workloads.
struct Side {
  JudgedWorkload& workload;
  const walk::Episode& episode;
  const JudgedState& judged;
};
// All of a pair but its fact and prefix. None if a value isn't proven.
std::optional<Counterfactual> compared(const Side& a, const Side& b);

}  // namespace fuselage::oracle
