// The MCTS engine: one search tree, or several that differ in their seeds and search at the same time. Trees
// share nothing while they work; after rounds of as many steps each they exchange the cost of the best plan.
// So the plan depends on the seed and the number of trees alone, not on which
// thread was faster, and a larger budget continues the same search.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/search/mcts_tree.h"

namespace fuselage::search {

template <Problem P, Guide<P> G>
class MctsForest {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;

  // The first tree uses the guide itself, the others copies.
  MctsForest(const P& problem, G& guide, const MctsOptions& options, const State& start)
      : problem_(problem), options_(options), meter_(options.budget) {
    if (options.threads < 1) fail("threads: {}; at least 1", options.threads);
    trees_.emplace_back(problem, guide, options, start);
    SplitMix seeds(options.seed);
    for (int i = 1; i < options.threads; ++i) {
      if constexpr (std::copy_constructible<G>) {
        MctsOptions own = options;
        own.seed = seeds.next() | 1;
        trees_.emplace_back(problem, guides_.emplace_back(guide), own, start);
      } else {
        fail("threads: {}; the guide can't be copied, so 1", options.threads);
      }
    }
  }

  // Somebody knows a plan of this cost.
  void offer(double cost) {
    for (Tree& tree : trees_) tree.offer(cost);
  }
  // Of the best plan there is, be it ours or one that was offered.
  Proof proof() const {
    Proof best = Proof::none;
    for (const Tree& tree : trees_) best = std::max(best, tree.proof());
    return best;
  }

  Outcome<State, Kernel> run() {
    if (trees_.size() == 1)
      trees_[0].run(meter_);
    else
      run_rounds();
    return finish();
  }

 private:
  using Tree = MctsTree<P, G>;

  static constexpr std::uint64_t first_round = 2048;  // steps a tree; every round doubles, up to
  static constexpr std::uint64_t longest_round = 32768;

  void run_rounds() {
    tbb::task_arena arena(std::min(options_.threads, tbb::info::default_concurrency()));
    for (std::uint64_t round = first_round;; round = std::min(2 * round, longest_round)) {
      deal_meters(round);
      arena.execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::size_t>(0, trees_.size(), 1),
            [&](const tbb::blocked_range<std::size_t>& some) {
              for (std::size_t t = some.begin(); t < some.end(); ++t)
                if (meters_[t]) trees_[t].run(*meters_[t]);
            },
            tbb::simple_partitioner());
      });
      if (!exchange()) return;
    }
  }

  // Every tree gets as much of what is left; if less than a round is, the first ones one step more.
  void deal_meters(std::uint64_t round) {
    const std::uint64_t left = options_.budget.steps - std::min(options_.budget.steps, meter_.steps());
    const std::uint64_t trees = trees_.size();
    meters_.assign(trees, std::nullopt);
    for (std::uint64_t t = 0; t < trees; ++t) {
      const std::uint64_t share = std::min(round, left / trees + (t < left % trees ? 1 : 0));
      if (share == 0 && t > 0) continue;
      meters_[t].emplace(Budget{.steps = share,
                                .bytes = options_.budget.bytes / trees,
                                .wall_seconds = options_.budget.wall_seconds - meter_.seconds(),
                                .cancel = options_.budget.cancel});
    }
  }

  // Is there more to do after this round?
  bool exchange() {
    double cost = std::numeric_limits<double>::infinity();
    bool is_closed = false;
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      if (!meters_[t]) continue;
      cost = std::min(cost, trees_[t].best().cost);
      is_closed = is_closed || trees_[t].closed();
      meter_.charge(meters_[t]->steps());
      const StopReason reason = meters_[t]->reason();
      if (reason != StopReason::exhausted && reason != StopReason::steps && stop_ == StopReason::exhausted)
        stop_ = reason;
    }
    for (Tree& tree : trees_) {
      tree.offer(cost);
      is_closed = is_closed || tree.closed();
    }
    if (is_closed) stop_ = StopReason::exhausted;
    if (!is_closed && stop_ == StopReason::exhausted && meter_.steps() >= options_.budget.steps)
      stop_ = StopReason::steps;
    return !is_closed && stop_ == StopReason::exhausted;
  }

  Outcome<State, Kernel> finish() {
    Outcome<State, Kernel> result;
    result.steps = meter_.steps();
    result.stop = trees_.size() == 1 ? meter_.reason() : stop_;
    const Tree* best = &trees_[0];
    for (const Tree& tree : trees_) {
      result.states += tree.states();
      result.lower_bound = std::max(result.lower_bound, tree.lower_bound());
      if (tree.best().cost < best->best().cost) best = &tree;
    }
    if (proof() != Proof::none) result.stop = StopReason::exhausted;
    result.found = best->best().found();
    if (result.found) {
      result.cost = best->best().cost;
      result.plan = best->best().plan;
      result.proof = proof();
      settle_proof(result.cost, result.lower_bound, result.proof);
    } else {
      result.infeasible = result.lower_bound == std::numeric_limits<double>::infinity();
      if (result.infeasible) result.deepest = deepest();
    }
    result.seconds = meter_.seconds();
    return result;
  }

  // States with an infinite bound are not searched; to say how far a schedule can get, a few are followed.
  std::vector<State> deepest() const {
    constexpr std::size_t width = 64;
    std::vector<State> states = trees_[0].deepest(problem_);
    std::vector<Kernel> kernels;
    for (;;) {
      std::vector<State> next;
      for (std::size_t i = 0; i < std::min(width, states.size()); ++i) {
        problem_.kernels(states[i], kernels);
        for (const Kernel& k : kernels)
          if (problem_.price(states[i], k) < std::numeric_limits<double>::infinity())
            next.push_back(problem_.apply(states[i], k));
      }
      if (next.empty()) return states;
      std::stable_sort(next.begin(), next.end(), [&](const State& a, const State& b) {
        return problem_.progress(a) > problem_.progress(b);
      });
      states = std::move(next);
    }
  }

  const P& problem_;
  MctsOptions options_;
  Meter meter_;
  std::deque<G> guides_;
  std::deque<Tree> trees_;
  std::vector<std::optional<Meter>> meters_;  // of the round; none: nothing left for that tree
  StopReason stop_ = StopReason::exhausted;
};

// Searches for the cheapest completion of `start` (the initial state if none is given) within the budget, and
// proves it if that lasts.
template <Problem P, Guide<P> G>
Outcome<typename P::State, typename P::Kernel> mcts(const P& problem, const MctsOptions& options,
                                                    std::optional<typename P::State> start, G& guide) {
  return MctsForest<P, G>(problem, guide, options, start ? *start : problem.initial()).run();
}

template <Problem P>
Outcome<typename P::State, typename P::Kernel> mcts(const P& problem, const MctsOptions& options = {},
                                                    std::optional<typename P::State> start = std::nullopt) {
  KeepAll guide;
  return mcts(problem, options, std::move(start), guide);
}

}  // namespace fuselage::search
