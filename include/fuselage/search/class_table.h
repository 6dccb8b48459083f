// States of one layer in groups: only those of one dominance class, or of one key, are ever compared.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fuselage::search {

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
  // The same without making room for a new class: null if there is none. Safe to call from several threads.
  const std::vector<std::uint32_t>* find(std::uint64_t name) const {
    if (used_ == 0) return nullptr;
    if (used_ == 1) return name == only_ ? &members_[0] : nullptr;
    const auto at = index_.find(name);
    return at == index_.end() ? nullptr : &members_[at->second];
  }

 private:
  std::vector<std::vector<std::uint32_t>> members_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::uint64_t only_ = 0;
  std::size_t used_ = 0;
};

}  // namespace fuselage::search
