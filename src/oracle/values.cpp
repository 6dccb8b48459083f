#include "fuselage/oracle/values.h"

#include <algorithm>

#include "fuselage/search/exact.h"
#include "fuselage/walk/problem.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;

constexpr std::size_t most_retainable = 10;  // 2^10 sets; the ones with the most uses left if there are more

std::vector<NodeId> worth_retaining(const Episode& episode, int first, int count) {
  const Graph& graph = episode.context().graph();
  const walk::Run& run = episode.context().runs().run(first, count);
  const auto later = [&](NodeId x) {
    int uses = 0;
    for (NodeId c : graph.consumers(x)) uses += graph.position(c) >= run.end();
    return uses;
  };
  std::vector<NodeId> ids;
  for (NodeId x : episode.context().runs().inputs(run))
    if (later(x) > 0 && !episode.is_resident(x)) ids.push_back(x);
  for (NodeId x : episode.context().runs().outputs(run))
    if (later(x) > 0 || graph.uses(x) == 0) ids.push_back(x);
  std::sort(ids.begin(), ids.end());
  if (ids.size() > most_retainable) {
    std::stable_sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) { return later(a) > later(b); });
    ids.resize(most_retainable);
    std::sort(ids.begin(), ids.end());
  }
  return ids;
}

void add_actions(const Episode& episode, bool fuse, std::vector<Action>& out) {
  const int first = fuse ? episode.group().first : episode.position();
  const int count = fuse ? episode.group().count + 1 : 1;
  const std::vector<NodeId> ids = worth_retaining(episode, first, count);
  Episode after = episode;
  for (int tile : walk::tiles) {
    for (std::size_t set = 0; set < (std::size_t{1} << ids.size()); ++set) {
      Action action{.fuse_with_prev = fuse, .tile = tile, .retain = {}};
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (set >> i & 1) action.retain.push_back(ids[i]);
      if (fuse) {
        after = episode;
        after.step(action);
        if (after.error().kind != walk::StepError::Kind::none) continue;
      }
      out.push_back(std::move(action));
    }
  }
}

}  // namespace

Value value_to_go(const Episode& episode, const Budget& budget) {
  if (episode.done()) return {.cycles = 0, .proven = true, .lower_bound = 0};
  const walk::WalkProblem problem(episode);
  const auto outcome = search::exact(problem, {.budget = budget});
  const bool proven = outcome.proof == search::Proof::optimal;
  return {.cycles = outcome.cost,
          .proven = proven,
          .lower_bound = proven ? outcome.cost : std::min(outcome.lower_bound, outcome.cost)};
}

Value q_value(const Episode& episode, const Action& action, const Budget& budget) {
  Episode after = episode;
  after.step(action);
  Value value = value_to_go(after, budget);
  const double paid = after.total_latency() - episode.total_latency();
  value.cycles += paid;
  value.lower_bound += paid;
  return value;
}

Action optimal_action(const Episode& episode, const Budget& budget) {
  if (episode.done()) return {};
  const walk::WalkProblem problem(episode);
  const std::vector<Action> actions =
      walk::actions_of(problem.plan_of(search::exact(problem, {.budget = budget}).plan));
  return actions[static_cast<std::size_t>(episode.group().count)];
}

std::vector<Action> declared_actions(const Episode& episode) {
  std::vector<Action> actions;
  if (episode.done()) return actions;
  add_actions(episode, false, actions);
  const bool may_fuse = episode.group().count > 0 &&
                        episode.context().runs().longest(episode.group().first) > episode.group().count;
  if (may_fuse) add_actions(episode, true, actions);
  return actions;
}

std::vector<Action> canonical_actions(const Episode& episode, const Budget& budget) {
  std::vector<Action> actions = declared_actions(episode);
  if (episode.done()) return actions;
  const Action best = optimal_action(episode, budget);
  if (std::find(actions.begin(), actions.end(), best) == actions.end()) actions.push_back(best);
  return actions;
}

std::vector<ActionValue> q_values(const Episode& episode, const Budget& budget) {
  std::vector<ActionValue> values;
  for (Action& action : canonical_actions(episode, budget)) {
    const Value value = q_value(episode, action, budget);
    values.push_back({std::move(action), value});
  }
  return values;
}

}  // namespace fuselage::oracle
