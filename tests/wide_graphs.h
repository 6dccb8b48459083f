// Workloads with many nodes side by side: what is ready, or resident, at once is more than in a chain.
#pragma once

#include <algorithm>
#include <vector>

#include "fuselage/graph/graph.h"
#include "random_graphs.h"

namespace fuselage {

// `width` relus that read nothing and an add that reads all; `room` is the capacity in shares of the relus.
inline Workload fan_in(int width, double room) {
  std::vector<Node> nodes;
  std::vector<NodeId> all;
  for (NodeId v = 0; v < width; ++v) {
    nodes.push_back(derived_node(Op::relu, 64, 64, {}));
    all.push_back(v);
  }
  nodes.push_back(derived_node(Op::add, 64, 64, all));
  Hardware hardware;
  hardware.fast_mem_capacity = static_cast<std::int64_t>(room * width * 64 * 64 * 4);
  hardware.slow_mem_bandwidth = 8;
  hardware.kernel_launch_cost = 4000;
  hardware.max_fusion_depth = 5;
  return {"fan_in", Graph(std::move(nodes)), hardware};
}

// A matmul that `width` relus read.
inline Workload star(int width) {
  std::vector<Node> nodes = {derived_node(Op::matmul, 64, 64, {})};
  for (int i = 0; i < width; ++i) nodes.push_back(derived_node(Op::relu, 64, 64, {0}));
  Hardware hardware;
  hardware.fast_mem_capacity = 3 * 64 * 64 * 4;
  hardware.slow_mem_bandwidth = 8;
  hardware.kernel_launch_cost = 1000;
  hardware.max_fusion_depth = 4;
  return {"star", Graph(std::move(nodes)), hardware};
}

// Stars, fans, chains, independent nodes, chains with a residual, of sizes that differ.
inline Workload wide_workload(Dice& dice, int n) {
  const int kind = dice.below(5);
  std::vector<Node> nodes;
  for (NodeId v = 0; v < n; ++v) {
    std::vector<NodeId> inputs;
    if (kind == 0 && v > 0) inputs = {0};
    if (kind == 1 && v == n - 1)
      for (NodeId x = 0; x < v; ++x) inputs.push_back(x);
    if (kind == 2 && v > 0) inputs = {v - 1};
    if (kind == 4 && v > 0) inputs = {v - 1, dice.chance(50) ? 0 : v - 1};
    const int side = dice.pick({32, 64, 64, 128});
    nodes.push_back(
        derived_node(dice.pick({Op::relu, Op::add, Op::matmul, Op::layernorm}), side, side, inputs));
  }
  std::int64_t largest = 0;
  for (const Node& node : nodes) largest = std::max(largest, node.output_bytes);
  Hardware hardware;
  hardware.fast_mem_capacity = largest * dice.between(3, 50) / 10 + 4096;
  hardware.slow_mem_bandwidth = dice.pick({0.5, 2.0, 8.0});
  hardware.kernel_launch_cost = dice.pick({0.0, 500.0, 4000.0});
  hardware.max_fusion_depth = dice.between(1, 4);
  return {"wide", Graph(std::move(nodes)), hardware};
}

}  // namespace fuselage
