#include "fuselage/oracle/tune_proposals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fuselage/oracle/solve.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t tries_for_one = 30;  // before a plan is given up, that isn't known yet
constexpr double invented = 0.08;          // part of the plans that have no parents, once there are some
constexpr double married = 0.25;           // part that has two
constexpr std::array epsilons = {0.0, 0.05, 0.15, 0.3, 0.5};

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
  if (parents.size() < 2 || random_.unit() >= married) return samplers_.mutated(first);
  const auto position = 1 + random_.below(static_cast<std::size_t>(context_.graph().size()));
  return samplers_.mutated(crossed(first, parent(parents), static_cast<int>(position)));
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
