#include "fuselage/oracle/tune_proposals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fuselage/oracle/solve.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t tries_for_one = 30;  // before a plan is given up, that isn't known yet
constexpr double invented = 0.08;          // part of the plans that have no parents, once there are some
// Of the plans that have parents; the rest has two.
constexpr double exchanging = 0.2;
constexpr double regrouping = 0.1;
constexpr double mutating = 0.5;
constexpr std::array epsilons = {0.0, 0.05, 0.15, 0.3, 0.5};

}  // namespace

walk::Plan crossed(const walk::Plan& a, const walk::Plan& b, int position) {
  walk::Plan plan;
  int at = 0;
  for (const walk::PlanKernel& kernel : a) {
    if (at >= position) break;
    plan.push_back(kernel);
    const int over = at + static_cast<int>(kernel.nodes.size()) - position;
    if (over > 0) plan.back().nodes.resize(kernel.nodes.size() - static_cast<std::size_t>(over));
    at += static_cast<int>(kernel.nodes.size());
  }
  at = 0;
  for (const walk::PlanKernel& kernel : b) {
    const int end = at + static_cast<int>(kernel.nodes.size());
    if (end > position) {
      plan.push_back(kernel);
      if (at < position) {
        auto& nodes = plan.back().nodes;
        nodes.erase(nodes.begin(), nodes.begin() + (position - at));
      }
    }
    at = end;
  }
  return plan;
}

// The best are chosen most often: place ~ n · u², u being drawn evenly.
const walk::Plan& Proposals::parent(std::span<const walk::Plan* const> parents) {
  const double u = random_.unit();
  const auto place = static_cast<std::size_t>(u * u * static_cast<double>(parents.size()));
  return *parents[std::min(place, parents.size() - 1)];
}

std::vector<walk::Action> Proposals::think(std::span<const walk::Plan* const> parents) {
  if (parents.empty() || random_.unit() < invented) {
    if (random_.below(8) == 0) return samplers_.random_legal();
    return samplers_.heuristic(epsilons[random_.below(epsilons.size())]);
  }
  const walk::Plan& first = parent(parents);
  const double way = random_.unit();
  if (way < exchanging) return samplers_.mended(exchanged(first));
  if (way < exchanging + regrouping) return samplers_.mended(regrouped(first));
  if (way < exchanging + regrouping + mutating) return samplers_.mutated(first);
  const auto position = 1 + random_.below(static_cast<std::size_t>(context_.graph().size()));
  const walk::Plan child = crossed(first, parent(parents), static_cast<int>(position));
  return random_.below(2) == 0 ? samplers_.mended(child) : samplers_.mutated(child);
}

walk::Plan Proposals::exchanged(const walk::Plan& plan) {
  walk::Plan changed = plan;
  std::vector<std::pair<std::size_t, std::size_t>> retained;  // kernel, place in its list
  for (std::size_t k = 0; k < plan.size(); ++k)
    for (std::size_t i = 0; i < plan[k].retain.size(); ++i) retained.emplace_back(k, i);
  if (!retained.empty()) {
    const auto [k, i] = retained[random_.below(retained.size())];
    changed[k].retain.erase(changed[k].retain.begin() + static_cast<std::ptrdiff_t>(i));
  }
  walk::PlanKernel& kernel = changed[random_.below(changed.size())];
  const NodeId node = kernel.nodes[random_.below(kernel.nodes.size())];
  const auto inputs = context_.graph().inputs(node);
  const std::size_t which = random_.below(inputs.size() + 1);
  const NodeId x = which < inputs.size() ? inputs[which] : node;
  std::erase(kernel.retain, x);
  kernel.retain.insert(kernel.retain.begin(), x);
  return changed;
}

walk::Plan Proposals::regrouped(const walk::Plan& plan) {
  const std::size_t begin = random_.below(plan.size());
  const std::size_t end = std::min(plan.size(), begin + 1 + random_.below(3));
  walk::PlanKernel all = plan[begin];
  for (std::size_t k = begin + 1; k < end; ++k) {
    all.nodes.insert(all.nodes.end(), plan[k].nodes.begin(), plan[k].nodes.end());
    all.retain.insert(all.retain.end(), plan[k].retain.begin(), plan[k].retain.end());
  }
  walk::Plan changed(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(begin));
  const double cut = random_.unit();
  for (NodeId node : all.nodes) {
    if (changed.size() == begin || random_.unit() < cut)
      changed.push_back(
          {.nodes = {}, .tile = walk::tiles[random_.below(walk::tiles.size())], .retain = all.retain});
    changed.back().nodes.push_back(node);
  }
  changed.insert(changed.end(), plan.begin() + static_cast<std::ptrdiff_t>(end), plan.end());
  return changed;
}

std::vector<Candidate> Proposals::next(std::size_t n, std::span<const walk::Plan* const> parents) {
  std::vector<Candidate> candidates;
  for (std::size_t attempt = 0; candidates.size() < n && attempt < n * tries_for_one; ++attempt) {
    // The first plan of all is that of a sensible compiler.
    const std::vector<walk::Action> actions = known_.empty() ? samplers_.heuristic(0) : think(parents);
    Candidate one = {.plan = play(context_, walk::Rules::seed_honest, actions)};
    one.key = key_of(one.plan);
    if (known_.insert(one.key).second) candidates.push_back(std::move(one));
  }
  return candidates;
}

}  // namespace fuselage::oracle
