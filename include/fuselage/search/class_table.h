// States of one layer in groups: only those of one dominance class, or of one key, are ever compared.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fuselage::search {

// Those of one class, in order: their arrivals, and apart from them, to be looked through fast, the
// dominance_mask of each.
struct Members {
  std::vector<std::uint32_t> arrivals = {};
  std::vector<std::uint64_t> masks = {};

  std::size_t size() const { return arrivals.size(); }
  void clear() {
    arrivals.clear();
    masks.clear();
  }
  void push(std::uint32_t arrival, std::uint64_t mask) {
    arrivals.push_back(arrival);
    masks.push_back(mask);
  }
  // The first of [from, to) that may dominate a state of this mask; `to` if there is none.
  std::size_t next_rival(std::size_t from, std::size_t to, std::uint64_t mask) const {
    constexpr std::size_t stride = 8;
    const std::uint64_t lacking = ~mask;
    for (; from + stride <= to; from += stride) {
      std::uint64_t hits = 0;
      for (std::size_t i = 0; i < stride; ++i) hits |= (masks[from + i] & lacking) == 0 ? 1 : 0;
      if (hits) break;
    }
    while (from < to && (masks[from] & lacking) != 0) ++from;
    return from;
  }
};

// The dominance classes of a layer. Most problems have one class a layer: that one costs no
// hashing.
class ClassTable {
 public:
  void clear() {
    for (Members& members : members_) members.clear();
    index_.clear();
    used_ = 0;
  }
  Members& of(std::uint64_t name) {
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
  // The same without making room for a new class: null if there is none. Safe to call from several threads.
  const Members* find(std::uint64_t name) const {
    if (used_ == 0) return nullptr;
    if (used_ == 1) return name == only_ ? &members_[0] : nullptr;
    const auto at = index_.find(name);
    return at == index_.end() ? nullptr : &members_[at->second];
  }

 private:
  std::vector<Members> members_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::uint64_t only_ = 0;
  std::size_t used_ = 0;
};

}  // namespace fuselage::search
