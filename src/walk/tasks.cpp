#include "fuselage/walk/tasks.h"

#include <array>
#include <string>

namespace fuselage::walk {
namespace {

constexpr std::array<TaskSpec, 5> fixed_tasks = {
    TaskSpec{"task1_chain",
             "One chain on a roomy machine: where to cut it into kernels is all there is to decide.",
             {.num_ops = 8,
              .difficulty = Difficulty::easy,
              .topology = Topology::linear,
              .height = 128,
              .width = 128},
             42,
             8},
    TaskSpec{
        "task2_residual",
        "Residual blocks: each block input is read again three ops later, so it pays to keep it resident.",
        {.num_ops = 12, .difficulty = Difficulty::medium, .topology = Topology::residual},
        123,
        12},
    TaskSpec{
        "task3_attention",
        "Attention blocks: one tensor feeds three projections that cannot all be fused with their readers.",
        {.num_ops = 16, .difficulty = Difficulty::hard, .topology = Topology::attention},
        456,
        16},
    TaskSpec{
        "task4_mixed",
        "All kinds of blocks with random skips and little memory: fusion, tiles and retention all count.",
        {.num_ops = 24, .difficulty = Difficulty::expert, .topology = Topology::mixed},
        789,
        24},
    TaskSpec{"task5_adversarial",
             "Long skips and tensors read many times: schedules that look one op ahead keep the wrong ones.",
             {.num_ops = 20, .difficulty = Difficulty::hard, .topology = Topology::adversarial},
             1337,
             20},
};

}  // namespace

std::span<const TaskSpec> tasks() {
  return fixed_tasks;
}

std::optional<TaskSpec> find_task(std::string_view name) {
  for (const TaskSpec& task : fixed_tasks)
    if (task.name == name) return task;
  return std::nullopt;
}

Workload make_task(const TaskSpec& task) {
  PythonRandom random(task.seed);
  Workload workload = generate(task.options, random);
  workload.name = task.name;
  return workload;
}

}  // namespace fuselage::walk
