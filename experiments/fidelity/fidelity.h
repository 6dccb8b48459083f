// How faithful predicted latents are: rolled from the first state of a schedule over so many tokens, how far
// from the encoded state that is really there, and is that one the nearest of all states that other schedules
// of the graph are in after as many tokens?
#pragma once

#include <cstddef>
#include <vector>

#include "fuselage/learn/world_model.h"

namespace fuselage::experiments {

struct AtHorizon {
  std::size_t tokens = 0;
  std::size_t graphs = 0;    // with schedules that long
  double schedules = 0;      // of a graph, mean
  double states = 0;         // of these schedules, that differ, mean over graphs
  double error = 0;          // root mean square distance, relative to how far all encoded states spread
  double error_at_once = 0;  // the same, relative to the spread of the graph's states at that horizon
  double commonest = 0;      // share of the state that most schedules are in: what guessing it would get
  double each_once = 0;      // retrieval as the mean over states instead of schedules
  double retrieval = 0;      // the mean over graphs of how often the own state is nearest, by cosine
  std::vector<double> of_graphs = {};  // retrieval of each
};

// Equal states that different schedules reach count as one.
AtHorizon fidelity(const learn::WorldModel& model, const learn::StateSequences& set, std::size_t tokens);

// Of the encoded states, every so many-th of the set.
learn::LatentSpread spread_of(const learn::WorldModel& model, const learn::StateSequences& set);

}  // namespace fuselage::experiments
