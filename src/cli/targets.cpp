#include "targets.h"

#include <filesystem>
#include <iterator>
#include <optional>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/walk/tasks.h"
#include "options.h"

namespace fuselage::cli {
namespace {

std::string task_names() {
  std::vector<std::string_view> names;
  for (const walk::TaskSpec& task : walk::tasks()) names.push_back(task.name);
  return join_names(names);
}

std::vector<Workload> read_tasks(std::string_view name, const std::optional<Hardware>& hardware) {
  std::vector<Workload> workloads;
  for (const walk::TaskSpec& task : walk::tasks()) {
    if (name != "all" && name != task.name) continue;
    workloads.push_back(walk::make_task(task));
    if (hardware) workloads.back().hardware = *hardware;
  }
  return workloads;
}

std::vector<Workload> read_target(const TargetText& target, const std::optional<Hardware>& hardware) {
  if (target.text) return read_workloads(*target.text, source_name(target.target), hardware);
  std::vector<Workload> workloads = read_tasks(target.target, hardware);
  if (!workloads.empty()) return workloads;
  if (!looks_like_a_file(target.target))
    fail("{} is no task and no file; expected one of all, {}, a JSON file, or - for stdin",
         quote(target.target), task_names());
  return read_workloads(read_file(target.target), source_name(target.target), hardware);
}

}  // namespace

void add_target_options(CLI::App& app, TargetOptions& options) {
  add_arguments(app, "TARGET",
                "a task (see 'fuselage tasks'), 'all' of them, a JSON or JSON Lines\n"
                "file with any number of graphs, or '-' for the same from stdin",
                options.targets)
      ->required();
  add_text(app,
           {"--hardware", "FILE",
            "the machine to run on, instead of each graph's own:\n"
            "a file as in datasets/hardware"},
           options.hardware_file);
  const auto add_assignment = [&options](const std::string& text) {
    Hardware any;
    set_hardware_field(any, text);  // refuses what is none
    options.assignments.push_back(text);
  };
  add_forms(app,
            {"--set", "FIELD=VALUE",
             "one figure of the machine, after --hardware; may be given again.\n"
             "fast_mem_capacity (bytes), slow_mem_bandwidth (bytes per cycle),\n"
             "kernel_launch_cost (cycles), max_fusion_depth (nodes)"},
            add_assignment);
}

bool looks_like_a_file(const std::string& target) {
  return target == "-" || target.find_first_of("./") != std::string::npos || std::filesystem::exists(target);
}

std::vector<Workload> read_targets(const TargetOptions& options) {
  std::vector<TargetText> texts;
  for (const std::string& target : options.targets) texts.push_back({.target = target});
  return read_targets(options, texts);
}

std::vector<Workload> read_targets(const TargetOptions& options, const std::vector<TargetText>& texts) {
  std::optional<Hardware> hardware;
  if (!options.hardware_file.empty())
    hardware = read_hardware(read_file(options.hardware_file), source_name(options.hardware_file));
  std::vector<Workload> workloads;
  for (const TargetText& text : texts) {
    std::vector<Workload> read = read_target(text, hardware);
    std::move(read.begin(), read.end(), std::back_inserter(workloads));
  }
  for (Workload& workload : workloads)
    for (const std::string& assignment : options.assignments)
      set_hardware_field(workload.hardware, assignment);
  return workloads;
}

}  // namespace fuselage::cli
