// Random problems of the grid family, and random groups of their ops.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "fuselage/grid/instance.h"

namespace fuselage::grid {

struct RandomOptions {
  int ops = 6;
  std::int64_t capacity = 4000;
  double bandwidth = 5;
  std::vector<std::int64_t> sizes = {8, 16, 20, 24, 40};
  std::int64_t native = 16;
  std::size_t base_cost = 300;  // at most
};

// Matmuls and pointwise ops whose inputs are new tensors or earlier ones of the right shape.
inline Instance random_instance(std::mt19937& random, const RandomOptions& options) {
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const auto size = [&] { return options.sizes[below(options.sizes.size())]; };
  // A tensor of this shape (0: any), an old one where there is one, mostly.
  const auto tensor = [&](std::int64_t width, std::int64_t height) {
    std::vector<TensorId> fitting;
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if ((width == 0 || tensors[t].width == width) && (height == 0 || tensors[t].height == height))
        fitting.push_back(static_cast<TensorId>(t));
    if (!fitting.empty() && below(4) != 0) return fitting[below(fitting.size())];
    tensors.push_back({width == 0 ? size() : width, height == 0 ? size() : height});
    return static_cast<TensorId>(tensors.size() - 1);
  };
  for (int i = 0; i < options.ops; ++i) {
    Op op{.kind = below(2) == 0 ? OpKind::pointwise : OpKind::matmul,
          .base_cost = static_cast<double>(1 + below(options.base_cost))};
    const TensorId first = tensor(0, 0);
    op.inputs.push_back(first);
    const Tensor shape = tensors[static_cast<std::size_t>(first)];
    Tensor out = shape;
    if (op.kind == OpKind::matmul) {
      op.inputs.push_back(tensor(0, shape.width));
      out.width = tensors[static_cast<std::size_t>(op.inputs[1])].width;
    } else {
      for (std::size_t more = below(3); more > 0; --more)
        op.inputs.push_back(tensor(shape.width, shape.height));
    }
    tensors.push_back(out);
    op.outputs.push_back(static_cast<TensorId>(tensors.size() - 1));
    ops.push_back(op);
  }
  return Instance(tensors, ops,
                  {.capacity = options.capacity,
                   .bandwidth = options.bandwidth,
                   .native_width = options.native,
                   .native_height = options.native});
}

// Up to `size` ops, grown from one along made tensors, in execution order.
inline std::vector<OpId> random_group(std::mt19937& random, const Instance& instance, int size) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  std::vector<OpId> group = {static_cast<OpId>(below(static_cast<std::size_t>(instance.op_count())))};
  while (static_cast<int>(group.size()) < size) {
    std::vector<OpId> beside;
    for (OpId op : group) {
      for (TensorId t : instance.op(op).inputs)
        if (!instance.is_input(t)) beside.push_back(instance.producer(t));
      for (TensorId t : instance.op(op).outputs)
        beside.insert(beside.end(), instance.consumers(t).begin(), instance.consumers(t).end());
    }
    std::erase_if(beside, [&](OpId op) { return std::find(group.begin(), group.end(), op) != group.end(); });
    if (beside.empty()) break;
    group.push_back(beside[below(beside.size())]);
  }
  std::sort(group.begin(), group.end());
  return group;
}

}  // namespace fuselage::grid
