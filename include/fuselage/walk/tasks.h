// The five fixed tasks of the public environment, from a chain to an adversarial graph. Published scores of
// schedulers and language models are over these, so they are the common yardstick; datasets/tasks/ holds the
// same graphs as files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/generator.h"

namespace fuselage::walk {

struct TaskSpec {
  std::string_view name;
  std::string_view description;
  GenerateOptions options;
  std::uint64_t seed = 0;
  int max_steps = 0;  // an episode is cut after so many actions; always the number of ops
};

// In the order of their numbers.
std::span<const TaskSpec> tasks();

std::optional<TaskSpec> find_task(std::string_view name);

// The task's graph and machine; the workload is named as the task.
Workload make_task(const TaskSpec& task);

}  // namespace fuselage::walk
