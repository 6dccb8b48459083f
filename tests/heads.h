// Graphs with attention heads side by side, the case that order freedom is about: in the fixed order the
// heads take turns node by node, while a schedule wants to finish one before it begins the next. Heads are
// independent, so the sets of done nodes multiply.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

struct HeadsOptions {
  int heads = 3;
  std::int64_t tokens = 64;
  std::int64_t width = 32;  // of a head
  Hardware hardware = {.fast_mem_capacity = 32 << 10,
                       .slow_mem_bandwidth = 4,
                       .kernel_launch_cost = 2000,
                       .max_fusion_depth = 3};
};

// One input, six nodes a head (query, key, value, scores, probabilities, context), and their sum.
inline Workload heads_workload(const HeadsOptions& options) {
  const std::int64_t tokens = options.tokens;
  const std::int64_t width = options.width;
  std::vector<Node> nodes = {derived_node(Op::layernorm, tokens, width, {})};
  std::vector<NodeId> contexts;
  for (int head = 0; head < options.heads; ++head) {
    const auto q = static_cast<NodeId>(nodes.size());
    for (int i = 0; i < 3; ++i) nodes.push_back(derived_node(Op::matmul, tokens, width, {0}));
    nodes.push_back(derived_node(Op::matmul, tokens, tokens, {q, q + 1}));
    nodes.push_back(derived_node(Op::softmax, tokens, tokens, {q + 3}));
    nodes.push_back(derived_node(Op::matmul, tokens, width, {q + 4, q + 2}));
    contexts.push_back(q + 5);
  }
  nodes.push_back(derived_node(Op::add, tokens, width, contexts));
  return {fmt::format("heads{}", options.heads), Graph(std::move(nodes)), options.hardware};
}

// How many sets of nodes are closed under "reads": the states of an order that is free, residents aside. By
// growing them one node at a time; for graphs of up to 64 nodes.
inline std::size_t count_down_sets(const Graph& graph) {
  std::vector<std::uint64_t> reads(static_cast<std::size_t>(graph.size()), 0);
  for (NodeId v = 0; v < graph.size(); ++v)
    for (NodeId x : graph.inputs(v)) reads[static_cast<std::size_t>(v)] |= std::uint64_t{1} << x;
  std::unordered_set<std::uint64_t> layer = {0};
  std::size_t count = 0;
  while (!layer.empty()) {
    count += layer.size();
    std::unordered_set<std::uint64_t> next;
    for (const std::uint64_t done : layer)
      for (std::size_t v = 0; v < reads.size(); ++v)
        if ((done >> v & 1) == 0 && (reads[v] & ~done) == 0) next.insert(done | std::uint64_t{1} << v);
    layer = std::move(next);
  }
  return count;
}

}  // namespace fuselage
