// The exact engine: dynamic programming over layers of equal progress, forward from a start state, with the
// problem's dominance inside a layer and its bound against an incumbent. A layer is complete before it is
// expanded, since every kernel makes progress, so each kept state has its final cost (a best-first search
// without a queue). When layers grow wide, a narrow pass buys an incumbent for pruning; when the budget ends,
// the engine narrows to a few states and completes those, so that it always returns a plan if it can, with the
// least bound of what was open as its lower bound.
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
  // Layers of more states than this make the engine look for an incumbent first.
  std::size_t wide_layer = 256;
  std::size_t narrow_width = 24;  // states a layer of that pass, and of the completion after a spent budget
};

template <Problem P>
class ExactSearch {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;

  ExactSearch(const P& problem, const ExactOptions& options) : problem_(problem), options_(options), meter_(options.budget) {}

  Outcome<State, Kernel> run(const State& start) {
    first_ = problem_.progress(start);
    layers_.assign(static_cast<std::size_t>(problem_.horizon() - first_) + 1, {});
    width_ = unlimited;
    layers_[0].push_back({.state = start, .cost = 0, .estimate = problem_.bound(start)});
    held_ = 1;
    for (std::size_t layer = 0; layer + 1 < layers_.size(); ++layer) expand_layer(layer);
    return finish();
  }

 private:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  // Bounds and costs are sums in different orders: nothing is pruned for a difference below this.
  static constexpr double rounding = 1e-11;

  struct Entry {
    State state;
    double cost = 0;      // from the start
    double estimate = 0;  // cost + bound: no completion is cheaper
    std::int32_t parent_layer = -1;
    std::uint32_t parent = 0;
    Kernel kernel = {};
  };
  struct Step {  // what is kept of an expanded entry
    std::int32_t parent_layer;
    std::uint32_t parent;
    Kernel kernel;
  };

  void expand_layer(std::size_t layer) {
    std::vector<Entry> entries = std::move(layers_[layer]);
    layers_[layer] = {};
    if (entries.empty()) return;
    const std::size_t arrived = entries.size();
    filter(entries);
    if (width_ == unlimited && entries.size() > options_.wide_layer && !incumbent_) buy_incumbent(entries);
    deepest_layer_ = layer;
    deepest_.clear();
    trail_.resize(layer + 1);
    std::vector<Step>& trail = trail_[layer];
    trail.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (width_ == unlimited && !completing_ && meter_.spent()) {
        open_bound_ = std::min(open_bound_, open_estimate(entries, i));
        narrow(entries, i);
      }
      if (i >= entries.size()) break;
      expand(entries[i], static_cast<std::int32_t>(layer), static_cast<std::uint32_t>(i));
    }
    for (Entry& entry : entries) {
      trail.push_back({entry.parent_layer, entry.parent, std::move(entry.kernel)});
      if (deepest_.size() < deepest_kept) deepest_.push_back(std::move(entry.state));
    }
    held_ -= arrived;
  }

  void expand(const Entry& from, std::int32_t layer, std::uint32_t index) {
    if (hopeless(from.estimate)) return;
    ++states_;
    complete_ = problem_.kernels(from.state, kernels_) && complete_;
    meter_.charge(kernels_.size());
    for (Kernel& kernel : kernels_) {
      const double cost = from.cost + problem_.price(from.state, kernel);
      if (cost == infinity) continue;
      State next = problem_.apply(from.state, kernel);
      const double estimate = cost + problem_.bound(next);
      if (hopeless(estimate)) continue;
      const auto target = static_cast<std::size_t>(problem_.progress(next) - first_);
      layers_[target].push_back({std::move(next), cost, estimate, layer, index, std::move(kernel)});
      ++held_;
    }
    meter_.hold(held_ * sizeof(Entry));
  }

  // Without an incumbent even a state with an infinite bound is followed, to say how far a schedule can get.
  bool hopeless(double estimate) const { return estimate >= upper_bound_ && upper_bound_ < infinity; }

  // Drops dominated entries and those that cannot beat the incumbent; the cheapest first, ties in order of arrival.
  void filter(std::vector<Entry>& entries) {
    std::erase_if(entries, [&](const Entry& e) { return hopeless(e.estimate); });
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
    std::size_t kept = 0;
    classes_.clear();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (is_dominated(entries, i)) continue;
      if (kept != i) entries[kept] = std::move(entries[i]);
      remember(entries[kept], kept);
      ++kept;
    }
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end());
    if (entries.size() > width_) {
      std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.estimate < b.estimate; });
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(width_), entries.end());
    }
  }

  std::uint64_t class_of(const State& state) const {
    if constexpr (HasDominance<P>)
      return problem_.dominance_class(state);
    else
      return problem_.key(state);
  }
  bool is_dominated(const std::vector<Entry>& entries, std::size_t i) {
    const auto found = classes_.find(class_of(entries[i].state));
    if (found == classes_.end()) return false;
    for (std::size_t other : found->second) {
      if constexpr (HasDominance<P>) {
        if (problem_.dominates(entries[other].state, entries[other].cost, entries[i].state, entries[i].cost)) return true;
      } else {
        if (entries[other].state == entries[i].state) return true;
      }
    }
    return false;
  }
  void remember(const Entry& entry, std::size_t index) { classes_[class_of(entry.state)].push_back(index); }

  // A narrow pass from the present layer: its best completion bounds what is worth expanding.
  void buy_incumbent(const std::vector<Entry>& entries) {
    incumbent_ = true;
    ExactSearch narrow_pass(problem_, options_);
    narrow_pass.first_ = first_;
    narrow_pass.layers_.assign(layers_.size(), {});
    narrow_pass.width_ = options_.narrow_width;
    const auto layer = static_cast<std::size_t>(problem_.progress(entries.front().state) - first_);
    for (std::size_t later = layer + 1; later < layers_.size(); ++later) narrow_pass.layers_[later] = layers_[later];
    narrow_pass.layers_[layer] = entries;
    for (std::size_t at = layer; at + 1 < layers_.size(); ++at) narrow_pass.expand_layer(at);
    meter_.charge(narrow_pass.meter_.steps());
    for (const Entry& end : narrow_pass.layers_.back())
      upper_bound_ = std::min(upper_bound_, end.cost * (1 + rounding));
  }

  // After the budget: from here on only a few states a layer, and no more proof.
  void narrow(std::vector<Entry>& entries, std::size_t from) {
    completing_ = true;
    width_ = options_.narrow_width;
    const std::size_t room = from + options_.narrow_width;
    if (entries.size() > room) {
      std::stable_sort(entries.begin() + static_cast<std::ptrdiff_t>(from), entries.end(),
                       [](const Entry& a, const Entry& b) { return a.estimate < b.estimate; });
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(room), entries.end());
    }
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
    const std::vector<Entry>& ends = layers_.back();
    const auto best = std::min_element(ends.begin(), ends.end(), [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
    if (best == ends.end()) {
      result.infeasible = !completing_;
      result.lower_bound = completing_ ? open_bound_ : infinity;
      if (result.infeasible) result.deepest = std::move(deepest_);
      return result;
    }
    result.found = true;
    result.cost = best->cost;
    result.lower_bound = std::min(open_bound_, best->cost);
    if (!completing_) result.proof = complete_ ? Proof::optimal : Proof::optimal_in_declared_space;
    if (best->parent_layer >= 0) result.plan.push_back(best->kernel);
    for (std::int32_t layer = best->parent_layer, index = static_cast<std::int32_t>(best->parent); layer >= 0;) {
      const Step& step = trail_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(index)];
      if (step.parent_layer >= 0) result.plan.push_back(step.kernel);
      layer = step.parent_layer;
      index = static_cast<std::int32_t>(step.parent);
    }
    std::reverse(result.plan.begin(), result.plan.end());
    return result;
  }

  const P& problem_;
  ExactOptions options_;
  Meter meter_;
  static constexpr std::size_t deepest_kept = 4096;

  int first_ = 0;
  std::size_t width_ = unlimited;
  std::vector<std::vector<Entry>> layers_;  // arrivals, by progress made since the start
  std::vector<std::vector<Step>> trail_;    // by layer, as expanded
  std::vector<Kernel> kernels_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> classes_;
  std::vector<State> deepest_;
  std::size_t deepest_layer_ = 0;
  double upper_bound_ = infinity;
  double open_bound_ = infinity;
  bool incumbent_ = false;
  bool completing_ = false;
  bool complete_ = true;
  std::size_t held_ = 0;
  std::uint64_t states_ = 0;
};

// Finds the cheapest completion of `start` (the initial state if none is given) and proves it, within the budget.
template <Problem P>
Outcome<typename P::State, typename P::Kernel> exact(const P& problem, const ExactOptions& options = {},
                                                     std::optional<typename P::State> start = std::nullopt) {
  return ExactSearch<P>(problem, options).run(start ? *start : problem.initial());
}

}  // namespace fuselage::search
