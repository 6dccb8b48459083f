#include "grid_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "fuselage/core/files.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/problem_json.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using grid::FusionopsTask;

std::int64_t matmuls(const FusionopsTask& task) {
  const auto ops = task.instance.ops();
  return std::count_if(ops.begin(), ops.end(),
                       [](const grid::Op& op) { return op.kind == grid::OpKind::matmul; });
}

}  // namespace

std::string grid_tasks_table() {
  Table table({{"task", Align::left},
               {"ops"},
               {"matmuls"},
               {"native"},
               {"capacity"},
               {"bandwidth"},
               {"max steps"},
               {"naive"}});
  Table descriptions({{"task", Align::left}, {"description", Align::left}});
  for (const FusionopsTask& task : grid::fusionops_tasks()) {
    const grid::Machine& machine = task.instance.machine();
    table.add({std::string(task.name), fmt::format("{}", task.instance.op_count()),
               fmt::format("{}", matmuls(task)),
               fmt::format("{}x{}", machine.native_width, machine.native_height), grouped(machine.capacity),
               fmt::format("{}", machine.bandwidth), fmt::format("{}", task.max_steps),
               cycles(grid::fusionops_naive_latency(task.instance))});
    descriptions.add({std::string(task.name), std::string(task.summary)});
  }
  return table.text() + "\n" + descriptions.text();
}

void add_grid_tasks(nlohmann::ordered_json& tasks) {
  for (const FusionopsTask& task : grid::fusionops_tasks()) {
    const grid::Machine& machine = task.instance.machine();
    tasks.push_back({{"name", task.name},
                     {"family", "grid"},
                     {"ops", task.instance.op_count()},
                     {"matmuls", matmuls(task)},
                     {"native_granularity", {machine.native_width, machine.native_height}},
                     {"fast_memory_capacity", machine.capacity},
                     {"slow_memory_bandwidth", machine.bandwidth},
                     {"max_steps", task.max_steps},
                     {"naive_latency", grid::fusionops_naive_latency(task.instance)},
                     {"description", task.summary}});
  }
}

std::size_t write_grid_tasks(const std::string& directory) {
  for (const FusionopsTask& task : grid::fusionops_tasks())
    write_file_atomically((std::filesystem::path(directory) / fmt::format("{}.json", task.name)).string(),
                          grid::problem_to_json(task.instance));
  return grid::fusionops_tasks().size();
}

}  // namespace fuselage::cli
