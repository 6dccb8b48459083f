// Which pairs of observations are taken, so that a data set has as many of each kind of fact, and as many
// whose answer stays the same as is wanted. Pairs whose optimal sets are disjoint are rare (one in ten or
// fewer), so each graph is tried many times, and the best of what was found is taken; what a graph lacks the
// next ones make up for, as far as they can.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuselage/oracle/counterfactuals.h"

namespace fuselage::oracle {

struct CounterfactualMixOptions {
  std::vector<FactKind> facts = {FactKind::uses, FactKind::capacity, FactKind::depth, FactKind::edge};
  int per_graph = 8;                 // pairs, of all kinds together
  std::optional<double> same = 0.5;  // the share whose optimal set stays the same; none: as found
  int tries = 300;                   // of a kind and graph, at most
};

// Of one kind.
struct CounterfactualTally {
  std::array<std::int64_t, attempt_names.size()> attempts = {};        // by what came of them
  std::array<std::int64_t, difference_names.size()> differences = {};  // of the pairs taken
  std::int64_t clean = 0;  // pairs taken in which nothing but the fact differs
  double loss = 0;  // sum over the disjoint ones: relative loss of the first world's best in the second

  std::int64_t tried() const;  // states in two worlds
  std::int64_t found() const { return attempts[static_cast<std::size_t>(Attempt::pair)]; }
  std::int64_t taken() const { return differences[0] + differences[1] + differences[2]; }
  double mean_loss() const;  // 0 without disjoint ones
  void add(const CounterfactualTally& other);
};

class CounterfactualMix {
 public:
  explicit CounterfactualMix(const CounterfactualMixOptions& options);

  // Those of one more graph, in the order of the kinds. Disjoint sets are taken before overlapping ones,
  // pairs with one baseline before others.
  std::vector<Counterfactual> next(const Workload& workload, const CounterfactualOptions& options);

  const CounterfactualTally& tally(FactKind kind) const { return tallies_[static_cast<std::size_t>(kind)]; }

 private:
  // Pairs that are owed: [0] whose answer differs, or of any sort if `same` is none; [1] whose answer is the
  // same.
  using Due = std::array<double, 2>;

  std::vector<Counterfactual> search(CounterfactualSearch& graph, FactKind kind, const Due& due);
  std::size_t class_of(const Counterfactual& pair) const;
  int rank_of(const Counterfactual& pair) const;

  CounterfactualMixOptions options_;
  std::array<Due, fact_names.size()> due_ = {};
  std::array<CounterfactualTally, fact_names.size()> tallies_ = {};
};

}  // namespace fuselage::oracle
