// A task for models of sequences: what a token costs depends on the one before it. The sequences of a group
// are orders of the same tokens, so that whoever only looks at the bag of tokens sees no difference.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fuselage/learn/adam.h"
#include "fuselage/learn/losses.h"
#include "fuselage/learn/scorer.h"

namespace fuselage::learn {

inline constexpr std::size_t order_kinds = 6;

// Groups of sequences, ready for a scorer with a latent of 16.
struct OrderTask {
  std::vector<std::vector<std::size_t>> sequences;  // kinds of tokens
  std::vector<std::int64_t> groups;
  std::vector<double> costs;
  Packing packing;
  Matrix<float> start;
  Matrix<float> tokens;      // one-hot
  Matrix<float> increments;  // [1 x tokens], packed: what each costs

  ScorerBatch<float> batch() const { return {.packing = &packing, .start = start, .tokens = tokens}; }
};

struct OrderSize {
  std::size_t groups = 16;
  std::size_t sequences = 8;  // in each
};

// In [0, 1), fixed: what token b costs after a; `order_kinds` for the start.
inline double order_cost(std::size_t a, std::size_t b) {
  search::SplitMix random(a * 64 + b + 1);
  return random.unit();
}

inline void lay_out(OrderTask& task) {
  std::vector<int> lengths;
  for (const auto& sequence : task.sequences) lengths.push_back(static_cast<int>(sequence.size()));
  task.packing.assign(lengths);
  task.start = Matrix<float>::Zero(16, task.packing.sequences());
  task.tokens = Matrix<float>::Zero(order_kinds, task.packing.tokens());
  task.increments = Matrix<float>::Zero(1, task.packing.tokens());
  task.costs.assign(task.sequences.size(), 0);
  for (std::size_t i = 0; i < task.sequences.size(); ++i) {
    std::size_t previous = order_kinds;
    for (std::size_t step = 0; step < task.sequences[i].size(); ++step) {
      const std::size_t kind = task.sequences[i][step];
      const Index column = task.packing.column(static_cast<Index>(i), static_cast<Index>(step));
      task.tokens(static_cast<Index>(kind), column) = 1;
      task.increments(0, column) = static_cast<float>(order_cost(previous, kind));
      task.costs[i] += order_cost(previous, kind);
      previous = kind;
    }
  }
}

// Groups of differing lengths, 5 to 9 tokens.
inline OrderTask order_task(std::uint64_t seed, OrderSize size = {}) {
  search::SplitMix random(seed);
  OrderTask task;
  for (std::size_t group = 0; group < size.groups; ++group) {
    std::vector<std::size_t> bag(5 + random.below(5));
    for (std::size_t& kind : bag) kind = random.below(order_kinds);
    for (std::size_t i = 0; i < size.sequences; ++i) {
      for (std::size_t k = bag.size(); k > 1; --k) std::swap(bag[k - 1], bag[random.below(k)]);
      task.sequences.push_back(bag);
      task.groups.push_back(static_cast<std::int64_t>(group));
    }
  }
  lay_out(task);
  return task;
}

// A small scorer with its optimiser, in training. Everything depends on the seed and on the steps taken.
struct OrderTraining {
  static constexpr std::int64_t total = 250;

  std::uint64_t seed;
  Parameters<float> parameters;
  search::SplitMix random{seed};
  Scorer<float> scorer;
  Adam<float> adam;
  ScorerPass<float> pass;
  ScorerScratch<float> scratch;

  explicit OrderTraining(std::uint64_t from, TransitionKind kind = TransitionKind::gru)
      : seed(from),
        scorer(parameters, "scorer",
               {.features = order_kinds,
                .embedding = {16},
                .transition = kind,
                .latent = 16,
                .hidden = 24,
                .head = {16}},
               random),
        adam(parameters, {.rate = 1e-2, .warm_up = 20, .total = total}) {}

  void step() {
    const OrderTask task = order_task(seed * 1000 + static_cast<std::uint64_t>(adam.steps()));
    scorer.forward(parameters, task.batch(), pass);
    rank_pairs<float>(
        {.scores = pass.scores(), .costs = task.costs, .groups = task.groups, .d_scores = pass.d_scores()});
    scorer.backward(parameters, task.batch(), pass);
    adam.step(parameters);
  }

  double accuracy(const OrderTask& task) {
    Matrix<float> scores(1, task.packing.sequences());
    Matrix<float> last(16, task.packing.sequences());
    scorer.score(parameters, task.batch(), {.scores = scores, .last = last}, scratch);
    return pairwise_accuracy<float>(scores, task.costs, task.groups);
  }
};

}  // namespace fuselage::learn
