// Which arrivals of a layer are worth expanding: those that can beat the best plan known and that no better
// one dominates; with a width, the most promising of them. Arrivals are looked at one after the other in
// their order, and each is compared with those kept before it. With several threads comparisons are made for
// a block of arrivals at once, also those between the arrivals of the block; who is kept is then read off
// them one after the other, so the outcome is the same whatever dominance is like.
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
  double estimate = 0;  // no completion of it is cheaper
  double order = 0;     // the least is looked at first; ties as they arrived
};

template <Problem P, class Entry>
class LayerFilter {
 public:
  using State = typename P::State;

  struct Dropped {  // for the width alone
    double least_estimate = infinite_cost;
    bool any = false;
  };

  // The problem must outlive the filter.
  LayerFilter(const P& problem, std::size_t width, int threads)
      : problem_(problem), width_(width), threads_(threads) {}

  // Puts into `kept` whom to expand, in order. Without a width arrivals are to be ordered by cost, since only
  // a cheaper state can dominate. With one, a state that a later one would have dominated only wastes its
  // place.
  Dropped run(std::span<const Arrival<Entry>> arrivals, double known_cost, std::vector<Entry*>& kept) {
    arrivals_ = arrivals;
    kept_ = &kept;
    kept.clear();
    rank(known_cost);
    classes_.clear();
    late_.clear();
    std::size_t at = 0;
    while (at < ranking_.size() && kept.size() < width_) {
      sort_to(at);
      const std::size_t end = std::min(sorted_, at + block_size());
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
  static constexpr std::size_t least_block = 32;
  static constexpr std::size_t largest_block = 256;
  static constexpr std::size_t least_portion = 512;   // to be sorted at once
  static constexpr std::size_t worth_sharing = 4096;  // to be sorted by several threads

  // An arrival of a block that none of those kept before it beats.
  struct Candidate {
    std::uint32_t arrival = 0;
    std::uint64_t name = 0;                  // of its class
    std::size_t looked_at = 0;               // so many rivals don't beat it
    std::vector<std::uint32_t> beaten_by{};  // earlier candidates
    bool beaten = false;
    std::size_t place = unlimited;  // among its class; unlimited: not kept
  };

  const Entry& entry(std::uint32_t arrival) const { return *arrivals_[arrival].entry; }

  std::uint64_t class_of(const Entry& e) const {
    if constexpr (HasDominance<P>)
      return problem_.dominance_class(e.state);
    else
      return problem_.key(e.state);
  }
  bool beats(const Entry& a, const Entry& b) const {
    if constexpr (HasDominance<P>)
      return problem_.dominates(a.state, a.cost, b.state, b.cost);
    else
      return a.state == b.state;
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

  // Small blocks at first: comparisons with those who turn out not to be kept are wasted.
  std::size_t block_size() const { return std::clamp(kept_->size() / 2, least_block, largest_block); }

  // Both return up to where they came: the width may be reached before `end`.
  std::size_t keep_each(std::size_t begin, std::size_t end) {
    for (; begin < end && kept_->size() < width_; ++begin) {
      const std::uint32_t i = ranking_[begin].second;
      if (keep(i, classes_.of(class_of(entry(i))))) kept_->push_back(arrivals_[i].entry);
    }
    return begin;
  }

  std::size_t keep_block(std::size_t begin, std::size_t end) {
    block_.resize(std::max(block_.size(), end - begin));
    const std::size_t size = end - begin;
    for_each_of(size, [&](std::size_t c) { compare_with_kept(ranking_[begin + c].second, block_[c]); });
    for_each_of(size, [&](std::size_t c) { compare_within(c); });
    std::size_t c = 0;
    for (; c < size && kept_->size() < width_; ++c)
      if (!block_[c].beaten) resolve(block_[c]);
    return begin + c;
  }

  template <class Body>
  void for_each_of(std::size_t size, const Body& body) const {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, size, least_block / 4), [&](const auto& range) {
      for (std::size_t c = range.begin(); c < range.end(); ++c) body(c);
    });
  }

  void compare_with_kept(std::uint32_t arrival, Candidate& c) const {
    const Entry& e = entry(arrival);
    c.arrival = arrival;
    c.name = class_of(e);
    c.beaten_by.clear();
    c.beaten = false;
    c.place = unlimited;
    const auto* rivals = classes_.find(c.name);
    c.looked_at = rivals ? std::min(rivals->size(), most_rivals) : 0;
    for (std::size_t r = 0; r < c.looked_at && !c.beaten; ++r) c.beaten = beats(entry((*rivals)[r]), e);
  }

  void compare_within(std::size_t c) {
    Candidate& one = block_[c];
    if (one.beaten) return;
    for (std::uint32_t i = 0; i < c; ++i) {
      const Candidate& other = block_[i];
      if (other.name == one.name && !other.beaten && beats(entry(other.arrival), entry(one.arrival)))
        one.beaten_by.push_back(i);
    }
  }

  void resolve(Candidate& c) {
    for (const std::uint32_t i : c.beaten_by)
      if (block_[i].place < most_rivals) return;
    std::vector<std::uint32_t>& rivals = classes_.of(c.name);
    if (!is_new(c.arrival, rivals)) return;
    c.place = rivals.size();
    rivals.push_back(c.arrival);
    kept_->push_back(arrivals_[c.arrival].entry);
  }

  // Is an arrival undominated by its rivals, those of its class that were kept before it? Then it joins them.
  bool keep(std::uint32_t i, std::vector<std::uint32_t>& rivals) {
    const std::size_t compared = std::min(rivals.size(), most_rivals);
    for (std::size_t r = 0; r < compared; ++r)
      if (beats(entry(rivals[r]), entry(i))) return false;
    if (!is_new(i, rivals)) return false;
    rivals.push_back(i);
    return true;
  }

  // In a class of very many only the first are compared with, and equal states are found by their keys: a
  // dominated state more costs time, not the proof.
  bool is_new(std::uint32_t i, const std::vector<std::uint32_t>& rivals) {
    if (rivals.size() < most_rivals) return true;
    std::vector<std::uint32_t>& same_key = late_.of(problem_.key(entry(i).state));
    for (const std::uint32_t other : same_key)
      if (entry(other).state == entry(i).state) return false;
    same_key.push_back(i);
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
  std::vector<Candidate> block_;
};

}  // namespace fuselage::search
