#include "fuselage/walk/memory_bound.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/walk/generator.h"

namespace fuselage::walk {
namespace {

constexpr std::int64_t max_side = 32768;  // all tensors of max_generated_ops stay below 2^61 bytes
constexpr int farthest = 9;

constexpr std::array of_one = {Op::matmul, Op::conv2d, Op::layernorm, Op::softmax,
                               Op::reduce, Op::relu,   Op::gelu,      Op::transpose};
constexpr std::array of_two = {Op::add, Op::matmul};

double between(double low, double high, PythonRandom& random) {
  return low + (high - low) * random.random();
}

void check(const MemoryBoundOptions& options) {
  if (options.num_ops < 1 || options.num_ops > max_generated_ops)
    fail("num_ops: {} is out of range; expected 1 to {}", options.num_ops, max_generated_ops);
  if (options.side < 1 || options.side > max_side)
    fail("side: {} is out of range; expected 1 to {}", options.side, max_side);
}

}  // namespace

Workload generate_memory_bound(const MemoryBoundOptions& options, PythonRandom& random) {
  check(options);
  const std::int64_t side = options.side;
  const double reads_back = between(0.3, 0.8, random);
  std::vector<Node> nodes = {derived_node(random.choice(of_one), side, side, {})};
  while (static_cast<int>(nodes.size()) < options.num_ops) {
    const auto i = static_cast<NodeId>(nodes.size());
    const bool two = i >= 2 && random.random() < reads_back;
    std::vector<NodeId> inputs = {i - 1};
    if (two) inputs.push_back(i - static_cast<NodeId>(random.randint(2, std::min<NodeId>(farthest, i))));
    const Op op = two ? random.choice(of_two) : random.choice(of_one);
    nodes.push_back(derived_node(op, side, side, std::move(inputs)));
  }
  const auto tensor = static_cast<double>(side * side * 4);
  Hardware hardware;
  hardware.fast_mem_capacity = static_cast<std::int64_t>(tensor * between(3, 6, random));
  hardware.slow_mem_bandwidth = between(0.5, 2, random);
  hardware.kernel_launch_cost = between(0, 4000, random);
  hardware.max_fusion_depth = static_cast<int>(random.randint(3, 8));
  return {.name = fmt::format("memory_bound_n{}_{}x{}", options.num_ops, side, side),
          .graph = Graph(std::move(nodes)),
          .hardware = hardware};
}

}  // namespace fuselage::walk
