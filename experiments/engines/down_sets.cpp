#include "down_sets.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fuselage::experiments {

// Layer by layer: every down-set of n + 1 nodes is one of n nodes and one node that is ready.
std::optional<std::uint64_t> count_down_sets(const Graph& graph) {
  constexpr int bits = 64;
  if (graph.size() > bits) return std::nullopt;
  const auto bit = [](NodeId v) { return std::uint64_t{1} << static_cast<unsigned>(v); };
  std::vector<std::uint64_t> needs(static_cast<std::size_t>(graph.size()), 0);
  for (NodeId v = 0; v < graph.size(); ++v)
    for (NodeId input : graph.inputs(v)) needs[static_cast<std::size_t>(v)] |= bit(input);
  std::vector<std::uint64_t> layer = {0};
  std::vector<std::uint64_t> next;
  std::uint64_t count = 1;
  for (int size = 0; size < graph.size(); ++size) {
    next.clear();
    for (std::uint64_t done : layer)
      for (NodeId v = 0; v < graph.size(); ++v)
        if ((done & bit(v)) == 0 && (needs[static_cast<std::size_t>(v)] & ~done) == 0)
          next.push_back(done | bit(v));
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    count += next.size();
    if (count > most_down_sets) return std::nullopt;
    std::swap(layer, next);
  }
  return count;
}

}  // namespace fuselage::experiments
