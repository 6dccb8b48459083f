#include <utility>

#include "fuselage/grid/fusionops.h"

namespace fuselage::grid {
namespace {

constexpr std::int64_t side = 128;  // of every tensor and of native tiles
constexpr double bandwidth = 10;

struct Plain {
  OpKind kind;
  std::vector<TensorId> inputs;
  TensorId output;
  double base_cost;
};

Instance make(std::string_view name, int tensors, const std::vector<Plain>& plain, std::int64_t capacity) {
  std::vector<Op> ops;
  for (const Plain& op : plain)
    ops.push_back({.kind = op.kind, .inputs = op.inputs, .outputs = {op.output}, .base_cost = op.base_cost});
  return {std::vector<Tensor>(static_cast<std::size_t>(tensors), {.width = side, .height = side}),
          std::move(ops),
          {.capacity = capacity, .bandwidth = bandwidth, .native_width = side, .native_height = side},
          std::string(name)};
}

std::vector<FusionopsTask> make_tasks() {
  constexpr OpKind pointwise = OpKind::pointwise;
  constexpr OpKind matmul = OpKind::matmul;
  return {
      {.name = "task1_linear",
       .summary = "A chain: how far to fuse is all there is to decide.",
       .instance = make("task1_linear", 7,
                        {{pointwise, {0}, 1, 800},
                         {pointwise, {1}, 2, 600},
                         {pointwise, {2}, 3, 900},
                         {pointwise, {3}, 4, 500},
                         {pointwise, {4}, 5, 700},
                         {pointwise, {5}, 6, 400}},
                        40000),
       .max_steps = 10},
      {.name = "task2_diamond",
       .summary = "Two branches that meet, and a tensor that is read again at the end.",
       .instance = make("task2_diamond", 7,
                        {{pointwise, {0}, 1, 1200},
                         {pointwise, {1}, 2, 1000},
                         {pointwise, {1}, 3, 1000},
                         {pointwise, {2, 3}, 4, 1500},
                         {pointwise, {4}, 5, 800},
                         {pointwise, {1, 5}, 6, 1100}},
                        50000),
       .max_steps = 12},
      {.name = "task3_matmul",
       .summary = "Three matmuls in a row: the operands fit only in slices.",
       .instance = make("task3_matmul", 8,
                        {{matmul, {0, 1}, 4, 2000},
                         {matmul, {4, 2}, 5, 2000},
                         {pointwise, {5}, 6, 500},
                         {matmul, {6, 3}, 7, 2000}},
                        50000),
       .max_steps = 15},
      {.name = "task4_multistage",
       .summary = "Matmuls with pointwise ops between them, and a tensor that is read again late.",
       .instance = make("task4_multistage", 16,
                        {{matmul, {0, 1}, 8, 2000},
                         {pointwise, {8}, 9, 400},
                         {matmul, {9, 2}, 10, 2000},
                         {pointwise, {10}, 11, 400},
                         {matmul, {11, 3}, 12, 2000},
                         {pointwise, {12}, 13, 400},
                         {pointwise, {13, 8}, 14, 600},
                         {pointwise, {14}, 15, 400}},
                        60000),
       .max_steps = 20},
  };
}

}  // namespace

std::span<const FusionopsTask> fusionops_tasks() {
  static const std::vector<FusionopsTask> tasks = make_tasks();
  return tasks;
}

const FusionopsTask* find_fusionops_task(std::string_view name) {
  for (const FusionopsTask& task : fusionops_tasks())
    if (task.name == name) return &task;
  return nullptr;
}

}  // namespace fuselage::grid
