#include "fuselage/serve/reset.h"

#include <algorithm>

#include "fuselage/core/error.h"
#include "fuselage/core/python_random.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/generator.h"
#include "fuselage/grid/problem_json.h"
#include "fuselage/grid/shapes.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::serve {
namespace {

constexpr std::int64_t most_seed = std::int64_t{1} << 53;
constexpr int usual_grid_steps = 20;

// A field that is there and not null.
std::optional<JsonField> given(const JsonField& fields, std::string_view key) {
  if (!fields.value().is_object()) return std::nullopt;
  auto field = fields.optional(key);
  if (field && field->is_null()) return std::nullopt;
  return field;
}

bool wants_random(const JsonField& fields) {
  const auto random = given(fields, "random");
  return random && random->boolean();
}

walk::Difficulty difficulty_of(const JsonField& field) {
  const auto difficulty = walk::parse_difficulty(field.string());
  if (!difficulty) field.refuse("is unknown", "one of " + join_names(walk::difficulty_names));
  return *difficulty;
}

int max_steps_of(const JsonField& fields, int otherwise) {
  const auto steps = given(fields, "max_steps");
  return steps ? static_cast<int>(steps->integer(1, 1'000'000)) : otherwise;
}

}  // namespace

std::uint64_t EpisodeMaker::seed_of(const JsonField& fields) {
  if (const auto seed = given(fields, "seed")) return static_cast<std::uint64_t>(seed->integer(0, most_seed));
  const std::scoped_lock guard(lock_);
  return seeds_.next() >> 11;
}

std::shared_ptr<const walk::EpisodeContext> EpisodeMaker::task_context(const std::string& task) {
  const std::scoped_lock guard(lock_);
  auto& context = tasks_[task];
  if (!context)
    context = std::make_shared<const walk::EpisodeContext>(walk::make_task(*walk::find_task(task)));
  return context;
}

Started EpisodeMaker::start(const JsonField& fields) {
  const auto family = given(fields, "family");
  const auto task = given(fields, "task");
  const auto graph = given(fields, "graph");
  if (const auto seed = given(fields, "seed")) seed->integer(0, most_seed);
  bool grid = false;
  if (family) {
    grid = family->string() == "grid";
    if (!grid && family->string() != "walk") family->refuse("is unknown", "walk or grid");
  } else if (graph) {
    grid = graph->has("op_types");
  } else if (task && !wants_random(fields)) {
    grid = grid::find_fusionops_task(task->string()) != nullptr;
  }
  return grid ? start_grid(fields) : start_walk(fields);
}

Started EpisodeMaker::start_walk(const JsonField& fields) {
  WalkEpisodeOptions options{.rules = {.rules = limits_.rules}, .hint_steps = limits_.hint_steps};
  if (const auto rules = given(fields, "rules")) {
    const auto named = walk::parse_rules(rules->string());
    if (!named || *named == walk::Rules::physical)
      rules->refuse("has no episodes of walk graphs", "seed or seed-honest");
    options.rules.rules = *named;
  }
  if (const auto cost = given(fields, "retention_cost")) options.retention_cost = cost->number(0, 1e6);
  options.rules.max_steps = max_steps_of(fields, 0);
  if (const auto lookahead = given(fields, "lookahead"))
    options.rules.lookahead = static_cast<int>(lookahead->integer(0, limits_.max_ops));

  Started started;
  std::shared_ptr<const walk::EpisodeContext> context;
  const auto own = [&](Workload workload) {
    started.name = workload.name;
    context = std::make_shared<const walk::EpisodeContext>(std::move(workload));
  };
  if (const auto graph = given(fields, "graph")) {
    const std::size_t nodes = graph->required("nodes").array_size();
    if (nodes > static_cast<std::size_t>(limits_.max_ops))
      graph->refuse(fmt::format("has {} nodes", nodes), fmt::format("at most {}", limits_.max_ops));
    own(read_graph(*graph, "graph"));
  } else if (wants_random(fields)) {
    started.seed = seed_of(fields);
    PythonRandom random(started.seed);
    // As in the environment one of them alone doesn't count; it must be right all the same.
    const auto ops_field = given(fields, "num_ops");
    const auto difficulty_field = given(fields, "difficulty");
    std::optional<int> ops;
    std::optional<walk::Difficulty> difficulty;
    if (ops_field) ops = static_cast<int>(ops_field->integer(1, limits_.max_ops));
    if (difficulty_field) difficulty = difficulty_of(*difficulty_field);
    if (ops && difficulty) {
      own(walk::generate({.num_ops = *ops, .difficulty = *difficulty}, random));
    } else {
      const auto level = given(fields, "curriculum_level");
      own(walk::generate_curriculum(level ? level->number(0, 1) : 0.5, random));
    }
  } else {
    const auto task = given(fields, "task");
    const std::string name = task ? task->string() : std::string(walk::tasks().front().name);
    if (!walk::find_task(name)) task->refuse("is unknown", "a task that GET /tasks lists");
    started.name = name;
    context = task_context(name);
  }
  started.episode = live_episode(std::move(context), options);
  return started;
}

Started EpisodeMaker::start_grid(const JsonField& fields) {
  GridEpisodeOptions options;
  if (const auto rules = given(fields, "rules")) {
    const auto named = grid::parse_rule_set(rules->string());
    if (!named || *named == grid::RuleSet::mlsys)
      rules->refuse("has no episodes of grid problems", "fusionops or fusionops-honest");
    options.rules = *named;
  }
  Started started;
  std::shared_ptr<const grid::Instance> instance;
  int steps = usual_grid_steps;
  if (const auto graph = given(fields, "graph")) {
    instance = std::make_shared<const grid::Instance>(grid::read_problem(*graph));
    if (instance->op_count() > limits_.max_ops)
      graph->refuse(fmt::format("has {} ops", instance->op_count()),
                    fmt::format("at most {}", limits_.max_ops));
    const std::string source = fmt::format("{}: {}", graph->source(), graph->path());
    grid::check_shapes(*instance, {.set = options.rules}, source);
    started.warning = grid::shape_warning(*instance, {.set = options.rules}, source);
    started.name = "problem";
    steps = std::max(steps, 2 * instance->op_count());
  } else if (wants_random(fields)) {
    started.seed = seed_of(fields);
    const auto ops = given(fields, "num_ops");
    grid::GeneratorOptions generator;
    generator.network = grid::Network::mixed;
    generator.ops = ops ? static_cast<int>(ops->integer(1, limits_.max_ops)) : 16;
    generator.seed = started.seed;
    instance = std::make_shared<const grid::Instance>(grid::generate(generator));
    started.name = fmt::format("mixed_n{}_s{}", generator.ops, generator.seed);
    steps = std::max(steps, 2 * instance->op_count());
  } else {
    const auto task = given(fields, "task");
    const std::string name = task ? task->string() : std::string(grid::fusionops_tasks().front().name);
    const grid::FusionopsTask* found = grid::find_fusionops_task(name);
    if (found == nullptr) task->refuse("is unknown", "a task that GET /tasks lists");
    // The tasks live as long as the program.
    instance = std::shared_ptr<const grid::Instance>(&found->instance, [](const grid::Instance*) {});
    started.name = name;
    steps = found->max_steps;
  }
  options.max_steps = max_steps_of(fields, steps);
  if (const auto again = given(fields, "allow_recomputation")) options.allow_recomputation = again->boolean();
  started.episode = live_episode(std::move(instance), options);
  return started;
}

}  // namespace fuselage::serve
