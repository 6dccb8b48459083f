// The value function of one graph, shared by all states of all its episodes, also those that only a bad
// policy reaches. Where values.h makes one search for each action of each state, here two memories do for the
// whole graph: once the open group is closed, what an episode can still reach depends on position and
// residents alone (V); and how an open group can grow depends on where it began, how long it is and what is
// resident, not on the tile and the retain list of its last action, which the next one replaces (G). So
//
//   value of a state  = min(cost of closing the group + V after it, G)
//   Q of an action    = cost that the step pays + value of the state after it
//
// V and G are proven by the exact engine, each once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/oracle/values.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/problem.h"

namespace fuselage::oracle {

// All that is known of one state of an episode.
struct StateLabels {
  Value value;                       // latency still to come, the open group included
  std::vector<ActionValue> actions;  // canonical ones, as q_values() gives them
};

class GraphValues {
 public:
  // The context must outlive it. `budget` is of one search; what it ends unproven is marked so.
  GraphValues(const walk::EpisodeContext& context, walk::Rules rules, const Budget& budget = {});
  ~GraphValues();

  // The same as value_to_go() and q_values() of values.h. The episode must be of the context and the rules.
  // One that max_steps will cut off is searched by itself.
  Value value(const walk::Episode& episode);
  StateLabels labels(const walk::Episode& episode);

  // From now on a question that isn't answered by then ends in an Error; what was found stays. For who
  // answers strangers.
  void answer_until(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }

  std::uint64_t searches() const { return searches_; }

 private:
  struct Memory;

  // Of the next search: what is left until the deadline. Error if nothing is.
  Budget allowed() const;

  bool is_cut_off(const walk::Episode& episode) const;
  Value closed(int position, std::span<const NodeId> resident);
  Value grown(const walk::Episode& episode);
  bool may_fail_on_purpose(const walk::Episode& episode) const;

  const walk::EpisodeContext& context_;
  walk::Rules rules_;
  Budget budget_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  walk::WalkProblem problem_;
  std::unique_ptr<Memory> memory_;
  walk::Episode after_;   // scratch: after an action
  walk::Episode ending_;  // scratch: after closing a group
  std::uint64_t searches_ = 0;
};

}  // namespace fuselage::oracle
