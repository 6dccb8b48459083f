// What every decision of an agent cost: of each action the regret, by how much the least latency of the whole
// episode rises with it, and to which of the three decisions it is owed. The parts are exact and add up:
//
//   fuse    least Q among the actions that fuse as this one did   − least Q of all
//   tile    least Q among those of its tile, too                  − the former
//   retain  Q of the action                                       − the former
//
// The regrets of a whole episode add up to its latency minus the optimum. Answers are read as the environment
// reads them: one that can't be read uses no step and loses nothing but its reward.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuselage/oracle/graph_values.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

struct RegretParts {
  double fuse = 0;  // cycles
  double tile = 0;
  double retain = 0;
  double total() const { return fuse + tile + retain; }
};

struct StepRegret {
  NodeId node = 0;
  walk::Action taken;  // as the environment understood it: fuse is false if it was refused
  walk::Action best;   // an optimal one, the most like it
  RegretParts regret;
  double gap = 0;      // of the episode as it stands: (spent + least still to come) / optimum − 1
  bool proven = true;  // are all values that this rests on?
};

struct EpisodeRegret {
  std::vector<StepRegret> steps;
  RegretParts regret;
  double latency = 0;    // cycles, if optimal actions follow where the answers end
  double optimum = 0;    // cycles
  double score = 0;      // the environment's, of the episode as far as it was played
  int unread = 0;        // answers that can't be read
  int unused = 0;        // answers after the end
  bool complete = true;  // did the answers reach the end?
  bool proven = true;
};

// `values` must be of the context and the rules.
EpisodeRegret regret_of(GraphValues& values, const walk::EpisodeContext& context, walk::Rules rules,
                        std::span<const std::string> answers);

}  // namespace fuselage::oracle
