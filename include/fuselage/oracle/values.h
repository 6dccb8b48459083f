// What every choice of an agent is worth: the value-to-go of an episode as it stands (open group, residents
// and all, also where only a bad policy gets) and the Q value of any action, as the exact engine proves them.
#pragma once

#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

struct Value {
  double cycles = 0;       // least latency still to come, the open group included
  bool proven = false;     // false: a capped space or a spent budget, so the true value may be lower
  double lower_bound = 0;  // cycles, proven to be no more than the true value
};

struct ActionValue {
  walk::Action action;
  Value value;  // latency to come if this action is taken now and the best ones follow
};

// Cycles from here to the episode's end (max_steps included); 0 when it is done.
Value value_to_go(const walk::Episode& episode, const Budget& budget = {});

Value q_value(const walk::Episode& episode, const walk::Action& action, const Budget& budget = {});

// One action that an optimal schedule takes here.
walk::Action optimal_action(const walk::Episode& episode, const Budget& budget = {});

// The canonical actions of a state: fuse or not, each tile, each set of the tensors that it can make sense to
// retain now (members of the group after the action and its inputs that somebody reads later, and graph
// outputs among the members), in this order; and optimal_action() last if it is none of them (`seed`:
// phantoms). A fuse that the rules refuse is left out, since it is the same as not fusing. So the least of
// q_values() is value_to_go().
// declared_actions() is all but that last one.
std::vector<walk::Action> declared_actions(const walk::Episode& episode);
std::vector<walk::Action> canonical_actions(const walk::Episode& episode, const Budget& budget = {});
std::vector<ActionValue> q_values(const walk::Episode& episode, const Budget& budget = {});

}  // namespace fuselage::oracle
