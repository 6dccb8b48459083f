#include <array>
#include <cassert>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/headroom.h"
#include "fuselage/oracle/policy_player.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/baseline.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Rules;

constexpr std::array<Policy, 10> all_policies = {{
    {.name = "greedy, played", .greedy = true},
    {.name = "constant 32", .tile = 32},
    {.name = "constant 64", .tile = 64},
    {.name = "constant 128", .tile = 128},
    {.name = "constant 256", .tile = 256},
    {.name = "constant 32, fusing", .fuse = true, .tile = 32},
    {.name = "constant 64, fusing", .fuse = true, .tile = 64},
    {.name = "constant 128, fusing", .fuse = true, .tile = 128},
    {.name = "constant 256, fusing", .fuse = true, .tile = 256},
    {.name = "heuristic", .fuse = true, .tile = 128, .keeps = true},
}};

struct Run {
  std::vector<Action> actions;
  walk::Plan plan;
  Simulation simulation;
};

// The episode's total and what the independent check says of its kernels must be the same.
Run run_episode(const Workload& workload, Rules rules, const Policy& policy) {
  const walk::EpisodeContext context(workload);
  walk::Episode episode(context, {.rules = rules});
  const PolicyPlayer player(workload, policy);
  std::vector<Action> actions;
  while (!episode.done()) {
    actions.push_back(player.act(episode));
    episode.step(actions.back());
  }
  Run run{.actions = actions, .plan = play(context, rules, actions), .simulation = {}};
  run.simulation = simulate(workload.graph, workload.hardware, run.plan, {.rules = rules});
  const double total = episode.total_latency();
  if (!run.simulation.legal() || !agree(run.simulation.latency, total))
    throw std::logic_error(fmt::format(
        "{}: {}: the episode takes {} cycles, the check finds {}", workload.name, policy.name, total,
        run.simulation.legal() ? fmt::format("{}", run.simulation.latency) : run.simulation.fault->message));
  return run;
}

// The same kernels with the same residents, as a plan of the rules physical.
class PhysicalPlan {
 public:
  explicit PhysicalPlan(const Graph& graph) : graph_(graph) {
    for (NodeId id = 0; id < graph.size(); ++id) uses_.push_back(graph.uses(id));
  }

  walk::Plan of(const Run& run) {
    for (std::size_t i = 0; i < run.plan.size(); ++i) {
      const walk::PlanKernel& kernel = run.plan[i];
      const KernelReport& report = run.simulation.kernels[i];
      if (report.fallback) {
        for (NodeId node : kernel.nodes) add({.nodes = {node}, .tile = walk::default_tile, .retain = {}});
        continue;
      }
      resident_ = {report.resident_after.begin(), report.resident_after.end()};
      add({.nodes = kernel.nodes, .tile = kernel.tile, .retain = {}});
    }
    return std::move(plan_);
  }

 private:
  void add(walk::PlanKernel kernel) {
    for (NodeId node : kernel.nodes)
      for (NodeId input : graph_.inputs(node)) --uses_[static_cast<std::size_t>(input)];
    for (NodeId id : resident_)
      if (uses_[static_cast<std::size_t>(id)] > 0) kernel.retain.push_back(id);
    plan_.push_back(std::move(kernel));
  }

  const Graph& graph_;
  std::vector<int> uses_;  // by node: reads to come
  std::set<NodeId> resident_;
  walk::Plan plan_;
};

}  // namespace

PolicyPlayer::PolicyPlayer(const Workload& workload, const Policy& policy) : policy_(policy) {
  if (policy.greedy) script_ = walk::actions_of(walk::greedy_groups(workload.graph, workload.hardware));
}

Action PolicyPlayer::act(const walk::Episode& episode) const {
  if (policy_.greedy) return script_[static_cast<std::size_t>(episode.position())];
  Action action{.fuse_with_prev = policy_.fuse, .tile = policy_.tile, .retain = {}};
  const NodeId node = episode.current_node();
  if (policy_.keeps && episode.remaining_uses(node) > 0) action.retain.push_back(node);
  return action;
}

std::span<const Policy> policies() {
  return all_policies;
}

const Policy& find_policy(std::string_view name) {
  for (const Policy& policy : all_policies)
    if (policy.name == name) return policy;
  throw std::logic_error(fmt::format("{} is no policy", name));
}

Played play_policy(const Workload& workload, Rules rules, const Policy& policy) {
  const bool physical = rules == Rules::physical;
  Run run = run_episode(workload, physical ? Rules::seed_honest : rules, policy);
  Played played{.policy = policy,
                .actions = std::move(run.actions),
                .plan = {},
                .latency = run.simulation.latency,
                .fault = {}};
  if (!physical) {
    played.plan = std::move(run.plan);
    return played;
  }
  played.plan = PhysicalPlan(workload.graph).of(run);
  const Simulation priced = simulate(workload.graph, workload.hardware, played.plan, {.rules = rules});
  played.latency = priced.latency;
  if (priced.fault) {
    played.latency.reset();
    played.fault = priced.fault->message;
  }
  return played;
}

}  // namespace fuselage::oracle
