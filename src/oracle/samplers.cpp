#include "fuselage/oracle/samplers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>

#include "fuselage/oracle/solve.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;
using walk::Plan;
using walk::PlanKernel;

bool holds(std::span<const NodeId> ids, NodeId x) {
  return std::find(ids.begin(), ids.end(), x) != ids.end();
}

// The group that the next action would make.
struct NextGroup {
  int first = 0;
  int count = 1;
};
NextGroup next_group(const Episode& episode, bool fuse) {
  if (!fuse) return {episode.position(), 1};
  return {episode.group().first, episode.group().count + 1};
}

bool may_fuse(const Episode& episode) {
  const walk::OpenGroup& group = episode.group();
  return group.count > 0 && episode.context().runs().longest(group.first) > group.count;
}

// What the group may retain and a later node, or nobody but the world outside, reads. Not what is resident
// already: that stays anyhow.
std::vector<NodeId> worth_retaining(const Episode& episode, const NextGroup& group) {
  const walk::RunTable& runs = episode.context().runs();
  const walk::Run& run = runs.run(group.first, group.count);
  std::vector<NodeId> ids;
  for (NodeId x : runs.inputs(run))
    if (runs.last_use(x) >= run.end() && !episode.is_resident(x)) ids.push_back(x);
  for (NodeId x : runs.outputs(run)) ids.push_back(x);
  return ids;
}

// The working set of the group that is open after the action, under the residents as they are then.
bool fits(const Episode& after, const NextGroup& group, const Action& action) {
  const Graph& graph = after.context().graph();
  const walk::Run& run = after.context().runs().run(group.first, group.count);
  std::int64_t bytes = run.slices[static_cast<std::size_t>(walk::tile_index(action.tile))];
  for (NodeId x : after.resident()) {
    const int at = graph.position(x);
    if (at < group.first || at >= group.first + group.count) bytes += graph.bytes(x);
  }
  for (NodeId x : action.retain)
    if (!after.is_resident(x)) bytes += graph.bytes(x);
  return bytes <= after.context().hardware().fast_mem_capacity;
}

bool is_legal(const Episode& episode, const Action& action) {
  Episode after = episode;
  after.step(action);
  if (after.error().kind != walk::StepError::Kind::none || !after.dropped().empty()) return false;
  // A fuse has been checked by the step; the last group is closed by it.
  return action.fuse_with_prev || fits(after, next_group(episode, false), action);
}

// The first legal one of the action, and easier ones: fewer tensors retained, smaller tiles.
std::optional<Action> make_legal(const Episode& episode, Action action) {
  for (;;) {
    if (is_legal(episode, action)) return action;
    if (!action.retain.empty())
      action.retain.pop_back();
    else if (action.tile > walk::tiles[0])
      action.tile /= 2;
    else
      return std::nullopt;
  }
}

// A fuse that can't be made legal becomes none; a node that fits nowhere runs as it can.
Action or_alone(const Episode& episode, const Action& wanted) {
  if (auto action = make_legal(episode, wanted)) return *action;
  Action alone = wanted;
  alone.fuse_with_prev = false;
  std::erase_if(alone.retain,
                [&](NodeId x) { return !holds(worth_retaining(episode, next_group(episode, false)), x); });
  return make_legal(episode, alone).value_or(Action{.fuse_with_prev = false, .tile = 32, .retain = {}});
}

// Plays a plan as far as it is legal, and makes legal what is not. Every member is given its kernel's tile
// and what it may retain so far, so that a kernel which is cut short keeps its ways.
std::vector<Action> legal_actions(const walk::EpisodeContext& context, const Plan& plan) {
  const Graph& graph = context.graph();
  Episode episode(context, {.rules = walk::Rules::seed_honest});
  std::vector<Action> actions;
  for (const PlanKernel& kernel : plan) {
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
      Action action{.fuse_with_prev = i > 0 && may_fuse(episode), .tile = kernel.tile, .retain = {}};
      const NextGroup group = next_group(episode, action.fuse_with_prev);
      const walk::Run& run = context.runs().run(group.first, group.count);
      for (NodeId x : kernel.retain) {
        const int at = graph.position(x);
        const bool member = at >= group.first && at < run.end();
        if (member || holds(context.runs().inputs(run), x)) action.retain.push_back(x);
      }
      action = or_alone(episode, action);
      episode.step(action);
      actions.push_back(std::move(action));
    }
  }
  return actions;
}

// Only what a kernel of these nodes may retain, each once.
void tidy(PlanKernel& kernel, const Graph& graph) {
  std::vector<NodeId> kept;
  for (NodeId x : kernel.retain) {
    const bool known = std::any_of(kernel.nodes.begin(), kernel.nodes.end(),
                                   [&](NodeId node) { return node == x || holds(graph.inputs(node), x); });
    if (known && !holds(kept, x)) kept.push_back(x);
  }
  kernel.retain = std::move(kept);
}

}  // namespace

std::string key_of(const walk::Plan& plan) {
  std::string text;
  for (const walk::PlanKernel& kernel : plan) {
    std::vector<NodeId> retain = kernel.retain;
    std::sort(retain.begin(), retain.end());
    fmt::format_to(std::back_inserter(text), "{}:{}:{};", kernel.nodes.size(), kernel.tile,
                   fmt::join(retain, ","));
  }
  return text;
}

Action Samplers::random_action(const Episode& episode, const Habits& habits) {
  Action action;
  action.fuse_with_prev = may_fuse(episode) && random_.unit() < habits.fuse;
  action.tile = walk::tiles[random_.below(walk::tiles.size())];
  for (NodeId x : worth_retaining(episode, next_group(episode, action.fuse_with_prev)))
    if (random_.unit() < habits.retain) action.retain.push_back(x);
  return or_alone(episode, action);
}

Action Samplers::sensible_action(const Episode& episode) {
  const walk::RunTable& runs = episode.context().runs();
  Action action{.fuse_with_prev = may_fuse(episode), .tile = 256, .retain = {}};
  const NextGroup group = next_group(episode, action.fuse_with_prev);
  const int end = group.first + group.count;
  for (NodeId x : worth_retaining(episode, group))
    if (runs.next_use(x, end) < end + 3) action.retain.push_back(x);
  std::stable_sort(action.retain.begin(), action.retain.end(),
                   [&](NodeId a, NodeId b) { return runs.next_use(a, end) < runs.next_use(b, end); });
  return or_alone(episode, action);
}

std::vector<Action> Samplers::play(const Habits& habits) {
  Episode episode(context_, {.rules = walk::Rules::seed_honest});
  std::vector<Action> actions;
  while (!episode.done()) {
    const bool random = random_.unit() < habits.random;
    Action action = random ? random_action(episode, habits) : sensible_action(episode);
    episode.step(action);
    actions.push_back(std::move(action));
  }
  return actions;
}

std::vector<Action> Samplers::random_legal() {
  const double fuse = random_.unit();
  const double retain = random_.unit();
  return play({.fuse = fuse, .retain = retain, .random = 1});
}

std::vector<Action> Samplers::heuristic(double epsilon) {
  return play({.fuse = 0.5, .retain = 0.3, .random = epsilon});
}

void Samplers::change(Plan& plan) {
  const std::size_t at = random_.below(plan.size());
  PlanKernel& kernel = plan[at];
  const bool has_next = at + 1 < plan.size();
  switch (random_.below(5)) {
    case 0: {  // split
      if (kernel.nodes.size() < 2) return;
      const auto cut = static_cast<std::ptrdiff_t>(1 + random_.below(kernel.nodes.size() - 1));
      PlanKernel rest = kernel;
      rest.nodes.erase(rest.nodes.begin(), rest.nodes.begin() + cut);
      kernel.nodes.resize(static_cast<std::size_t>(cut));
      plan.insert(plan.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(rest));
      return;
    }
    case 1: {  // merge
      if (!has_next) return;
      const PlanKernel& next = plan[at + 1];
      kernel.nodes.insert(kernel.nodes.end(), next.nodes.begin(), next.nodes.end());
      kernel.retain.insert(kernel.retain.end(), next.retain.begin(), next.retain.end());
      plan.erase(plan.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      return;
    }
    case 2: {  // hand over the last node
      if (!has_next || kernel.nodes.size() < 2) return;
      plan[at + 1].nodes.insert(plan[at + 1].nodes.begin(), kernel.nodes.back());
      kernel.nodes.pop_back();
      return;
    }
    case 3: {  // the next tile, larger or smaller
      const int tile = random_.below(2) == 0 ? kernel.tile * 2 : kernel.tile / 2;
      if (walk::tile_index(tile) >= 0) kernel.tile = tile;
      return;
    }
    default: {  // retain
      const NodeId node = kernel.nodes[random_.below(kernel.nodes.size())];
      const auto inputs = context_.graph().inputs(node);
      const std::size_t which = random_.below(inputs.size() + 1);
      const NodeId x = which < inputs.size() ? inputs[which] : node;
      if (std::erase(kernel.retain, x) == 0) kernel.retain.push_back(x);
    }
  }
}

std::vector<Action> Samplers::mutated(const Plan& plan) {
  Plan changed = plan;
  do change(changed);
  while (random_.below(2) == 0);
  return mended(changed);
}

std::vector<Action> Samplers::mended(const Plan& plan) const {
  Plan tidied = plan;
  for (PlanKernel& kernel : tidied) tidy(kernel, context_.graph());
  return legal_actions(context_, tidied);
}

}  // namespace fuselage::oracle
