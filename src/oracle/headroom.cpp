#include "fuselage/oracle/headroom.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "fuselage/core/error.h"
#include "fuselage/walk/problem.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::oracle {
namespace {

double root_bound(const Workload& workload, walk::Rules rules) {
  const walk::RunTable runs(workload.graph, workload.hardware);
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs, {.rules = rules});
  return problem.bound(problem.initial());
}

std::vector<Decision> decisions(const Workload& workload, const SolveOptions& whole) {
  std::vector<Decision> result;
  const auto add = [&](std::string_view name, const SolveOptions& space) {
    result.push_back({.name = name, .solution = solve(workload, space)});
  };
  SolveOptions space = whole;
  space.may_retain = false;
  add(no_retention, space);
  space = whole;
  space.may_fuse = false;
  add(no_fusion, space);
  space = whole;
  space.only_tile = walk::default_tile;
  add(one_tile, space);
  if (whole.rules != walk::Rules::physical) return result;
  space = whole;
  space.order = walk::Order::free;
  add(free_order, space);
  return result;
}

}  // namespace

std::optional<double> Headroom::improvement(double latency) const {
  const auto greedy = optimum.greedy_latency;
  if (!greedy || *greedy <= 0) return std::nullopt;
  return (*greedy - latency) / *greedy;
}

std::optional<double> Headroom::score(double latency) const {
  const auto gain = improvement(latency);
  return gain ? std::optional(std::clamp(*gain / 0.2, -1.0, 1.0)) : std::nullopt;
}

std::optional<double> Headroom::loss(const Decision& decision) const {
  if (!optimum.found || !decision.solution.found || optimum.latency <= 0) return std::nullopt;
  return (decision.solution.latency - optimum.latency) / optimum.latency;
}

const Played& Headroom::best_constant() const {
  const auto cost = [](const Played& p) {
    return p.policy.is_constant() && p.latency ? *p.latency : std::numeric_limits<double>::infinity();
  };
  const auto best = std::min_element(policies.begin(), policies.end(),
                                     [&](const Played& a, const Played& b) { return cost(a) < cost(b); });
  if (best->policy.is_constant()) return *best;
  return *std::find_if(policies.begin(), policies.end(),
                       [](const Played& p) { return p.policy.is_constant(); });  // none is legal
}

const Played& Headroom::played(std::string_view policy) const {
  for (const Played& one : policies)
    if (one.policy.name == policy) return one;
  throw std::logic_error(fmt::format("{} was not played", policy));
}

const Decision* Headroom::decision(std::string_view wanted) const {
  for (const Decision& one : decisions)
    if (one.name == wanted) return &one;
  return nullptr;
}

Headroom headroom(const Workload& workload, const HeadroomOptions& options) {
  Headroom result;
  result.rules = options.rules;
  const SolveOptions whole{.rules = options.rules, .budget = options.budget};
  result.optimum = solve(workload, whole);
  result.root_bound = root_bound(workload, options.rules);
  for (const Policy& policy : policies())
    result.policies.push_back(play_policy(workload, options.rules, policy));
  result.decisions = decisions(workload, whole);
  return result;
}

}  // namespace fuselage::oracle
