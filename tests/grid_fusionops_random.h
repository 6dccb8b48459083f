// Random problems for the fusionops rules, which do not care for shapes: ops of several outputs, whose grid
// covers them all.
#pragma once

#include <random>
#include <vector>

#include "grid_random.h"

namespace fuselage::grid {

// The same, but some ops make another tensor, of any shape, that no op reads or that the next pointwise op
// does.
inline Instance random_outputs(std::mt19937& random, const Instance& instance) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  std::vector<Tensor> tensors(instance.tensors().begin(), instance.tensors().end());
  std::vector<Op> ops(instance.ops().begin(), instance.ops().end());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (below(5) != 0) continue;
    tensors.push_back(tensors[below(tensors.size())]);
    const auto made = static_cast<TensorId>(tensors.size() - 1);
    ops[i].outputs.push_back(made);
    for (std::size_t next = i + 1; next < ops.size() && below(2) == 0; ++next)
      if (ops[next].kind == OpKind::pointwise) {
        ops[next].inputs.push_back(made);
        break;
      }
  }
  return {std::move(tensors), std::move(ops), instance.machine()};
}

}  // namespace fuselage::grid
