#include "fuselage/oracle/counterfactuals_mix.h"

#include <algorithm>

namespace fuselage::oracle {
namespace {

// Rarer pairs than so many graphs' shares are not made up for by the next graph.
constexpr double longest_debt = 4;

}  // namespace

std::int64_t CounterfactualTally::tried() const {
  std::int64_t all = 0;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const auto attempt = static_cast<Attempt>(i);
    if (attempt != Attempt::no_edit && attempt != Attempt::repeated) all += attempts[i];
  }
  return all;
}

double CounterfactualTally::mean_loss() const {
  const std::int64_t disjoint = differences[static_cast<std::size_t>(Difference::disjoint)];
  return disjoint > 0 ? loss / static_cast<double>(disjoint) : 0;
}

void CounterfactualTally::add(const CounterfactualTally& other) {
  for (std::size_t i = 0; i < attempts.size(); ++i) attempts[i] += other.attempts[i];
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] += other.differences[i];
  clean += other.clean;
  loss += other.loss;
}

CounterfactualMix::CounterfactualMix(const CounterfactualMixOptions& options) : options_(options) {}

std::size_t CounterfactualMix::class_of(const Counterfactual& pair) const {
  return options_.same && pair.difference == Difference::same ? 1 : 0;
}

// 0 is what is wanted most.
int CounterfactualMix::rank_of(const Counterfactual& pair) const {
  const int unclean = pair.is_clean() ? 0 : 1;
  const bool weak = options_.same && pair.difference == Difference::overlapping;
  return weak ? 2 + unclean : unclean;
}

// Pairs until enough of them are the most wanted ones, or the tries are spent.
std::vector<Counterfactual> CounterfactualMix::search(CounterfactualSearch& graph, FactKind kind,
                                                      const Due& due) {
  std::vector<Counterfactual> found;
  std::array<int, 2> best = {};
  CounterfactualTally& tally = tallies_[static_cast<std::size_t>(kind)];
  std::optional<Counterfactual> pair;
  for (int i = 0; i < options_.tries && (best[0] + 1 <= due[0] || best[1] + 1 <= due[1]); ++i) {
    ++tally.attempts[static_cast<std::size_t>(graph.attempt(kind, pair))];
    if (!pair) continue;
    best[class_of(*pair)] += rank_of(*pair) == 0 ? 1 : 0;
    found.push_back(*std::move(pair));
  }
  std::stable_sort(found.begin(), found.end(), [this](const Counterfactual& a, const Counterfactual& b) {
    return rank_of(a) < rank_of(b);
  });
  return found;
}

std::vector<Counterfactual> CounterfactualMix::next(const Workload& workload,
                                                    const CounterfactualOptions& options) {
  CounterfactualSearch graph(workload, options);
  const double each = static_cast<double>(options_.per_graph) / static_cast<double>(options_.facts.size());
  const double same = options_.same.value_or(0);
  std::vector<Counterfactual> taken;
  for (const FactKind kind : options_.facts) {
    Due& due = due_[static_cast<std::size_t>(kind)];
    CounterfactualTally& tally = tallies_[static_cast<std::size_t>(kind)];
    due = {std::min(due[0] + each * (1 - same), 1 + longest_debt * each),
           std::min(due[1] + each * same, 1 + longest_debt * each)};
    for (Counterfactual& pair : search(graph, kind, due)) {
      double& owed = due[class_of(pair)];
      if (owed < 1) continue;
      --owed;
      ++tally.differences[static_cast<std::size_t>(pair.difference)];
      tally.clean += pair.is_clean() ? 1 : 0;
      if (pair.difference == Difference::disjoint) tally.loss += pair.b.relative_loss();
      taken.push_back(std::move(pair));
    }
  }
  return taken;
}

}  // namespace fuselage::oracle
