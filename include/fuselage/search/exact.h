// The exact engine: dynamic programming over layers of equal progress, forward from a start state, with the
// problem's dominance inside a layer and its bound against an incumbent. A layer is complete before it is
// expanded, since every kernel makes progress, so each kept state has its final cost (a best-first search
// without a queue). When layers grow wide, a narrow pass buys an incumbent for pruning. When the budget ends,
// the engine returns its incumbent, or completes a few states a layer if it has none, so that there is a plan
// whenever it can find one; its lower bound is then the least bound of what was open.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fuselage/search/outcome.h"
#include "fuselage/search/problem.h"

namespace fuselage::search {

struct ExactOptions {
  Budget budget = {};
  // A layer of more states than this makes the engine look for an incumbent first, with an eighth as many
  // states a layer; then again for every layer that is sixteen times wider.
  std::size_t wide_layer = 8;
  std::size_t narrow_width = 8;  // states a layer of the completion after a spent budget
};

// The members of one dominance class of a layer. Most problems have one class a layer: that one costs no
// hashing.
class ClassTable {
 public:
  void clear() {
    for (std::vector<std::uint32_t>& members : members_) members.clear();
    index_.clear();
    used_ = 0;
  }
  std::vector<std::uint32_t>& of(std::uint64_t name) {
    if (used_ == 1 && name == only_) return members_[0];
    if (used_ == 1) index_[only_] = 0;
    std::size_t at = used_;
    if (used_ > 0) at = index_.try_emplace(name, used_).first->second;
    if (at == used_) {
      if (used_ == 0) only_ = name;
      if (members_.size() == used_) members_.emplace_back();
      ++used_;
    }
    return members_[at];
  }

 private:
  std::vector<std::vector<std::uint32_t>> members_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::uint64_t only_ = 0;
  std::size_t used_ = 0;
};

template <Problem P>
class ExactSearch {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;

  ExactSearch(const P& problem, const ExactOptions& options)
      : problem_(problem), options_(options), meter_(options.budget), wide_(options.wide_layer) {}

  Outcome<State, Kernel> run(const State& start) {
    prepare(problem_.progress(start));
    start_bound_ = problem_.bound(start);
    layers_[0].push_back({.state = start, .cost = 0, .estimate = start_bound_});
    held_ = 1;
    for (std::size_t layer = 0; layer + 1 < layers_.size(); ++layer) expand_layer(layer);
    return finish();
  }

 private:
  void prepare(int first) {
    first_ = first;
    layers_.resize(static_cast<std::size_t>(problem_.horizon() - first) + 1);
    trail_.resize(layers_.size());
  }

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  // Bounds and costs are sums in different orders: nothing is pruned for a difference below this.
  static constexpr double rounding = 1e-11;
  static constexpr std::size_t siblings = 8;
  static constexpr std::size_t most_rivals = 512;

  struct Entry {
    State state;
    double cost = 0;      // from the start
    double estimate = 0;  // cost + bound: no completion is cheaper
    std::int32_t parent_layer = -1;
    std::uint32_t parent = 0;
    std::uint32_t kernel = 0;  // place among the kernels of the parent; found again when the plan is read off
  };
  using Layer = std::vector<Entry>;

  void expand_layer(std::size_t layer) {
    if (layers_[layer].empty()) return;
    Layer& entries = trail_[layer];
    const std::size_t arrived = layers_[layer].size();
    filter(layers_[layer], entries);
    recycle(layers_[layer]);
    if (width_ == unlimited && entries.size() > wide_) buy_incumbent(layer);
    deepest_ = layer;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (width_ == unlimited && meter_.spent()) {
        open_bound_ = std::min(open_bound_, open_estimate(entries, i));
        narrow(entries, i);
      }
      if (is_pass_ && meter_.spent()) return;
      if (i >= entries.size()) break;
      expand(entries[i], static_cast<std::int32_t>(layer), static_cast<std::uint32_t>(i));
    }
    held_ = held_ + entries.size() - arrived;
  }

  void expand(const Entry& from, std::int32_t layer, std::uint32_t index) {
    if (hopeless(from.estimate)) return;
    ++states_;
    complete_ = problem_.kernels(from.state, kernels_) && complete_;
    meter_.charge(kernels_.size());
    for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
      const double cost = from.cost + problem_.price(from.state, kernels_[k]);
      if (cost == infinity) continue;
      State next = problem_.apply(from.state, kernels_[k]);
      const double estimate = cost + problem_.bound(next);
      if (hopeless(estimate)) continue;
      Layer& target = layers_[static_cast<std::size_t>(problem_.progress(next) - first_)];
      if (target.capacity() == 0) reuse(target);
      if (dominated_by_last(target, next, cost)) continue;
      target.push_back({std::move(next), cost, estimate, layer, index, k});
      ++held_;
    }
    meter_.hold(held_ * sizeof(Entry));
  }

  // Siblings arrive next to each other and often beat each other: a look at the last few saves storing and
  // sorting.
  bool dominated_by_last(const Layer& layer, const State& state, double cost) const {
    if constexpr (HasDominance<P>) {
      const std::size_t from = layer.size() < siblings ? 0 : layer.size() - siblings;
      for (std::size_t i = from; i < layer.size(); ++i)
        if (problem_.dominates(layer[i].state, layer[i].cost, state, cost)) return true;
    }
    return false;
  }

  // Arrival buffers are handed on from layer to layer.
  void recycle(Layer& layer) {
    layer.clear();
    spare_.push_back(std::move(layer));
    layer = {};
  }
  void reuse(Layer& layer) {
    if (spare_.empty()) return;
    layer = std::move(spare_.back());
    spare_.pop_back();
  }

  // Without an incumbent even a state with an infinite bound is followed, to say how far a schedule can get.
  bool hopeless(double estimate) const { return estimate > upper_bound_; }

  // Keeps what is neither dominated nor unable to beat the incumbent; the cheapest first, ties by arrival.
  void filter(Layer& arrivals, Layer& kept) {
    ranking_.clear();
    for (std::uint32_t i = 0; i < arrivals.size(); ++i)
      if (!hopeless(arrivals[i].estimate)) ranking_.emplace_back(arrivals[i].cost, i);
    std::sort(ranking_.begin(), ranking_.end());
    classes_.clear();
    late_.clear();
    chosen_.clear();
    for (const auto& [cost, i] : ranking_)
      if (keep(arrivals, i)) chosen_.push_back(i);
    if (chosen_.size() > width_) {
      std::stable_sort(chosen_.begin(), chosen_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return arrivals[a].estimate < arrivals[b].estimate;
      });
      chosen_.resize(width_);
    }
    kept.reserve(chosen_.size());
    for (std::uint32_t i : chosen_) kept.push_back(std::move(arrivals[i]));
  }

  // Is arrival i undominated by those kept before it? Then it joins its class. In a class of very many only
  // the cheapest are compared with, and equal states are found by their keys: a dominated state more costs
  // time, not the proof.
  bool keep(const Layer& arrivals, std::uint32_t i) {
    const Entry& entry = arrivals[i];
    std::vector<std::uint32_t>& rivals = rivals_of(entry.state);
    const std::size_t compared = std::min(rivals.size(), most_rivals);
    for (std::size_t r = 0; r < compared; ++r) {
      const Entry& other = arrivals[rivals[r]];
      if constexpr (HasDominance<P>) {
        if (problem_.dominates(other.state, other.cost, entry.state, entry.cost)) return false;
      } else {
        if (other.state == entry.state) return false;
      }
    }
    if (rivals.size() >= most_rivals) {
      std::vector<std::uint32_t>& same_key = late_.of(problem_.key(entry.state));
      for (std::uint32_t other : same_key)
        if (arrivals[other].state == entry.state) return false;
      same_key.push_back(i);
    }
    rivals.push_back(i);
    return true;
  }

  std::vector<std::uint32_t>& rivals_of(const State& state) {
    if constexpr (HasDominance<P>)
      return classes_.of(problem_.dominance_class(state));
    else
      return classes_.of(problem_.key(state));
  }

  // A narrow pass from the present layer: its best completion bounds what is worth expanding.
  void buy_incumbent(std::size_t layer) {
    ExactSearch pass(problem_, options_);
    pass.prepare(first_);
    pass.width_ = std::max<std::size_t>(1, wide_ / 8);
    pass.upper_bound_ = upper_bound_;
    pass.meter_ = meter_;
    pass.is_pass_ = true;
    pass.held_ = 2 * held_;
    wide_ *= 16;
    pass.layers_ = layers_;
    pass.layers_[layer] = trail_[layer];
    for (std::size_t at = layer; at + 1 < layers_.size(); ++at) pass.expand_layer(at);
    meter_ = pass.meter_;
    const Entry* best = pass.best_end();
    if (!best || best->cost >= incumbent_cost_) return;
    incumbent_cost_ = best->cost;
    upper_bound_ = best->cost * (1 + rounding);
    incumbent_ = pass.plan_to(*best, static_cast<std::int32_t>(layer), trail_);
  }

  const Entry* best_end() const {
    const Layer& ends = layers_.back();
    const auto best = std::min_element(ends.begin(), ends.end(),
                                       [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
    return best == ends.end() ? nullptr : &*best;
  }

  // The kernels from the start to an entry. States of layers before `own` are found in `earlier`.
  std::vector<Kernel> plan_to(const Entry& end, std::int32_t own, const std::vector<Layer>& earlier) {
    std::vector<Kernel> plan;
    for (const Entry* at = &end; at->parent_layer >= 0;) {
      const std::vector<Layer>& trail = at->parent_layer < own ? earlier : trail_;
      const Entry& parent = trail[static_cast<std::size_t>(at->parent_layer)][at->parent];
      problem_.kernels(parent.state, kernels_);
      plan.push_back(kernels_[at->kernel]);
      at = &parent;
    }
    std::reverse(plan.begin(), plan.end());
    return plan;
  }

  // The budget has ended. Without an incumbent a few states a layer are completed; no more proof either way.
  void narrow(Layer& entries, std::size_t from) {
    stopped_ = true;
    // Steps and bytes are spent in peace; who waits for a clock or pressed a key gets the quickest plan.
    const bool hurry = meter_.reason() == StopReason::time || meter_.reason() == StopReason::cancelled;
    width_ = hurry ? 1 : options_.narrow_width;
    const std::size_t room = incumbent_.empty() ? from + width_ : from;
    if (entries.size() > room) {
      std::stable_sort(entries.begin() + static_cast<std::ptrdiff_t>(from), entries.end(),
                       [](const Entry& a, const Entry& b) { return a.estimate < b.estimate; });
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(room), entries.end());
    }
    if (incumbent_.empty()) return;
    for (Layer& layer : layers_)
      if (&layer != &layers_.back()) layer.clear();
  }

  double open_estimate(const std::vector<Entry>& entries, std::size_t from) const {
    double least = infinity;
    for (std::size_t i = from; i < entries.size(); ++i) least = std::min(least, entries[i].estimate);
    for (const auto& layer : layers_)
      for (const Entry& entry : layer) least = std::min(least, entry.estimate);
    return least;
  }

  Outcome<State, Kernel> finish() {
    Outcome<State, Kernel> result;
    result.steps = meter_.steps();
    result.states = states_;
    result.seconds = meter_.seconds();
    result.stop = meter_.reason();
    const Entry* best = best_end();
    if (!best && incumbent_.empty()) {
      result.infeasible = !stopped_;
      result.lower_bound = stopped_ ? open_bound_ : infinity;
      if (result.infeasible)
        for (const Entry& entry : trail_[deepest_]) result.deepest.push_back(entry.state);
      return result;
    }
    result.found = true;
    if (best && best->cost <= incumbent_cost_) {
      result.cost = best->cost;
      result.plan = plan_to(*best, 0, trail_);
    } else {
      result.cost = incumbent_cost_;
      result.plan = std::move(incumbent_);
    }
    if (!stopped_) result.proof = complete_ ? Proof::optimal : Proof::optimal_in_declared_space;
    // Outside a space that was capped only the start's own bound holds.
    result.lower_bound = std::min(complete_ ? open_bound_ : start_bound_, result.cost);
    return result;
  }

  const P& problem_;
  ExactOptions options_;
  Meter meter_;
  int first_ = 0;
  std::size_t width_ = unlimited;
  std::size_t wide_ = 0;
  std::vector<Layer> layers_;  // arrivals, by progress made since the start
  std::vector<Layer> trail_;   // expanded states, by the same
  std::vector<Layer> spare_;
  std::vector<Kernel> kernels_;
  std::vector<std::pair<double, std::uint32_t>> ranking_;
  std::vector<std::uint32_t> chosen_;
  ClassTable classes_;
  ClassTable late_;  // by key: states that came after most_rivals of their class
  std::size_t deepest_ = 0;
  double upper_bound_ = infinity;
  double open_bound_ = infinity;
  double incumbent_cost_ = infinity;
  std::vector<Kernel> incumbent_;
  double start_bound_ = 0;
  bool stopped_ = false;
  bool is_pass_ = false;
  bool complete_ = true;
  std::size_t held_ = 0;
  std::uint64_t states_ = 0;
};

// Finds the cheapest completion of `start` (the initial state if none is given) and proves it, within the
// budget.
template <Problem P>
Outcome<typename P::State, typename P::Kernel> exact(const P& problem, const ExactOptions& options = {},
                                                     std::optional<typename P::State> start = std::nullopt) {
  return ExactSearch<P>(problem, options).run(start ? *start : problem.initial());
}

}  // namespace fuselage::search
