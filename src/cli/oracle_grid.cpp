// The grid family's problems for `fuselage oracle`.
#include <fmt/ranges.h>

#include <filesystem>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/problem_json.h"
#include "fuselage/oracle/data_source_grid.h"
#include "options.h"
#include "oracle_source.h"
#include "range_option.h"

namespace fuselage::cli {
namespace {

constexpr std::int64_t default_graphs = 100;
constexpr const char* default_mix = "optimal:0.4,eps0.3:0.4,greedy:0.2";
constexpr IntRange default_ops{.low = 8, .high = 32};

constexpr const char* default_system =
    "You schedule a graph of tensor ops on an accelerator, one kernel at a time. A kernel runs connected ops "
    "tile by tile; what it retains stays in fast memory for the next kernel only. Choose the ops, the tile "
    "sizes and what to retain so that the latencies of all kernels add up to as little as possible. Answer "
    "with one line and nothing else: SCHEDULE ops=[ids] config=[w,h,k] retain=[tensor ids] "
    "traversal=[tiles], where traversal may be left out";

class Reading {
 public:
  Reading(const OracleCommand& command, grid::RuleSet rules) : command_(command), rules_(rules) {
    read_tasks();
    for (const std::string& input : command.inputs) read_input(input);
    read_drawn();
  }

  const OracleInputs& inputs() const { return inputs_; }
  oracle::GridSourceOptions take() { return std::move(source_); }

 private:
  void read_tasks() {
    if (command_.tasks.empty()) return;
    inputs_.word("--tasks " + command_.tasks);
    if (command_.tasks == "all") {
      for (const grid::FusionopsTask& task : grid::fusionops_tasks()) give(task.name, task.instance);
      return;
    }
    for (const std::string& name : split_list(command_.tasks)) {
      const grid::FusionopsTask* task = grid::find_fusionops_task(name);
      if (task == nullptr)
        fail(
            "--tasks: {} is no grid problem; expected all, or names that 'fuselage tasks --family grid' "
            "lists",
            quote(name));
      give(task->name, task->instance);
    }
  }

  void read_input(const std::string& input) {
    for (const OracleInputs::File& file : inputs_.read(input, {".json"})) {
      const std::string stem = std::filesystem::path(file.name).stem().string();
      grid::Instance instance = grid::read_problem(file.text, file.name);
      check_grid_shapes(instance, {.set = rules_}, file.name);
      give(is_name(stem) ? stem : "problem", std::move(instance));
    }
  }

  void give(std::string_view name, grid::Instance instance) {
    source_.given.push_back({.name = std::string(name), .instance = std::move(instance)});
  }

  void read_drawn() {
    const bool others = !source_.given.empty();
    source_.drawn = static_cast<std::size_t>(command_.graphs.value_or(others ? 0 : default_graphs));
    if (source_.drawn == 0) {
      if (!others) fail("--graphs: 0 and no other source; expected graphs, --tasks or --input");
      if (command_.ops) fail("--ops: no graphs are drawn; expected it with --graphs only");
      return;
    }
    const IntRange ops = command_.ops.value_or(default_ops);
    source_.min_ops = ops.low;
    source_.max_ops = ops.high;
    inputs_.word(fmt::format("--graphs {} --ops {}-{}", source_.drawn, ops.low, ops.high));
  }

  const OracleCommand& command_;
  grid::RuleSet rules_;
  oracle::GridSourceOptions source_;
  OracleInputs inputs_;
};

void refuse_walk_options(const OracleCommand& command) {
  for (const auto& [option, is_given] : {std::pair("--curriculum", command.curriculum.has_value()),
                                         std::pair("--kind", command.kind.has_value()),
                                         std::pair("--transcripts", !command.transcripts.empty())})
    if (is_given) fail("{}: is about walk graphs; expected no such option with --family grid", option);
}

}  // namespace

OracleSource grid_source(const OracleCommand& command) {
  refuse_walk_options(command);
  const auto set = std::get<grid::RuleSet>(command.family.rules.empty() ? grid::RuleSet::fusionops_honest
                                                                        : command.family.rules.front());
  const std::string policy = command.policy.empty() ? default_mix : command.policy;
  oracle::GridLabelOptions labels;
  labels.mix = oracle::parse_grid_policy_mix(policy, "--policy");
  labels.episodes = static_cast<int>(command.episodes.value_or(labels.episodes));
  labels.seed = static_cast<std::uint64_t>(command.seed.value_or(0));
  if (command.steps) labels.steps = static_cast<std::uint64_t>(*command.steps);
  if (command.candidates) labels.most_candidates = static_cast<std::size_t>(*command.candidates);
  Reading reading(command, set);
  oracle::GridSourceOptions source = reading.take();
  source.rules = {.set = set};
  source.labels = labels;
  const std::string words =
      fmt::format("--family grid {} --policy {} --episodes {} --candidates {}",
                  fmt::join(reading.inputs().words(), " "), policy, labels.episodes, labels.most_candidates);
  return {.source = std::make_unique<oracle::GridSource>(std::move(source)),
          .family = Family::grid,
          .rules = std::string(grid::name(set)),
          .words = words,
          .inputs = reading.inputs().noted(),
          .steps = labels.steps,
          .labels = oracle::grid_labels_to_json(labels, policy),
          .system = default_system};
}

}  // namespace fuselage::cli
