#include "generator_blocks.h"

#include <cassert>
#include <utility>

namespace fuselage::grid {

TensorId Assembly::input(const Tensor& shape) {
  tensors_.push_back(shape);
  return static_cast<TensorId>(tensors_.size() - 1);
}

TensorId Assembly::put(Op op, const Tensor& output) {
  const TensorId id = input(output);
  op.outputs = {id};
  ops_.push_back(std::move(op));
  return id;
}

// Weights of a single native tile make a small matmul, which costs half.
TensorId Assembly::matmul(TensorId lhs, TensorId rhs) {
  const Tensor left = shape(lhs);
  const Tensor right = shape(rhs);
  assert(left.width == right.height);
  const bool is_small = left.width <= machine_.native_width && right.width <= machine_.native_width;
  return put({.kind = OpKind::matmul, .inputs = {lhs, rhs}, .base_cost = costs_.matmul / (is_small ? 2 : 1)},
             {.width = right.width, .height = left.height});
}

TensorId Assembly::project(TensorId x, std::int64_t width) {
  return matmul(x, input({.width = width, .height = shape(x).width}));
}

TensorId Assembly::project_left(TensorId x, std::int64_t height) {
  return matmul(input({.width = shape(x).height, .height = height}), x);
}

TensorId Assembly::norm(TensorId x) {
  const TensorId centred = pointwise(costs_.norm, {x});
  return pointwise(costs_.norm, {centred});
}

TensorId Assembly::softmax(TensorId x, int ops) {
  for (int i = 0; i < ops; ++i) x = pointwise(costs_.softmax, {x});
  return x;
}

TensorId Assembly::pointwise(double cost, std::vector<TensorId> inputs) {
  const Tensor output = shape(inputs.front());
  return put({.kind = OpKind::pointwise, .inputs = std::move(inputs), .base_cost = cost}, output);
}

Instance Assembly::finish() && {
  return Instance(std::move(tensors_), std::move(ops_), machine_, "generated problem");
}

int Attention::ops_of(int count) const {
  const int keys = 2;                 // K and V
  const int other = 4 + softmax_ops;  // Q, scores, softmax, context, projection
  const int joins = count;            // of the heads, and the residual
  return Assembly::norm_ops + count * other + (shared_keys ? keys : count * keys) + joins;
}

Attention Attention::within(int ops) const {
  Attention smaller = *this;
  while (smaller.heads > 0 && smaller.ops() > ops) --smaller.heads;
  return smaller;
}

struct Attention::KeyValue {
  TensorId key = 0;
  TensorId value = 0;
};

Attention::KeyValue Attention::put_keys(Assembly& assembly, TensorId x) const {
  const Tensor shape = assembly.shape(x);
  assert(shape.width == shape.height || shape.height == head_width);
  const TensorId key =
      shape.width == shape.height ? assembly.project_left(x, head_width) : assembly.project(x, head_width);
  return {.key = key, .value = assembly.project(x, head_width)};
}

TensorId Attention::put(Assembly& assembly, TensorId x) const {
  const int before = assembly.ops();
  const TensorId normed = assembly.norm(x);
  KeyValue shared;
  if (shared_keys) shared = put_keys(assembly, normed);
  TensorId sum = x;  // of the heads so far
  for (int head = 0; head < heads; ++head) {
    const TensorId query = assembly.project(normed, head_width);
    const KeyValue own = shared_keys ? shared : put_keys(assembly, normed);
    const TensorId weights = assembly.softmax(assembly.matmul(query, own.key), softmax_ops);
    const TensorId context = assembly.matmul(weights, own.value);
    const TensorId back = assembly.project(context, assembly.shape(x).width);
    sum = head == 0 ? back : assembly.join(sum, back);
  }
  const TensorId out = assembly.join(x, sum);
  assert(assembly.ops() - before == ops());
  static_cast<void>(before);
  return out;
}

TensorId FeedForward::put(Assembly& assembly, TensorId x) const {
  const TensorId normed = assembly.norm(x);
  TensorId hidden = assembly.project(normed, width);
  if (gated)
    hidden = assembly.join(hidden, assembly.activation(assembly.project(normed, width)));
  else
    hidden = assembly.activation(hidden);
  return assembly.join(x, assembly.project(hidden, assembly.shape(x).width));
}

TensorId Bottleneck::put(Assembly& assembly, TensorId x) const {
  const auto convolution = [&](TensorId from, std::int64_t channels) {
    const TensorId made = assembly.project(from, channels);
    return normed ? assembly.norm(made) : made;
  };
  TensorId hidden = assembly.activation(convolution(x, width));
  hidden = assembly.activation(convolution(hidden, width));
  return assembly.activation(assembly.join(x, convolution(hidden, assembly.shape(x).width)));
}

int Branches::ops() const {
  int total = static_cast<int>(branches.size());  // joins, and the activation at the end
  for (const Branch& branch : branches) total += 2 * branch.depth + 1;
  return total;
}

TensorId Branches::put(Assembly& assembly, TensorId x) const {
  assert(!branches.empty());
  TensorId sum = x;
  for (const Branch& branch : branches) {
    TensorId at = x;
    for (int i = 0; i < branch.depth; ++i) at = assembly.activation(assembly.project(at, branch.width));
    at = assembly.project(at, assembly.shape(x).width);
    sum = &branch == &branches.front() ? at : assembly.join(sum, at);
  }
  return assembly.activation(sum);
}

int LongSkip::ops(const Assembly& assembly, TensorId x) const {
  return assembly.shape(from).width == assembly.shape(x).width ? 1 : 2;
}

TensorId LongSkip::put(Assembly& assembly, TensorId x) const {
  const bool fits = assembly.shape(from).width == assembly.shape(x).width;
  return assembly.join(fits ? from : assembly.project(from, assembly.shape(x).width), x);
}

}  // namespace fuselage::grid
