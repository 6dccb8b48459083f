// Which nodes can start a kernel once everything before a position of the order is done: those at or behind
// it that read nothing at or behind it. A search in free order asks that of every state, so it must not look
// at every node: blocks of positions know the least that one of their nodes waits for.
#pragma once

#include <algorithm>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage::walk {

class Frontier {
 public:
  explicit Frontier(const Graph& graph) {
    for (NodeId v : graph.order()) {
      int last = -1;
      for (NodeId x : graph.inputs(v)) last = std::max(last, graph.position(x));
      waits_for_.push_back(last);
    }
    for (std::size_t at = 0; at < waits_for_.size(); at += block)
      least_.push_back(*std::min_element(
          waits_for_.begin() + static_cast<std::ptrdiff_t>(at),
          waits_for_.begin() + static_cast<std::ptrdiff_t>(std::min(at + block, waits_for_.size()))));
  }

  // Calls put(p) for each such position p, in order.
  template <class Put>
  void each(int position, const Put& put) const {
    auto at = static_cast<std::size_t>(position);
    while (at < waits_for_.size()) {
      const std::size_t end = std::min((at / block + 1) * block, waits_for_.size());
      if (least_[at / block] < position)
        for (; at < end; ++at)
          if (waits_for_[at] < position) put(static_cast<int>(at));
      at = end;
    }
  }

 private:
  static constexpr std::size_t block = 128;
  std::vector<int> waits_for_;  // by position: the last position that it reads; -1: none
  std::vector<int> least_;      // by block
};

}  // namespace fuselage::walk
