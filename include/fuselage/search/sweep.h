// The one forward pass that beam and exact search share: dynamic programming over layers of equal progress. A
// layer is complete before it is expanded, since every kernel makes progress, so each state that is kept has
// its final cost. Equal states meet (by key), dominated ones go, and so does what cannot beat a plan that is
// known already. With a width only the most promising states of a layer stay; the least bound of those that
// went is remembered, so that a pass bounds the optimum whatever it dropped. Without a width it is exact.
//
// States live until their layer is expanded; what remains of them is who led to them (12 bytes), from which a
// plan is replayed. A pass can be paused after any batch of states and go on later. Time and Ctrl-C don't wait
// for that: they end it between any two kernels, listings or comparisons, and the state under way stays open.
#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuselage/search/block_pool.h"
#include "fuselage/search/guide.h"
#include "fuselage/search/layer_filter.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/problem.h"
#include "fuselage/search/share.h"

namespace fuselage::search {

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
      : problem_(problem),
        guide_(guide),
        options_(options),
        filter_(problem, options.width, options.threads),
        wide_(options.wide_layer) {}

  void begin(const State& start) {
    start_ = start;
    first_ = problem_.progress(start);
    layers_.clear();
    layers_.resize(static_cast<std::size_t>(problem_.horizon() - first_) + 1);
    trail_.assign(layers_.size(), {});
    Entry root{.state = start,
               .cost = 0,
               .estimate = problem_.bound(start),
               .rank = 0,
               .name = class_of(start),
               .mask = mask_of(start),
               .from = {},
               .latent = {}};
    if constexpr (guided) root.latent = guide_.root(problem_, start);
    add(layers_[0], std::move(root));
  }

  // A plan of this cost is known: only cheaper ones are of interest.
  void offer(double cost) {
    upper_bound_ = std::min(upper_bound_, unbeatable_from(cost, additions(problem_)));
  }

  // Goes on until all layers are done (true) or the meter is spent.
  bool run(Meter& meter) {
    for (; layer_ + 1 < layers_.size(); ++layer_) {
      if (!opened_ && !open_layer(meter)) return false;
      while (next_ < current_.size()) {
        if (meter.spent()) return false;
        next_ = expand(next_, std::min(current_.size(), next_ + batch), meter);
        meter.hold(bytes());
      }
      close_layer();
    }
    return note_ends(meter);
  }
  bool finished() const { return layer_ + 1 >= layers_.size() && noted_; }

  const Incumbent<Kernel>& best() const { return best_; }
  // No plan is cheaper than the lesser of this and best().cost or an offered cost. Infinite once everything
  // has been expanded.
  double open_bound() const {
    double least = dropped_;
    for (std::size_t i = next_; i < current_.size(); ++i) least = std::min(least, current_[i]->estimate);
    if (!finished())
      for (std::size_t at = layer_; at < layers_.size(); ++at)
        for (const auto& arrival : layers_[at].arrivals) least = std::min(least, arrival.estimate);
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
  static constexpr std::uint32_t kernels_between_looks = 256;   // at the clock alone
  static constexpr std::size_t entries_between_looks = 1 << 12;
  // Several threads get as many states at once, in shares, as have so many kernels by the average so far.
  static constexpr std::uint64_t least_shared = 384;
  static constexpr std::uint64_t most_shared = 1 << 15;
  static constexpr std::size_t least_states_shared = 2;
  static constexpr std::size_t most_states_shared = 512;
  static constexpr std::size_t largest_share = 8;   // states
  static constexpr std::size_t shares = 8;          // at least
  static constexpr std::size_t blocks_shared = 16;  // at least, to be emptied at once

  struct Step {
    std::int32_t layer = -1;   // of the parent; -1: none, this is the start
    std::uint32_t parent = 0;  // place among the expanded states of that layer
    std::uint32_t kernel = 0;  // place among the kernels of the parent
  };
  struct Entry {
    State state;
    double cost = 0;         // from the start
    double estimate = 0;     // cost + bound: no completion is cheaper
    double rank = 0;         // cost + the best guess of the cost to go: what a width keeps
    std::uint64_t name = 0;  // of its class (layer_filter.h)
    std::uint64_t mask = 0;
    Step from;
    [[no_unique_address]] Latent latent;
  };

  std::uint64_t class_of(const State& s) const {
    if constexpr (HasDominance<P>)
      return problem_.dominance_class(s);
    else
      return problem_.key(s);
  }
  std::uint64_t mask_of(const State& s) const {
    if constexpr (HasDominanceMask<P>) return problem_.dominance_mask(s);
    return 0;
  }
  bool hopeless(double estimate) const { return is_hopeless(estimate, upper_bound_); }

  // False if time was up before the layer was filtered.
  bool open_layer(Meter& meter) {
    std::vector<Arrival<Entry>>& arrivals = layers_[layer_].arrivals;
    const auto dropped = filter_.run(arrivals, upper_bound_, current_, meter.deadline());
    if (dropped.cut_short) {
      current_.clear();
      meter.hurried();
      return false;
    }
    if (dropped.any) {
      drop(dropped.least_estimate);
      narrowed_ = true;
    }
    states_ += current_.size();
    held_ = held_ + current_.size() - arrivals.size();
    recycle(arrivals);
    next_ = 0;
    opened_ = true;
    if (current_.size() > wide_) look_ahead(meter);
    if (current_.empty() || upper_bound_ < infinite_cost) return true;
    deepest_.clear();
    for (const Entry* entry : current_) deepest_.push_back(entry->state);
    return true;
  }

  void close_layer() {
    std::vector<Step>& steps = trail_[layer_];
    steps.reserve(current_.size());
    for (const Entry* entry : current_) steps.push_back(entry->from);
    steps_kept_ += steps.size();
    held_ -= current_.size();
    current_.clear();
    empty(layers_[layer_]);
    next_ = prepared_to_ = 0;
    opened_ = false;
  }

  void empty(Layer<Entry>& layer) {
    if (options_.threads > 1 && layer.blocks.size() >= blocks_shared)
      tbb::parallel_for(std::size_t{0}, layer.blocks.size(),
                        [&](std::size_t i) { layer.blocks[i]->clear(); });
    else
      for (auto& block : layer.blocks) block->clear();
    pool_.give(layer.blocks);
    layer.open = nullptr;
  }

  // Expands states from `begin` on, up to `end`; returns where it stopped.
  std::size_t expand(std::size_t begin, std::size_t end, Meter& meter) {
    if constexpr (guided) return expand_guided(begin, end, meter);
    std::uint64_t priced = 0;
    std::size_t i = begin;
    for (; i < end && priced < most_priced; ++i) {
      if (i >= prepared_to_ && options_.threads > 1) prepare(i, meter);
      const auto of_state = i < prepared_to_ ? admit(i) : expand_here(i, meter);
      if (!of_state) break;
      priced += *of_state;
    }
    meter.charge(priced);
    priced_ += priced;
    return i;
  }

  // Returns how many kernels were priced; nothing if time was up before the last: the state stays open.
  std::optional<std::uint64_t> expand_here(std::size_t index, Meter& meter) {
    if (hopeless(current_[index]->estimate)) return 0;
    const auto complete =
        expand_one(index, kernels_, meter.deadline(),
                   [&](std::size_t layer, Entry&& entry) { arrive(layer, std::move(entry)); });
    if (!complete) {
      meter.hurried();
      return std::nullopt;
    }
    complete_ = *complete && complete_;
    return kernels_.size();
  }

  // Expands some states from `begin` on in shares, if they are worth it. Their arrivals wait to be admitted.
  void prepare(std::size_t begin, Meter& meter) {
    const std::uint64_t each = priced_ / std::max<std::uint64_t>(1, states_ - current_.size() + begin) + 1;
    const std::size_t left = current_.size() - begin;
    if (left < least_states_shared || left * each < least_shared) return;
    const std::size_t most =
        std::clamp<std::size_t>(most_shared / each, least_states_shared, most_states_shared);
    const std::size_t count = std::min(left, most);
    share_ = std::clamp<std::size_t>(count / shares, 1, largest_share);
    prepared_from_ = begin;
    prepared_to_ = begin + count;
    const std::size_t needed = (count + share_ - 1) / share_;
    if (shares_.size() < needed) shares_.resize(needed);
    std::atomic<bool> late = false;
    tbb::parallel_for(std::size_t{0}, needed, [&](std::size_t at) {
      const std::size_t first = begin + at * share_;
      if (!fill(shares_[at], first, std::min(prepared_to_, first + share_), meter.deadline())) late = true;
    });
    if (!late) return;
    prepared_to_ = prepared_from_;  // none of it counts
    meter.hurried();
  }

  // False if time was up before the last kernel.
  bool fill(Share<P, Entry>& share, std::size_t begin, std::size_t end, const Deadline& deadline) {
    share.begin(layer_ + 1, pool_);
    for (std::size_t i = begin; i < end; ++i) {
      if (hopeless(current_[i]->estimate)) {
        share.end_state(0, true);
        continue;
      }
      const auto complete =
          expand_one(i, share.kernels, deadline, [&](std::size_t layer, Entry&& entry) {
            const double order = order_of(entry);
            share.put(problem_, layer, std::move(entry), order);
          });
      if (!complete) return false;
      share.end_state(share.kernels.size(), *complete);
    }
    return true;
  }

  // Admits what state `index`, which was prepared, led to; returns how many kernels were priced. Where a
  // better plan has been offered since, it is as if the state had been expanded only now.
  std::optional<std::uint64_t> admit(std::size_t index) {
    Share<P, Entry>& share = shares_[(index - prepared_from_) / share_];
    const std::size_t state = (index - prepared_from_) % share_;
    const bool gone = hopeless(current_[index]->estimate);
    held_ += share.admit(problem_, state, gone ? -infinite_cost : upper_bound_, layers_);
    if (gone) return 0;
    complete_ = complete_ && share.expanded(state).complete;
    return share.expanded(state).priced;
  }

  // Has the state declared all that matters? Nothing if time was up before its last kernel.
  template <class Put>
  std::optional<bool> expand_one(std::size_t index, std::vector<Kernel>& kernels, const Deadline& deadline,
                                 const Put& put) const {
    const Entry& from = *current_[index];
    const bool complete = problem_.kernels(from.state, kernels);
    for (std::uint32_t k = 0; k < kernels.size(); ++k) {
      if (k % kernels_between_looks == kernels_between_looks - 1 && deadline.passed()) return std::nullopt;
      step_to(from, index, kernels[k], k, put);
    }
    return complete;
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
               .name = 0,
               .mask = 0,
               .from = {static_cast<std::int32_t>(layer_), static_cast<std::uint32_t>(index), place},
               .latent = {}};
    next.estimate = cost + problem_.bound(next.state);
    if (hopeless(next.estimate)) return;
    next.name = class_of(next.state);
    next.mask = mask_of(next.state);
    next.rank = next.estimate;
    if constexpr (HasEstimate<P>) next.rank = cost + problem_.estimate(next.state);
    const auto layer = static_cast<std::size_t>(problem_.progress(next.state) - first_);
    put(layer, std::move(next));
  }

  // Guides are asked for as many states at once, up to a number of kernels. Returns where it stopped.
  std::size_t expand_guided(std::size_t begin, std::size_t end, Meter& meter) {
    std::vector<std::vector<Kernel>> kernels(end - begin);
    std::vector<Expansion<P, Latent>> expansions;
    std::size_t listed = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (listed >= most_priced) {
        end = i;
        break;
      }
      complete_ = problem_.kernels(current_[i]->state, kernels[i - begin]) && complete_;
      listed += kernels[i - begin].size();
      expansions.push_back(
          {.state = &current_[i]->state, .latent = &current_[i]->latent, .kernels = kernels[i - begin]});
    }
    guide_.consider(problem_, std::span(expansions));
    for (std::size_t i = begin; i < end; ++i) {
      const Expansion<P, Latent>& e = expansions[i - begin];
      meter.charge(e.keep.size());
      if (e.keep.size() < e.kernels.size()) drop(current_[i]->estimate);
      for (std::size_t at = 0; at < e.keep.size(); ++at)
        step_to(*current_[i], i, e.kernels[e.keep[at]], e.keep[at], [&](std::size_t layer, Entry&& entry) {
          if (!e.after.empty()) entry.rank = entry.cost + e.after[at];
          if (!e.latents.empty()) entry.latent = e.latents[at];
          arrive(layer, std::move(entry));
        });
    }
    return end;
  }

  void drop(double estimate) {
    dropped_ = std::min(dropped_, estimate);
    dropped_any_ = true;
  }

  // Without a width the cheapest are looked at first, with one the most promising (layer_filter.h).
  double order_of(const Entry& entry) const { return options_.width < unlimited ? entry.rank : entry.cost; }

  void arrive(std::size_t layer, Entry&& entry) {
    if (!beaten_by_last(problem_, layers_[layer], entry)) add(layers_[layer], std::move(entry));
  }
  void add(Layer<Entry>& layer, Entry&& entry) {
    if (layer.arrivals.capacity() == 0) reuse(layer.arrivals);
    Entry* place = layer.put(std::move(entry), pool_);
    layer.arrivals.push_back({.entry = place,
                              .estimate = place->estimate,
                              .order = order_of(*place),
                              .name = place->name,
                              .mask = place->mask});
    ++held_;
  }

  // Lists of arrivals are handed on from layer to layer.
  void recycle(std::vector<Arrival<Entry>>& arrivals) {
    arrivals.clear();
    spare_.push_back(std::move(arrivals));
    arrivals = {};
  }
  void reuse(std::vector<Arrival<Entry>>& arrivals) {
    if (spare_.empty()) return;
    arrivals = std::move(spare_.back());
    spare_.pop_back();
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
    pass.layers_.resize(layers_.size());
    std::size_t copied = 0;
    const auto copy = [&](std::size_t layer, const Entry& entry) {
      if (++copied % entries_between_looks == 0 && meter.hurried()) return false;
      pass.add(pass.layers_[layer], Entry(entry));
      return true;
    };
    for (const Entry* entry : current_)
      if (!copy(layer_, *entry)) return;
    for (std::size_t at = layer_ + 1; at < layers_.size(); ++at)
      for (const auto& arrival : layers_[at].arrivals)
        if (!copy(at, *arrival.entry)) return;
    pass.trail_.resize(trail_.size());
    pass.held_ = 2 * held_;
    pass.steps_kept_ = steps_kept_;
    pass.run(meter);
    pass.earlier_ = nullptr;
    if (pass.best_.cost >= best_.cost) return;
    best_ = std::move(pass.best_);
    offer(best_.cost);
  }

  // False if time was up before the best plan was replayed: then there is none, and nothing is proven.
  bool note_ends(Meter& meter) {
    if (noted_) return true;
    const Entry* best = nullptr;
    for (const auto& arrival : layers_.back().arrivals)
      if (!best || arrival.entry->cost < best->cost) best = arrival.entry;
    if (best && best->cost < best_.cost) {
      auto plan = plan_to(best->from, meter);
      if (!plan) return false;
      best_ = {.cost = best->cost, .plan = *std::move(plan)};
    }
    noted_ = true;
    return true;
  }

  // The kernels from the start to where `last` leads, replayed from their places; nothing if time was up.
  std::optional<std::vector<Kernel>> plan_to(const Step& last, Meter& meter) const {
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
    std::size_t listed = 0;
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      if (listed >= entries_between_looks) {
        if (meter.hurried()) return std::nullopt;
        listed = 0;
      }
      problem_.kernels(state, kernels);
      listed += kernels.size() + 1;
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
  BlockPool<Entry> pool_;
  std::vector<Layer<Entry>> layers_;                         // by progress made since the start
  std::vector<std::vector<Step>> trail_;                     // of expanded states, by the same
  const std::vector<std::vector<Step>>* earlier_ = nullptr;  // a look ahead: of the layers before its own
  std::size_t own_from_ = 0;
  std::size_t layer_ = 0;  // being expanded
  bool opened_ = false;
  std::vector<Entry*> current_;  // kept states of that layer
  std::size_t next_ = 0;         // the first that isn't expanded
  std::vector<Share<P, Entry>> shares_;
  std::size_t share_ = 1;          // states of each
  std::size_t prepared_from_ = 0;  // states of `current_` whose arrivals wait in shares: from here
  std::size_t prepared_to_ = 0;    // up to here
  bool noted_ = false;
  std::vector<std::vector<Arrival<Entry>>> spare_;
  LayerFilter<P, Entry> filter_;
  std::vector<Kernel> kernels_;
  std::uint64_t priced_ = 0;  // kernels
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

// Runs a sweep whatever the steps: only time, Ctrl-C and the process's memory end it, and where time was up
// it gets another moment. True if it came to its end.
template <class Sweep>
bool run_to_end(Sweep& sweep, Meter& meter) {
  const auto go_on = [&] {
    Meter free = meter.overrun();
    const bool finished = sweep.run(free);
    meter.charge(free.steps());
    return finished;
  };
  const bool was_late = meter.hurried();
  return go_on() || (meter.hurried() && !was_late && go_on());
}

}  // namespace fuselage::search
