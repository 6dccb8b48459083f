// Which arrivals of a layer are worth expanding: those that can beat the best plan known and that no better
// one dominates; with a width, the most promising of them. Arrivals are looked at one after the other in
// their order, and each is compared with those kept before it. With several threads a block of arrivals is
// first compared with the kept by all of them; what is left of it, usually little, goes on one after the
// other. So the outcome is the same whatever dominance is like.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/search/class_table.h"
#include "fuselage/search/problem.h"

namespace fuselage::search {

inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
inline constexpr double infinite_cost = std::numeric_limits<double>::infinity();

// A plan of `known_cost` is known: can no completion be cheaper? Without a plan even a state with an infinite
// bound is followed, to say how far a schedule can get.
inline bool is_hopeless(double estimate, double known_cost) {
  return estimate >= known_cost && known_cost < infinite_cost;
}

// Somebody who wants to be kept. Entry has a `state` and its `cost`.
template <class Entry>
struct Arrival {
  Entry* entry = nullptr;
  double estimate = 0;     // no completion of it is cheaper
  double order = 0;        // the least is looked at first; ties as they arrived
  std::uint64_t name = 0;  // of its class: only arrivals of one class are compared
  std::uint64_t mask = 0;  // dominance_mask of its state
};

inline bool may_dominate(std::uint64_t mask_a, std::uint64_t mask_b) {
  return (mask_a & ~mask_b) == 0;
}

template <Problem P, class Entry>
class LayerFilter {
 public:
  using State = typename P::State;

  struct Dropped {  // for the width alone
    double least_estimate = infinite_cost;
    bool any = false;
    bool cut_short = false;  // time was up: `kept` says nothing
  };

  // The problem must outlive the filter.
  LayerFilter(const P& problem, std::size_t width, int threads)
      : problem_(problem), width_(width), threads_(threads) {}

  // Puts into `kept` whom to expand, in order. Without a width arrivals are to be ordered by cost, since only
  // a cheaper state can dominate. With one, a state that a later one would have dominated only wastes its
  // place.
  Dropped run(std::span<const Arrival<Entry>> arrivals, double known_cost, std::vector<Entry*>& kept,
              const Deadline& deadline = {}) {
    arrivals_ = arrivals;
    kept_ = &kept;
    kept.clear();
    rank(known_cost);
    classes_.clear();
    late_.clear();
    std::size_t at = 0;
    while (at < ranking_.size() && kept.size() < width_) {
      if (at > 0 && deadline.passed()) return {.cut_short = true};
      sort_to(at);
      const std::size_t end = std::min(sorted_, at + block_size(at));
      at = threads_ > 1 && end - at >= least_block ? keep_block(at, end) : keep_each(at, end);
    }
    Dropped dropped;
    dropped.any = at < ranking_.size();
    for (; at < ranking_.size(); ++at)
      dropped.least_estimate = std::min(dropped.least_estimate, arrivals_[ranking_[at].second].estimate);
    return dropped;
  }

 private:
  static constexpr std::size_t most_rivals = 512;
  static constexpr std::size_t least_block = 128;
  static constexpr std::size_t largest_block = 2048;
  static constexpr std::size_t grain = 32;            // of a block, for one thread at a time
  static constexpr std::size_t least_portion = 512;   // to be sorted at once
  static constexpr std::size_t worth_sharing = 4096;  // to be sorted by several threads

  // What a thread found out about an arrival of a block.
  struct Verdict {
    std::size_t compared = 0;  // with so many rivals of its class
    bool beaten = false;       // by one of them
  };

  const Entry& entry(std::uint32_t arrival) const { return *arrivals_[arrival].entry; }

  bool beats(std::uint32_t one, std::uint32_t other) const {
    const Entry& a = entry(one);
    const Entry& b = entry(other);
    if constexpr (HasDominance<P>)
      return problem_.dominates(a.state, a.cost, b.state, b.cost);
    else
      return a.state == b.state;
  }
  // By one of rivals [from, to)?
  bool is_beaten(std::uint32_t arrival, const Members& rivals, std::size_t from, std::size_t to) const {
    const std::uint64_t mask = arrivals_[arrival].mask;
    for (std::size_t r = from; (r = rivals.next_rival(r, to, mask)) < to; ++r)
      if (beats(rivals.arrivals[r], arrival)) return true;
    return false;
  }

  void rank(double known_cost) {
    ranking_.clear();
    for (std::uint32_t i = 0; i < arrivals_.size(); ++i)
      if (!is_hopeless(arrivals_[i].estimate, known_cost)) ranking_.emplace_back(arrivals_[i].order, i);
    sorted_ = 0;
  }

  // Makes sure that the ranking is sorted beyond `at`. A width rarely needs all of it: it is sorted in
  // portions, each as large as all before it.
  void sort_to(std::size_t at) {
    if (at < sorted_) return;
    std::size_t end = ranking_.size();
    if (width_ < unlimited / 2) {
      const std::size_t portion = std::max({least_portion, 2 * (width_ - kept_->size()), sorted_});
      if (sorted_ + 2 * portion < end) end = sorted_ + portion;
    }
    const auto place = [&](std::size_t i) { return ranking_.begin() + static_cast<std::ptrdiff_t>(i); };
    if (end < ranking_.size()) std::nth_element(place(sorted_), place(end), ranking_.end());
    if (threads_ > 1 && end - sorted_ >= worth_sharing)
      tbb::parallel_sort(place(sorted_), place(end));
    else
      std::sort(place(sorted_), place(end));
    sorted_ = end;
  }

  // Small blocks at first: comparisons with few rivals find few of the beaten.
  static std::size_t block_size(std::size_t at) { return std::clamp(at, least_block, largest_block); }

  // Both return up to where they came: the width may be reached before `end`.
  std::size_t keep_each(std::size_t begin, std::size_t end) {
    for (; begin < end && kept_->size() < width_; ++begin) keep(ranking_[begin].second, 0);
    return begin;
  }

  // Most arrivals of a block are beaten by those kept before it, which is found out by all threads at once;
  // the others are compared with the rest of the kept in turn.
  std::size_t keep_block(std::size_t begin, std::size_t end) {
    verdicts_.resize(std::max(verdicts_.size(), end - begin));
    const tbb::blocked_range<std::size_t> all(begin, end, grain);
    tbb::parallel_for(all, [&](const auto& range) {
      for (std::size_t at = range.begin(); at < range.end(); ++at)
        verdicts_[at - begin] = compare_with_kept(ranking_[at].second);
    });
    std::size_t at = begin;
    for (; at < end && kept_->size() < width_; ++at)
      if (!verdicts_[at - begin].beaten) keep(ranking_[at].second, verdicts_[at - begin].compared);
    return at;
  }

  Verdict compare_with_kept(std::uint32_t arrival) const {
    const Members* rivals = classes_.find(arrivals_[arrival].name);
    if (!rivals) return {};
    const std::size_t compared = std::min(rivals->size(), most_rivals);
    return {.compared = compared, .beaten = is_beaten(arrival, *rivals, 0, compared)};
  }

  // Keeps an arrival, which none of its first `compared` rivals beats, unless one of the others does: of
  // those of its class that were kept before it.
  void keep(std::uint32_t arrival, std::size_t compared) {
    Members& rivals = classes_.of(arrivals_[arrival].name);
    if (is_beaten(arrival, rivals, compared, std::min(rivals.size(), most_rivals))) return;
    if (!is_new(arrival, rivals)) return;
    rivals.push(arrival, arrivals_[arrival].mask);
    kept_->push_back(arrivals_[arrival].entry);
  }

  // In a class of very many only the first are compared with, and equal states are found by their keys: a
  // dominated state more costs time, not the proof.
  bool is_new(std::uint32_t i, const Members& rivals) {
    if (rivals.size() < most_rivals) return true;
    Members& same_key = late_.of(problem_.key(entry(i).state));
    for (const std::uint32_t other : same_key.arrivals)
      if (entry(other).state == entry(i).state) return false;
    same_key.push(i, 0);
    return true;
  }

  const P& problem_;
  std::size_t width_;
  int threads_;
  std::span<const Arrival<Entry>> arrivals_;
  std::vector<Entry*>* kept_ = nullptr;
  std::vector<std::pair<double, std::uint32_t>> ranking_;  // order, arrival
  std::size_t sorted_ = 0;                                 // so many places of the ranking are final
  ClassTable classes_;
  ClassTable late_;  // by key: states that came after most_rivals of their class
  std::vector<Verdict> verdicts_;
};

}  // namespace fuselage::search
