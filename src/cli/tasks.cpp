#include "fuselage/walk/tasks.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/graph/analysis.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/walk/baseline.h"
#include "grid_tasks.h"
#include "options.h"
#include "table.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using walk::TaskSpec;

constexpr const char* footer =
    R"(First the five walk graphs. The peak is the most bytes of tensors that are alive at once along the order;
where it exceeds the capacity, a schedule has to choose what stays in fast memory. Shapes are in
elements of 4 bytes.

Then the four grid problems of fusionops: capacity in elements, bandwidth in elements per time unit, and
the naive latency in time units that its scores are measured against. They are written in the JSON of
the MLSys 2026 contest.

Examples:
  fuselage tasks
  fuselage tasks --write datasets/tasks    what datasets/tasks holds, byte for byte
  fuselage search task3_attention
  fuselage search task3_matmul)";

struct TasksCommand {
  std::string directory;
  bool json = false;
};

int edge_count(const Graph& graph) {
  int edges = 0;
  for (NodeId id = 0; id < graph.size(); ++id) edges += graph.uses(id);
  return edges;
}

std::string table_of_tasks() {
  Table table({{"task", Align::left},
               {"ops"},
               {"edges"},
               {"difficulty", Align::left},
               {"topology", Align::left},
               {"seed"},
               {"shape"},
               {"peak bytes"},
               {"capacity"},
               {"peak / capacity"}});
  Table descriptions({{"task", Align::left}, {"description", Align::left}});
  for (const TaskSpec& task : walk::tasks()) {
    const Workload workload = walk::make_task(task);
    const std::int64_t peak = peak_live_bytes(workload.graph);
    const std::int64_t capacity = workload.hardware.fast_mem_capacity;
    table.add({std::string(task.name), fmt::format("{}", workload.graph.size()),
               fmt::format("{}", edge_count(workload.graph)), std::string(name(task.options.difficulty)),
               std::string(name(task.options.topology)), fmt::format("{}", task.seed),
               fmt::format("{}x{}", task.options.height, task.options.width), grouped(peak),
               grouped(capacity),
               fmt::format("{:.0f}%", 100.0 * static_cast<double>(peak) / static_cast<double>(capacity))});
    descriptions.add({std::string(task.name), std::string(task.description)});
  }
  return table.text() + "\n" + descriptions.text();
}

ordered_json tasks_json() {
  ordered_json tasks = ordered_json::array();
  for (const TaskSpec& task : walk::tasks()) {
    const Workload workload = walk::make_task(task);
    tasks.push_back({{"name", task.name},
                     {"family", "walk"},
                     {"ops", workload.graph.size()},
                     {"edges", edge_count(workload.graph)},
                     {"difficulty", name(task.options.difficulty)},
                     {"topology", name(task.options.topology)},
                     {"seed", task.seed},
                     {"shape", {task.options.height, task.options.width}},
                     {"peak_live_bytes", peak_live_bytes(workload.graph)},
                     {"fast_mem_capacity", workload.hardware.fast_mem_capacity},
                     {"description", task.description}});
  }
  add_grid_tasks(tasks);
  return tasks;
}

// What the task is drawn from. The environment knows no topology "mixed": it leaves it out.
std::string config_to_json(const TaskSpec& task) {
  const walk::GenerateOptions& options = task.options;
  const bool mixed = options.topology == walk::Topology::mixed;
  return fmt::format(
      "{{\n    \"num_ops\": {},\n    \"difficulty\": {},\n    \"seed\": {},\n    \"topology\": {},\n"
      "    \"shape\": [{}, {}],\n    \"description\": {},\n    \"max_steps\": {}\n  }}",
      options.num_ops, json_string(name(options.difficulty)), task.seed,
      mixed ? "null" : json_string(name(options.topology)), options.height, options.width,
      json_string(task.description), task.max_steps);
}

std::string task_to_json(const TaskSpec& task) {
  const Workload workload = walk::make_task(task);
  return fmt::format(
      "{{\n  \"name\": {},\n  \"config\": {},\n  \"graph\": {},\n  \"greedy_latency\": {},\n"
      "  \"naive_latency\": {}\n}}\n",
      json_string(task.name), config_to_json(task), graph_to_json(workload, "  "),
      json_number(walk::greedy(workload.graph, workload.hardware).latency),
      json_number(walk::naive_latency(workload.graph, workload.hardware)));
}

int show_tasks(const TasksCommand& command) {
  if (command.json && !command.directory.empty())
    fail("--json: does not go with --write; expected one of them");
  if (!command.directory.empty()) {
    for (const TaskSpec& task : walk::tasks())
      write_file_atomically(
          (std::filesystem::path(command.directory) / fmt::format("{}.json", task.name)).string(),
          task_to_json(task));
    const std::size_t count = walk::tasks().size() + write_grid_tasks(command.directory);
    print_note(fmt::format("{} tasks written to {}", count, command.directory));
    return exit_ok;
  }
  write_stdout(command.json ? tasks_json().dump(2) + '\n' : table_of_tasks() + '\n' + grid_tasks_table());
  return exit_ok;
}

}  // namespace

void add_tasks(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("tasks", "List the fixed tasks of both families, or write them as files");
  command.footer(footer);
  auto options = std::make_shared<TasksCommand>();
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  add_text(command, {"--write", "DIR", "write DIR/TASK.json for each task instead"}, options->directory);
  command.callback([options, &exit_code] { exit_code = show_tasks(*options); });
}

}  // namespace fuselage::cli
