#include "fuselage/learn/packing.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace fuselage::learn {

void Packing::assign(std::span<const int> lengths) {
  assert(std::all_of(lengths.begin(), lengths.end(), [](int length) { return length >= 0; }));
  lengths_.assign(lengths.begin(), lengths.end());
  order_.resize(lengths.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  // Not stable_sort, which takes memory of its own.
  std::sort(order_.begin(), order_.end(),
            [&](Index a, Index b) { return length(a) != length(b) ? length(a) > length(b) : a < b; });
  slots_.resize(lengths.size());
  for (std::size_t i = 0; i < order_.size(); ++i)
    slots_[static_cast<std::size_t>(order_[i])] = static_cast<Index>(i);
  const Index steps = order_.empty() ? 0 : length(order_.front());
  first_.assign(1, 0);
  std::size_t width = order_.size();
  for (Index step = 0; step < steps; ++step) {
    while (length(order_[width - 1]) <= step) --width;
    first_.push_back(first_.back() + static_cast<Index>(width));
  }
}

}  // namespace fuselage::learn
