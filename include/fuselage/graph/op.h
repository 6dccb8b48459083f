// The operators of the walk family and the three classes that its cost model tells apart.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fuselage {

enum class Op : std::uint8_t { matmul, conv2d, layernorm, softmax, reduce, relu, gelu, add, transpose };
enum class OpClass : std::uint8_t { compute, reduction, pointwise };

inline constexpr std::array<std::string_view, 9> op_names = {
    "matmul", "conv2d", "layernorm", "softmax", "reduce", "relu", "gelu", "add", "transpose"};

constexpr std::string_view name(Op op) {
  return op_names[static_cast<std::size_t>(op)];
}

constexpr std::optional<Op> parse_op(std::string_view text) {
  for (std::size_t i = 0; i < op_names.size(); ++i)
    if (op_names[i] == text) return static_cast<Op>(i);
  return std::nullopt;
}

constexpr OpClass op_class(Op op) {
  if (op <= Op::conv2d) return OpClass::compute;
  return op <= Op::reduce ? OpClass::reduction : OpClass::pointwise;
}

// Cycles per output element when a graph file leaves `flops` out.
constexpr double default_flops_per_element(Op op) {
  if (op == Op::matmul) return 4;
  if (op == Op::conv2d) return 6;
  return op_class(op) == OpClass::reduction ? 1 : 0.1;
}

}  // namespace fuselage
