// What the generator's networks are built of: tensors and ops put on one another, and the blocks of layers.
// Each block says how many ops it will be, so that a network can be cut between blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/grid/instance.h"

namespace fuselage::grid {

// Base costs of a network, time units.
struct BlockCosts {
  double matmul = 0;
  double norm = 0;
  double activation = 0;
  double softmax = 0;
  double join = 0;  // of two tensors of one shape
};

// A problem that is being built. Ops are numbered as they are put, producers first.
class Assembly {
 public:
  Assembly(const Machine& machine, const BlockCosts& costs) : machine_(machine), costs_(costs) {}

  TensorId input(const Tensor& shape);
  // The lhs must be as wide as the rhs is high.
  TensorId matmul(TensorId lhs, TensorId rhs);
  // x times new weights, and new weights of that height times x.
  TensorId project(TensorId x, std::int64_t width);
  TensorId project_left(TensorId x, std::int64_t height);
  TensorId activation(TensorId x) { return pointwise(costs_.activation, {x}); }
  TensorId join(TensorId a, TensorId b) { return pointwise(costs_.join, {a, b}); }
  // Two ops: centred, then scaled.
  static constexpr int norm_ops = 2;
  TensorId norm(TensorId x);
  // A chain of `ops`.
  TensorId softmax(TensorId x, int ops);

  int ops() const { return static_cast<int>(ops_.size()); }
  const Tensor& shape(TensorId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  const Machine& machine() const { return machine_; }
  Instance finish() &&;

 private:
  TensorId put(Op op, const Tensor& output);
  TensorId pointwise(double cost, std::vector<TensorId> inputs);

  Machine machine_;
  BlockCosts costs_;
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
};

// Each makes a tensor of x's shape, in as many ops as ops() says.

// Heads side by side on the normed x, each projected back and added to the one before; then the residual.
struct Attention {
  int heads = 1;
  int softmax_ops = 2;
  std::int64_t head_width = 0;  // must be x's height unless x is square
  bool shared_keys = false;     // one K and V for all heads

  int ops() const { return ops_of(heads); }
  // With at most this many ops; 0 heads: not even one fits.
  Attention within(int ops) const;
  TensorId put(Assembly& assembly, TensorId x) const;

 private:
  struct KeyValue;
  int ops_of(int count) const;
  KeyValue put_keys(Assembly& assembly, TensorId x) const;
};

// Norm, up, activation, down, residual; gated: the activation of a second projection times the first.
struct FeedForward {
  std::int64_t width = 0;
  bool gated = false;

  int ops() const { return gated ? 8 : 6; }
  TensorId put(Assembly& assembly, TensorId x) const;
};

// Three convolutions, the middle one on fewer channels, and the residual.
struct Bottleneck {
  std::int64_t width = 0;
  bool normed = false;

  int ops() const { return normed ? 13 : 7; }
  TensorId put(Assembly& assembly, TensorId x) const;
};

// Branches of convolutions that begin at x, of different depths, joined.
struct Branches {
  struct Branch {
    int depth = 1;  // convolutions with activation before the last, which goes back to x's width
    std::int64_t width = 0;
  };
  std::vector<Branch> branches = {};

  int ops() const;
  TensorId put(Assembly& assembly, TensorId x) const;
};

// Joins what was made long ago to x, on x's width.
struct LongSkip {
  TensorId from = 0;

  int ops(const Assembly& assembly, TensorId x) const;
  TensorId put(Assembly& assembly, TensorId x) const;
};

}  // namespace fuselage::grid
