// States arrive next to each other and often beat each other: a new arrival is compared with the last few of
// its layer, which saves storing and sorting it. That comparison runs through all arrivals of a layer in
// order, while several threads expand a share of states each. So every share compares its own arrivals, and
// when they are admitted to their layers in order, only those are compared again whose last few turn out to
// be others: the first of the share, and those after a verdict that changed. The outcome is exactly that of
// one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fuselage/search/block_pool.h"
#include "fuselage/search/layer_filter.h"
#include "fuselage/search/problem.h"

namespace fuselage::search {

inline constexpr std::size_t siblings = 8;  // the last few

// Arrivals of one progress, in order.
template <class Entry>
struct Layer {
  std::vector<Arrival<Entry>> arrivals = {};
  std::vector<std::unique_ptr<Block<Entry>>> blocks = {};  // where they are, with some that went
  Block<Entry>* open = nullptr;                            // the one that put() fills

  Entry* put(Entry&& entry, BlockPool<Entry>& pool) {
    if (!open || open->full()) open = blocks.emplace_back(pool.take()).get();
    return open->put(std::move(entry));
  }
};

template <Problem P, class Entry>
bool beats_sibling(const P& problem, const Entry& a, const Entry& b) {
  if constexpr (HasDominance<P>)
    return may_dominate(a.mask, b.mask) && problem.dominates(a.state, a.cost, b.state, b.cost);
  else
    return false;
}

// Does one of the last few arrivals beat it? The `known` last of them are known not to.
template <Problem P, class Entry>
bool beaten_by_last(const P& problem, const Layer<Entry>& layer, const Entry& entry, std::size_t known = 0) {
  if constexpr (HasDominance<P>) {
    const std::size_t size = layer.arrivals.size();
    for (std::size_t i = size - std::min(size, siblings); i + known < size; ++i)
      if (may_dominate(layer.arrivals[i].mask, entry.mask) &&
          beats_sibling(problem, *layer.arrivals[i].entry, entry))
        return true;
  }
  return false;
}

// The work of one thread on some states in a row, and what came of it.
template <Problem P, class Entry>
class Share {
 public:
  using Kernel = typename P::Kernel;

  std::vector<Kernel> kernels;  // room for those of one state

  // Of one state.
  struct Expanded {
    std::uint64_t priced = 0;
    bool complete = true;
    std::size_t end = 0;  // of its arrivals
  };

  // Work on states of the layer before `first_layer` begins, in this order:
  void begin(std::size_t first_layer, BlockPool<Entry>& pool) {
    pool_ = &pool;
    std::erase_if(lanes_, [&](const Lane& lane) { return lane.layer < first_layer; });
    for (Lane& lane : lanes_) lane.put = lane.agreed = 0;
    expanded_.clear();
    items_.clear();
    for (auto& block : beaten_) block->clear();
    beaten_used_ = 0;
  }
  void put(const P& problem, std::size_t layer, Entry&& entry, double order) {
    const std::uint32_t at = lane_of(layer);
    Lane& lane = lanes_[at];
    Item item{.estimate = entry.estimate,
              .order = order,
              .name = entry.name,
              .mask = entry.mask,
              .lane = at,
              .beaten_by = beater(problem, lane, entry)};
    if (item.beaten_by == 0) {
      item.entry = room_in(lane).put(std::move(entry));
      lane.last[lane.put++ % siblings] = item.entry;
    } else {
      item.entry = room_for_beaten().put(std::move(entry));
    }
    items_.push_back(item);
  }
  void end_state(std::uint64_t priced, bool complete) {
    expanded_.push_back({priced, complete, items_.size()});
  }

  // When all shares are done, by one thread: their states in order, given the cost of the best plan that
  // is known by now. Returns how many arrivals were admitted.
  const Expanded& expanded(std::size_t state) const { return expanded_[state]; }
  std::size_t admit(const P& problem, std::size_t state, double known_cost,
                    std::vector<Layer<Entry>>& layers) {
    std::size_t admitted = 0;
    for (std::size_t i = state == 0 ? 0 : expanded_[state - 1].end; i < expanded_[state].end; ++i)
      admitted += admit(problem, items_[i], known_cost, layers);
    return admitted;
  }

 private:
  struct Item {
    Entry* entry = nullptr;
    double estimate = 0;
    double order = 0;
    std::uint64_t name = 0;
    std::uint64_t mask = 0;
    std::uint32_t lane = 0;
    std::uint32_t beaten_by = 0;  // the one so many before it of the share, of those not beaten; 0: none
  };
  // Arrivals of one layer.
  struct Lane {
    std::size_t layer = 0;
    Block<Entry>* open = nullptr;
    std::vector<std::unique_ptr<Block<Entry>>> fresh = {};  // blocks that the layer doesn't have yet
    std::size_t put = 0;                                    // not beaten
    std::array<Entry*, siblings> last = {};                 // of those, number n at n % siblings
    std::size_t agreed = 0;  // so many of the last are also the last of the layer
  };

  std::uint32_t lane_of(std::size_t layer) {
    for (std::uint32_t i = 0; i < lanes_.size(); ++i)
      if (lanes_[i].layer == layer) return i;
    lanes_.emplace_back().layer = layer;
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }

  std::uint32_t beater(const P& problem, const Lane& lane, const Entry& entry) const {
    const std::size_t compared = std::min(lane.put, siblings);
    if constexpr (HasDominance<P>)
      for (std::size_t back = compared; back > 0; --back)
        if (beats_sibling(problem, *lane.last[(lane.put - back) % siblings], entry))
          return static_cast<std::uint32_t>(back);
    return 0;
  }

  Block<Entry>& room_in(Lane& lane) {
    if (!lane.open || lane.open->full()) lane.open = lane.fresh.emplace_back(pool_->take()).get();
    return *lane.open;
  }
  Block<Entry>& room_for_beaten() {
    if (beaten_used_ > 0 && !beaten_[beaten_used_ - 1]->full()) return *beaten_[beaten_used_ - 1];
    if (beaten_used_ == beaten_.size()) beaten_.push_back(pool_->take());
    return *beaten_[beaten_used_++];
  }

  bool admit(const P& problem, const Item& item, double known_cost, std::vector<Layer<Entry>>& layers) {
    Lane& lane = lanes_[item.lane];
    Layer<Entry>& layer = layers[lane.layer];
    for (auto& block : lane.fresh) layer.blocks.push_back(std::move(block));
    lane.fresh.clear();
    const bool said_beaten = item.beaten_by > 0;
    const bool is_beaten =
        is_hopeless(item.estimate, known_cost) ||
        (said_beaten ? item.beaten_by <= lane.agreed || beaten_by_last(problem, layer, *item.entry)
                     : beaten_by_last(problem, layer, *item.entry, lane.agreed));
    if (said_beaten != is_beaten)
      lane.agreed = 0;
    else if (!is_beaten)
      lane.agreed = std::min(siblings, lane.agreed + 1);
    if (is_beaten) return false;
    Entry* entry = said_beaten ? layer.put(std::move(*item.entry), *pool_) : item.entry;
    layer.arrivals.push_back({.entry = entry,
                              .estimate = item.estimate,
                              .order = item.order,
                              .name = item.name,
                              .mask = item.mask});
    return true;
  }

  BlockPool<Entry>* pool_ = nullptr;
  std::vector<Lane> lanes_;
  std::vector<Expanded> expanded_;
  std::vector<Item> items_;
  std::vector<std::unique_ptr<Block<Entry>>> beaten_;
  std::size_t beaten_used_ = 0;  // blocks
};

}  // namespace fuselage::search
