#include "fuselage/oracle/walk_decisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "fuselage/search/exact.h"
#include "fuselage/search/split_mix.h"
#include "fuselage/walk/decision_features.h"
#include "fuselage/walk/problem.h"

namespace fuselage::oracle {
namespace {

using walk::Kernel;
using walk::State;
using walk::WalkProblem;

constexpr std::uint64_t value_steps = 50'000;  // kernels priced for the value of one state
constexpr double optimal_share = 0.5;          // of the moves
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Least cost to go of the states of one problem; each is searched once.
class Values {
 public:
  explicit Values(const WalkProblem& problem) : problem_(problem) {}

  // NaN: not proven.
  double of(const State& state) {
    if (problem_.progress(state) >= problem_.horizon()) return 0;
    auto& known = known_[problem_.key(state)];
    for (const auto& [other, value] : known)
      if (other == state) return value;
    const auto outcome = search::exact(problem_, {.budget = {.steps = value_steps}}, state);
    const double value = outcome.proof == search::Proof::optimal ? outcome.cost : unknown;
    known.emplace_back(state, value);
    return value;
  }

 private:
  const WalkProblem& problem_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<State, double>>> known_;
};

// The best kernel and random others, at most `most` in all, in canonical order.
void thin(std::vector<std::size_t>& places, std::size_t best, std::size_t most, search::SplitMix& random) {
  if (places.size() <= most) return;
  std::swap(places[0], places[best]);
  for (std::size_t i = 1; i < most; ++i) std::swap(places[i], places[i + random.below(places.size() - i)]);
  places.resize(most);
  std::sort(places.begin(), places.end());
}

}  // namespace

float relevance(double regret) {
  constexpr std::array limits = {1e-9, 0.05, 0.25, 1.0};
  float level = static_cast<float>(limits.size());
  for (double limit : limits) level -= regret > limit ? 1.0F : 0.0F;
  return level;
}

void add_decisions(const Workload& workload, const DecisionOptions& options, Decisions& out) {
  const walk::RunTable runs(workload.graph, workload.hardware);
  const WalkProblem problem(workload.graph, workload.hardware, runs, {.rules = walk::Rules::seed_honest});
  const walk::Features features(workload.graph, workload.hardware, runs);
  walk::DecisionRows rows(features);
  out.width = walk::DecisionRows::width();
  search::SplitMix random(options.seed);
  Values values(problem);
  std::vector<Kernel> kernels;
  std::vector<double> costs;
  for (int episode = 0; episode < options.episodes; ++episode) {
    State state = problem.initial();
    while (problem.progress(state) < problem.horizon()) {
      problem.kernels(state, kernels);
      costs.clear();
      for (const Kernel& kernel : kernels)
        costs.push_back(problem.price(state, kernel) + values.of(problem.apply(state, kernel)));
      if (kernels.empty() ||
          std::any_of(costs.begin(), costs.end(), [](double c) { return !std::isfinite(c); }))
        break;
      const auto best =
          static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
      if (kernels.size() > 1) {
        std::vector<std::size_t> places(kernels.size());
        std::iota(places.begin(), places.end(), std::size_t{0});
        thin(places, best, options.most_candidates, random);
        std::vector<Kernel> chosen;
        for (std::size_t k : places) {
          chosen.push_back(kernels[k]);
          const double regret = (costs[k] - costs[best]) / features.mean_cycles();
          out.regret.push_back(regret > 1e-9 * costs[best] / features.mean_cycles() ? regret : 0);
        }
        const std::size_t begin = out.rows.size();
        out.rows.resize(begin + out.width * chosen.size());
        rows.fill(problem, state, chosen, std::span(out.rows).subspan(begin));
        out.sizes.push_back(static_cast<std::uint32_t>(chosen.size()));
      }
      const bool wander = random.unit() >= optimal_share;
      state = problem.apply(state, kernels[wander ? random.below(kernels.size()) : best]);
    }
  }
}

}  // namespace fuselage::oracle
