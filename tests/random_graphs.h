// Random workloads for tests: small, odd, and tight in memory on purpose. The draws are spelled out, since
// the distributions of the standard library are not the same everywhere.
#pragma once

#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/rules.h"

namespace fuselage::walk {

// How GoogleTest names parametrised tests.
inline void PrintTo(Rules rules, std::ostream* out) {
  *out << name(rules);
}
inline void PrintTo(Order order, std::ostream* out) {
  *out << name(order);
}

}  // namespace fuselage::walk

namespace fuselage {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int>(values.size())));
  }

 private:
  std::mt19937_64 engine_;
};

struct RandomGraphOptions {
  int nodes = 5;
  bool shuffled = true;  // ids need not follow the order
  bool costly = false;   // some nodes cost more than the penalty for running out of memory
};

inline Workload random_workload(Dice& dice, const RandomGraphOptions& options) {
  const int n = options.nodes;
  std::vector<NodeId> ids(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) ids[static_cast<std::size_t>(i)] = i;
  if (options.shuffled)
    for (int i = n - 1; i > 0; --i)
      std::swap(ids[static_cast<std::size_t>(i)], ids[static_cast<std::size_t>(dice.below(i + 1))]);
  std::vector<Node> nodes(static_cast<std::size_t>(n));
  std::int64_t largest = 0;
  for (int i = 0; i < n; ++i) {
    std::vector<NodeId> inputs;
    if (i > 0 && !dice.chance(10))
      for (int edges = dice.pick({1, 1, 1, 2, 2, 3}); edges > 0; --edges)
        inputs.push_back(ids[static_cast<std::size_t>(dice.chance(60) ? i - 1 : dice.below(i))]);
    const int height = dice.pick({32, 64, 128, 128, 256});
    const int width = dice.pick({32, 64, 128, 128, 256});
    Node node = derived_node(static_cast<Op>(dice.below(9)), height, width, inputs);
    if (dice.chance(20)) node.flops = dice.between(0, 80'000);
    if (options.costly && dice.chance(50)) node.flops = dice.between(700'000, 1'600'000);
    largest = std::max(largest, node.output_bytes);
    nodes[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)])] = std::move(node);
  }
  Hardware hardware;
  hardware.fast_mem_capacity = largest * dice.between(2, 40) / 10 + dice.below(2000);
  hardware.slow_mem_bandwidth = dice.pick({0.5, 1.0, 2.0, 6.0, 8.0, 10.0, 15.0});
  if (dice.chance(4)) hardware.slow_mem_bandwidth = 0;
  hardware.kernel_launch_cost = dice.pick({0.0, 500.0, 2000.0, 5000.0});
  hardware.max_fusion_depth = dice.between(1, 5);
  if (dice.chance(3)) {  // a machine on which nothing costs anything
    for (Node& node : nodes) node.flops = 0;
    hardware.slow_mem_bandwidth = hardware.kernel_launch_cost = 0;
  }
  return {"random", Graph(std::move(nodes)), hardware};
}

}  // namespace fuselage
