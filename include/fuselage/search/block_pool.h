// Room for the many states of a search. They are put into blocks and never move, so that a layer is a list of
// pointers: no copies as it grows, and each thread fills blocks of its own. Blocks go back to the pool when
// their layer is done.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace fuselage::search {

template <class T>
class Block {
 public:
  static constexpr std::size_t capacity = 32;

  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { clear(); }

  bool full() const { return used_ == capacity; }
  // Stays where it is until the block is cleared.
  T* put(T&& value) {
    assert(!full());
    return std::construct_at(at(used_++), std::move(value));
  }
  void clear() {
    for (std::size_t i = 0; i < used_; ++i) std::destroy_at(at(i));
    used_ = 0;
  }

 private:
  T* at(std::size_t i) { return reinterpret_cast<T*>(room_) + i; }

  alignas(T) std::byte room_[capacity * sizeof(T)];
  std::size_t used_ = 0;
};

// Any thread may take a block.
template <class T>
class BlockPool {
 public:
  using Owned = std::unique_ptr<Block<T>>;

  Owned take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return std::make_unique_for_overwrite<Block<T>>();
    Owned block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }
  // Takes back all blocks of a list, which must have been cleared.
  void give(std::vector<Owned>& blocks) {
    const std::lock_guard lock(mutex_);
    for (Owned& block : blocks) spare_.push_back(std::move(block));
    blocks.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<Owned> spare_;
};

}  // namespace fuselage::search
