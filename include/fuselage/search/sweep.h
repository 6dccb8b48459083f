// The one forward pass that beam and exact search share: dynamic programming over layers of equal progress. A
// layer is complete before it is expanded, since every kernel makes progress, so each state that is kept has
// its final cost. Equal states meet (by key), dominated ones go, and so does what cannot beat a plan that is
// known already. With a width only the most promising states of a layer stay; the least bound of those that
// went is remembered, so that a pass bounds the optimum whatever it dropped. Without a width it is exact.
//
// States live until their layer is expanded; what remains of them is who led to them (12 bytes), from which a
// plan is replayed. A pass can be paused after any batch of states and go on later.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuselage/search/class_table.h"
#include "fuselage/search/guide.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/problem.h"

namespace fuselage::search {

inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
inline constexpr double infinite_cost = std::numeric_limits<double>::infinity();
// Bounds and costs are sums in different orders: nothing is pruned for a relative difference below this.
inline constexpr double rounding = 1e-11;

struct SweepOptions {
  std::size_t width = unlimited;       // states of a layer that are expanded, at most
  std::size_t wide_layer = unlimited;  // a layer of more states than this: first look ahead for a plan
  int threads = 1;
};

template <Problem P, Guide<P> G = KeepAll>
class Sweep {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;
  using Latent = typename G::Latent;

  // Problem and guide must outlive the sweep.
  Sweep(const P& problem, G& guide, const SweepOptions& options)
      : problem_(problem), guide_(guide), options_(options), wide_(options.wide_layer) {}

  void begin(const State& start) {
    start_ = start;
    first_ = problem_.progress(start);
    layers_.assign(static_cast<std::size_t>(problem_.horizon() - first_) + 1, {});
    trail_.assign(layers_.size(), {});
    Entry root{
        .state = start, .cost = 0, .estimate = problem_.bound(start), .rank = 0, .from = {}, .latent = {}};
    if constexpr (guided) root.latent = guide_.root(problem_, start);
    layers_[0].push_back(std::move(root));
    held_ = 1;
  }

  // A plan of this cost is known: only cheaper ones are of interest.
  void offer(double cost) { upper_bound_ = std::min(upper_bound_, cost * (1 - rounding)); }

  // Goes on until all layers are done (true) or the meter is spent.
  bool run(Meter& meter) {
    for (; layer_ + 1 < layers_.size(); ++layer_) {
      if (!opened_) open_layer(meter);
      while (next_ < current_.size()) {
        if (meter.spent()) return false;
        next_ = expand(next_, std::min(current_.size(), next_ + batch), meter);
        meter.hold(bytes());
      }
      close_layer();
    }
    note_ends();
    return true;
  }
  bool finished() const { return layer_ + 1 >= layers_.size(); }

  const Incumbent<Kernel>& best() const { return best_; }
  // No plan is cheaper than the lesser of this and best().cost or an offered cost. Infinite once everything
  // has been expanded.
  double open_bound() const {
    double least = dropped_;
    for (std::size_t i = next_; i < current_.size(); ++i) least = std::min(least, current_[i].estimate);
    if (!finished())
      for (std::size_t at = layer_; at < layers_.size(); ++at)
        for (const Entry& entry : layers_[at]) least = std::min(least, entry.estimate);
    return least;
  }
  bool dropped_any() const { return dropped_any_; }  // has the width or the guide left something out?
  bool narrowed() const { return narrowed_; }        // has the width?
  bool complete() const { return complete_; }        // did every state declare all that matters?
  std::uint64_t states() const { return states_; }   // expanded
  std::uint64_t bytes() const { return held_ * sizeof(Entry) + steps_kept_ * sizeof(Step); }
  // The states of most progress that were expanded, while no plan was known.
  const std::vector<State>& deepest() const { return deepest_; }

 private:
  static constexpr bool guided = !std::is_same_v<G, KeepAll>;
  static constexpr std::size_t batch = 64;            // states between two looks at the meter
  static constexpr std::uint64_t most_priced = 4096;  // kernels between two looks, before the last state's
  static constexpr std::size_t block = 64;            // arrivals that are compared with the kept ones at once
  static constexpr std::size_t share = 8;             // states of one task
  static constexpr std::size_t siblings = 8;          // arrivals that a new one is compared with at once
  static constexpr std::size_t most_rivals = 512;

  struct Step {
    std::int32_t layer = -1;   // of the parent; -1: none, this is the start
    std::uint32_t parent = 0;  // place among the expanded states of that layer
    std::uint32_t kernel = 0;  // place among the kernels of the parent
  };
  struct Entry {
    State state;
    double cost = 0;      // from the start
    double estimate = 0;  // cost + bound: no completion is cheaper
    double rank = 0;      // cost + the best guess of the cost to go: what a width keeps
    Step from;
    [[no_unique_address]] Latent latent;
  };
  using Layer = std::vector<Entry>;
  struct Arrival {
    std::size_t layer;
    Entry entry;
  };

  // Without a plan even a state with an infinite bound is followed, to say how far a schedule can get.
  bool hopeless(double estimate) const { return estimate >= upper_bound_ && upper_bound_ < infinite_cost; }

  void open_layer(Meter& meter) {
    Layer& arrivals = layers_[layer_];
    const std::size_t arrived = arrivals.size();
    filter(arrivals);
    recycle(arrivals);
    held_ = held_ + current_.size() - arrived;
    next_ = 0;
    opened_ = true;
    if (current_.size() > wide_) look_ahead(meter);
    if (current_.empty() || upper_bound_ < infinite_cost) return;
    deepest_.clear();
    for (const Entry& entry : current_) deepest_.push_back(entry.state);
  }

  void close_layer() {
    std::vector<Step>& steps = trail_[layer_];
    steps.reserve(current_.size());
    for (const Entry& entry : current_) steps.push_back(entry.from);
    steps_kept_ += steps.size();
    held_ -= current_.size();
    current_.clear();
    next_ = 0;
    opened_ = false;
  }

  // What a worker needs of its own.
  struct Desk {
    std::vector<Kernel> kernels;
    std::vector<Arrival> arrivals;
    std::uint64_t priced = 0;
    bool complete = true;
  };

  // Expands states from `begin` on, up to `end`; returns where it stopped.
  std::size_t expand(std::size_t begin, std::size_t end, Meter& meter) {
    if constexpr (guided) {
      expand_guided(begin, end, meter);
      return end;
    }
    if (options_.threads > 1 && end - begin == batch) {
      expand_parallel(begin, end, meter);
      return end;
    }
    std::size_t i = begin;
    while (i < end && desk_.priced < most_priced) {
      expand_one(i++, desk_, [&](std::size_t layer, Entry&& entry) { arrive(layer, std::move(entry)); });
    }
    settle(desk_, meter);
    return i;
  }

  // A batch in shares, each with its own arrivals, which join in the order of the shares: the outcome does
  // not depend on the number of threads.
  void expand_parallel(std::size_t begin, std::size_t end, Meter& meter) {
    const std::size_t shares = (end - begin + share - 1) / share;
    if (desks_.size() < shares) desks_.resize(shares);
    tbb::parallel_for(std::size_t{0}, shares, [&](std::size_t at) {
      Desk& desk = desks_[at];
      const std::size_t last = std::min(end, begin + (at + 1) * share);
      for (std::size_t i = begin + at * share; i < last; ++i)
        expand_one(i, desk, [&](std::size_t layer, Entry&& entry) {
          desk.arrivals.push_back({layer, std::move(entry)});
        });
    });
    for (std::size_t at = 0; at < shares; ++at) {
      for (Arrival& arrival : desks_[at].arrivals) arrive(arrival.layer, std::move(arrival.entry));
      desks_[at].arrivals.clear();
      settle(desks_[at], meter);
    }
  }

  void settle(Desk& desk, Meter& meter) {
    meter.charge(std::exchange(desk.priced, 0));
    complete_ = complete_ && desk.complete;
  }

  template <class Put>
  void expand_one(std::size_t index, Desk& desk, const Put& put) const {
    const Entry& from = current_[index];
    if (hopeless(from.estimate)) return;
    desk.complete = problem_.kernels(from.state, desk.kernels) && desk.complete;
    desk.priced += desk.kernels.size();
    for (std::uint32_t k = 0; k < desk.kernels.size(); ++k) step_to(from, index, desk.kernels[k], k, put);
  }

  template <class Put>
  void step_to(const Entry& from, std::size_t index, const Kernel& kernel, std::uint32_t place,
               const Put& put) const {
    const double cost = from.cost + problem_.price(from.state, kernel);
    if (cost == infinite_cost) return;
    Entry next{.state = problem_.apply(from.state, kernel),
               .cost = cost,
               .estimate = 0,
               .rank = 0,
               .from = {static_cast<std::int32_t>(layer_), static_cast<std::uint32_t>(index), place},
               .latent = {}};
    next.estimate = cost + problem_.bound(next.state);
    if (hopeless(next.estimate)) return;
    next.rank = next.estimate;
    if constexpr (HasEstimate<P>) next.rank = cost + problem_.estimate(next.state);
    const auto layer = static_cast<std::size_t>(problem_.progress(next.state) - first_);
    put(layer, std::move(next));
  }

  void expand_guided(std::size_t begin, std::size_t end, Meter& meter) {
    std::vector<std::vector<Kernel>> kernels(end - begin);
    std::vector<Expansion<P, Latent>> expansions;
    for (std::size_t i = begin; i < end; ++i) {
      complete_ = problem_.kernels(current_[i].state, kernels[i - begin]) && complete_;
      expansions.push_back(
          {.state = &current_[i].state, .latent = &current_[i].latent, .kernels = kernels[i - begin]});
    }
    guide_.consider(problem_, std::span(expansions));
    for (std::size_t i = begin; i < end; ++i) {
      const Expansion<P, Latent>& e = expansions[i - begin];
      meter.charge(e.keep.size());
      if (e.keep.size() < e.kernels.size()) drop(current_[i].estimate);
      for (std::size_t at = 0; at < e.keep.size(); ++at)
        step_to(current_[i], i, e.kernels[e.keep[at]], e.keep[at], [&](std::size_t layer, Entry&& entry) {
          if (!e.after.empty()) entry.rank = entry.cost + e.after[at];
          if (!e.latents.empty()) entry.latent = e.latents[at];
          arrive(layer, std::move(entry));
        });
    }
  }

  void drop(double estimate) {
    dropped_ = std::min(dropped_, estimate);
    dropped_any_ = true;
  }

  void arrive(std::size_t layer, Entry&& entry) {
    Layer& target = layers_[layer];
    if (target.capacity() == 0) reuse(target);
    if (dominated_by_last(target, entry)) return;
    target.push_back(std::move(entry));
    ++held_;
  }

  // Siblings arrive next to each other and often beat each other: a look at the last few saves storing and
  // sorting.
  bool dominated_by_last(const Layer& layer, const Entry& entry) const {
    if constexpr (HasDominance<P>) {
      const std::size_t from = layer.size() < siblings ? 0 : layer.size() - siblings;
      for (std::size_t i = from; i < layer.size(); ++i)
        if (problem_.dominates(layer[i].state, layer[i].cost, entry.state, entry.cost)) return true;
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

  // Keeps what is neither dominated nor unable to beat the incumbent, ties by arrival. Without a width the
  // cheapest come first, since only a cheaper state can dominate; with one the most promising come first
  // until there are enough, and one that a later one would have dominated only wastes its place.
  void filter(Layer& arrivals) {
    const bool narrow = options_.width < unlimited;
    ranking_.clear();
    for (std::uint32_t i = 0; i < arrivals.size(); ++i)
      if (!hopeless(arrivals[i].estimate))
        ranking_.emplace_back(narrow ? arrivals[i].rank : arrivals[i].cost, i);
    std::sort(ranking_.begin(), ranking_.end());
    classes_.clear();
    late_.clear();
    chosen_.clear();
    for (std::size_t begin = 0; begin < ranking_.size(); begin += block) {
      const std::size_t end = std::min(ranking_.size(), begin + block);
      beaten_.assign(end - begin, 0);
      looked_at_.assign(end - begin, 0);
      if (options_.threads > 1 && chosen_.size() >= block) look_for_beaten(arrivals, begin, end);
      for (std::size_t r = begin; r < end; ++r) {
        const std::uint32_t i = ranking_[r].second;
        if (chosen_.size() == options_.width) {
          drop(arrivals[i].estimate);
          narrowed_ = true;
        } else if (!beaten_[r - begin] && keep(arrivals, i, looked_at_[r - begin])) {
          chosen_.push_back(i);
        }
      }
    }
    current_.reserve(chosen_.size());
    for (std::uint32_t i : chosen_) current_.push_back(std::move(arrivals[i]));
    states_ += current_.size();
  }

  // Most of the comparisons of a block of arrivals are with those kept before it, and can be made at once.
  void look_for_beaten(const Layer& arrivals, std::size_t begin, std::size_t end) {
    if constexpr (HasDominance<P>) {
      if (chosen_.size() == options_.width) return;
      tbb::parallel_for(tbb::blocked_range<std::size_t>(begin, end, block / 8), [&](const auto& range) {
        for (std::size_t r = range.begin(); r < range.end(); ++r) {
          const Entry& entry = arrivals[ranking_[r].second];
          const auto* rivals = classes_.find(problem_.dominance_class(entry.state));
          const std::size_t compared = rivals ? std::min(rivals->size(), most_rivals) : 0;
          for (std::size_t at = 0; at < compared && !beaten_[r - begin]; ++at) {
            const Entry& other = arrivals[(*rivals)[at]];
            if (problem_.dominates(other.state, other.cost, entry.state, entry.cost)) beaten_[r - begin] = 1;
          }
          looked_at_[r - begin] = compared;
        }
      });
    }
  }

  // Is arrival i undominated by those kept before it? Then it joins its class. In a class of very many only
  // the cheapest are compared with, and equal states are found by their keys: a dominated state more costs
  // time, not the proof.
  // `looked_at`: so many of its rivals are known not to beat it.
  bool keep(const Layer& arrivals, std::uint32_t i, std::size_t looked_at) {
    const Entry& entry = arrivals[i];
    std::vector<std::uint32_t>& rivals = rivals_of(entry.state);
    const std::size_t compared = std::min(rivals.size(), most_rivals);
    for (std::size_t r = looked_at; r < compared; ++r) {
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
  void look_ahead(Meter& meter) {
    Sweep pass(problem_, guide_, {.width = std::max<std::size_t>(1, wide_ / 8), .threads = options_.threads});
    wide_ *= 16;
    pass.first_ = first_;
    pass.start_ = start_;
    pass.layer_ = layer_;
    pass.own_from_ = layer_;
    pass.earlier_ = &trail_;
    pass.upper_bound_ = upper_bound_;
    pass.layers_ = layers_;
    pass.layers_[layer_] = current_;
    pass.trail_.resize(trail_.size());
    pass.held_ = 2 * held_;
    pass.steps_kept_ = steps_kept_;
    pass.run(meter);
    pass.earlier_ = nullptr;
    if (pass.best_.cost >= best_.cost) return;
    best_ = std::move(pass.best_);
    offer(best_.cost);
  }

  void note_ends() {
    if (noted_) return;
    noted_ = true;
    const Layer& ends = layers_.back();
    const auto best = std::min_element(ends.begin(), ends.end(),
                                       [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
    if (best == ends.end() || best->cost >= best_.cost) return;
    best_.cost = best->cost;
    best_.plan = plan_to(best->from);
  }

  // The kernels from the start to where `last` leads, replayed from their places.
  std::vector<Kernel> plan_to(const Step& last) const {
    std::vector<std::uint32_t> places;
    for (const Step* at = &last; at->layer >= 0;) {
      places.push_back(at->kernel);
      const auto layer = static_cast<std::size_t>(at->layer);
      const auto& trail = earlier_ && layer < own_from_ ? *earlier_ : trail_;
      at = &trail[layer][at->parent];
    }
    std::vector<Kernel> plan;
    std::vector<Kernel> kernels;
    State state = *start_;
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      problem_.kernels(state, kernels);
      plan.push_back(kernels[*place]);
      state = problem_.apply(state, plan.back());
    }
    return plan;
  }

  const P& problem_;
  G& guide_;
  SweepOptions options_;
  std::optional<State> start_;
  int first_ = 0;
  std::vector<Layer> layers_;                                // arrivals, by progress made since the start
  std::vector<std::vector<Step>> trail_;                     // of expanded states, by the same
  const std::vector<std::vector<Step>>* earlier_ = nullptr;  // a look ahead: of the layers before its own
  std::size_t own_from_ = 0;
  std::size_t layer_ = 0;  // being expanded
  bool opened_ = false;
  Layer current_;         // kept states of that layer
  std::size_t next_ = 0;  // the first that isn't expanded
  bool noted_ = false;
  std::vector<Layer> spare_;
  std::vector<std::pair<double, std::uint32_t>> ranking_;
  std::vector<std::uint32_t> chosen_;
  std::vector<char> beaten_;  // of a block of arrivals
  std::vector<std::size_t> looked_at_;
  ClassTable classes_;
  ClassTable late_;  // by key: states that came after most_rivals of their class
  Desk desk_;
  std::vector<Desk> desks_;
  std::size_t wide_;
  double upper_bound_ = infinite_cost;
  double dropped_ = infinite_cost;
  bool dropped_any_ = false;
  bool narrowed_ = false;
  bool complete_ = true;
  Incumbent<Kernel> best_;
  std::vector<State> deepest_;
  std::size_t held_ = 0;        // entries
  std::size_t steps_kept_ = 0;  // of the trail
  std::uint64_t states_ = 0;
};

}  // namespace fuselage::search
