// Plans of random graphs for the tests of reports: whatever a policy of dice does, and the best there is.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "fuselage/oracle/solve.h"
#include "fuselage/walk/plan_json.h"
#include "random_graphs.h"

namespace fuselage::report {

inline walk::PlanFile plan_of(const Workload& workload, walk::Rules rules, walk::Plan kernels) {
  walk::PlanFile plan{.workload = workload, .rules = rules};
  plan.kernels = std::move(kernels);
  return plan;
}

// What an episode runs if dice choose the actions; groups that fall back are among it.
inline walk::PlanFile diced_plan(const Workload& workload, walk::Rules rules, Dice& dice) {
  const walk::EpisodeContext context(workload);
  std::vector<walk::Action> actions;
  for (int i = 0; i < workload.graph.size(); ++i) {
    walk::Action action = {.fuse_with_prev = i > 0 && dice.chance(60),
                           .tile = walk::tiles[static_cast<std::size_t>(dice.below(4))],
                           .retain = {}};
    if (dice.chance(50)) action.retain = {workload.graph.order()[static_cast<std::size_t>(i)]};
    actions.push_back(action);
  }
  return plan_of(workload, rules, oracle::play(context, rules, actions));
}

inline std::optional<walk::PlanFile> best_plan(const Workload& workload, walk::Rules rules,
                                               oracle::Engine engine = oracle::Engine::exact) {
  const oracle::Solution solution = oracle::solve(workload, {.rules = rules, .engine = engine});
  if (!solution.found) return std::nullopt;
  walk::PlanFile plan = plan_of(workload, rules, solution.plan);
  plan.latency = solution.latency;
  return plan;
}

}  // namespace fuselage::report
