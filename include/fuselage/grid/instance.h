// What a grid schedule is made for: tensors, the ops between them and the machine, in the units of the MLSys
// 2026 contest (elements, and elements per time unit). Unlike a walk graph an op may have several outputs, a
// graph input is a tensor without a producer, and the machine belongs to the problem. Read from and written
// to the contest's JSON by problem_json.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fuselage::grid {

using OpId = std::int32_t;
using TensorId = std::int32_t;
inline constexpr OpId no_op = -1;

enum class OpKind : std::uint8_t { pointwise, matmul };

struct Tensor {
  std::int64_t width = 0;  // elements of a row
  std::int64_t height = 0;

  std::int64_t size() const { return width * height; }  // elements
};

struct Op {
  OpKind kind = OpKind::pointwise;
  std::vector<TensorId> inputs = {};  // of a matmul: LHS, RHS; a tensor may be named twice
  std::vector<TensorId> outputs = {};
  double base_cost = 0;  // time units of one tile at native granularity (a matmul: and full K)
};

struct Machine {
  std::int64_t capacity = 0;  // of fast memory, elements
  double bandwidth = 0;       // of slow memory, elements per time unit
  std::int64_t native_width = 0;
  std::int64_t native_height = 0;
};

class Instance {
 public:
  // All tensors together have at most this many elements, so that no sum of sizes overflows.
  static constexpr std::int64_t max_total_elements = std::int64_t{1} << 52;
  // Within these no latency overflows either.
  static constexpr double max_base_cost = 1e100;
  static constexpr double min_bandwidth = 1e-100;

  // Ids are positions. Throws Error, beginning with `source`, for what is no problem: no op, a size below 1,
  // an id out of range, an op without outputs, a matmul that has not two inputs, a pointwise op without any,
  // a tensor with two producers, a cycle (whose ops it lists), a cost that is negative or no number, a
  // machine whose numbers are not positive. It names them as the contest's files do ("inputs[3][0]").
  Instance(std::vector<Tensor> tensors, std::vector<Op> ops, const Machine& machine,
           const std::string& source = "problem");

  int op_count() const { return static_cast<int>(ops_.size()); }
  int tensor_count() const { return static_cast<int>(tensors_.size()); }
  std::span<const Op> ops() const { return ops_; }
  std::span<const Tensor> tensors() const { return tensors_; }
  const Op& op(OpId id) const { return ops_[static_cast<std::size_t>(id)]; }
  const Tensor& tensor(TensorId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  const Machine& machine() const { return machine_; }

  // no_op for a graph input.
  OpId producer(TensorId id) const { return producer_[static_cast<std::size_t>(id)]; }
  // Ops that read the tensor, each once, ascending; none for a graph output (which some producer makes).
  std::span<const OpId> consumers(TensorId id) const { return consumers_[static_cast<std::size_t>(id)]; }
  bool is_input(TensorId id) const { return producer(id) == no_op; }
  bool is_output(TensorId id) const { return !is_input(id) && consumers(id).empty(); }
  // Kahn's algorithm, the least ready id first.
  std::span<const OpId> order() const { return order_; }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
  Machine machine_;
  std::vector<OpId> producer_;
  std::vector<std::vector<OpId>> consumers_;
  std::vector<OpId> order_;
};

}  // namespace fuselage::grid
