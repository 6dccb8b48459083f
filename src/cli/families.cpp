#include "families.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/problem_json.h"
#include "fuselage/grid/shapes.h"
#include "fuselage/walk/tasks.h"
#include "options.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

std::string all_task_names() {
  std::vector<std::string_view> names;
  for (const walk::TaskSpec& task : walk::tasks()) names.push_back(task.name);
  for (const grid::FusionopsTask& task : grid::fusionops_tasks()) names.push_back(task.name);
  return join_names(names);
}

Family family_of(const AnyRules& rules) {
  return std::holds_alternative<walk::Rules>(rules) ? Family::walk : Family::grid;
}

// None: the reader's error says what is missing.
std::optional<Family> family_of_text(std::string_view text) {
  if (has_field(text, "nodes")) return Family::walk;
  if (has_field(text, "op_types") || has_field(text, "widths")) return Family::grid;
  return std::nullopt;
}

std::optional<Family> family_of(const TargetText& target) {
  if (target.text) return family_of_text(*target.text);
  if (target.target == "all") return std::nullopt;
  return grid::find_fusionops_task(target.target) != nullptr ? Family::grid : Family::walk;
}

TargetText load(const std::string& target) {
  const bool task =
      target == "all" || walk::find_task(target).has_value() || grid::find_fusionops_task(target) != nullptr;
  if (task) return {.target = target};
  if (!looks_like_a_file(target))
    fail("{} is no task and no file; expected one of all, {}, a JSON file, or - for stdin", quote(target),
         all_task_names());
  return {.target = target, .text = read_file(target)};
}

// "--family grid", or "--rules mlsys": what asks for the family.
std::string asked_by(const FamilyOptions& options) {
  if (options.family) return fmt::format("--family {}", name(*options.family));
  return fmt::format("--rules {}", name(options.rules.front()));
}

Family family_of(const std::vector<TargetText>& targets, const FamilyOptions& options) {
  std::optional<Family> family = options.wanted();
  std::string because = family ? asked_by(options) : "";
  for (const TargetText& target : targets) {
    const std::optional<Family> one = family_of(target);
    if (one && family && *one != *family)
      fail("{} is of the {} family, but {} of the {} family; expected the same of all", target.target,
           name(*one), because, name(*family));
    if (!one || family) continue;
    family = one;
    because = target.target;
  }
  return family.value_or(Family::walk);
}

std::string problem_name(const std::string& source) {
  const std::string stem = std::filesystem::path(source).stem().string();
  return is_name(stem) ? stem : "problem";
}

void read_problems(const TargetText& target, std::vector<GridTarget>& out) {
  if (target.text) {
    const std::string source = source_name(target.target);
    out.push_back({.name = problem_name(source),
                   .instance = grid::read_problem(*target.text, source),
                   .source = source});
    return;
  }
  for (const grid::FusionopsTask& task : grid::fusionops_tasks())
    if (target.target == "all" || target.target == task.name)
      out.push_back({.name = std::string(task.name), .instance = task.instance, .is_task = true});
}

}  // namespace

bool has_field(std::string_view text, std::string_view field) {
  const std::string key = fmt::format("\"{}\"", field);
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t after = text.find_first_not_of(" \t\r\n", at + key.size());
    if (after != std::string_view::npos && text[after] == ':') return true;
  }
  return false;
}

std::string_view name(const AnyRules& rules) {
  if (const auto* walk = std::get_if<walk::Rules>(&rules)) return name(*walk);
  return name(std::get<grid::RuleSet>(rules));
}

AnyRules parse_any_rules(std::string_view option, std::string_view text) {
  if (const auto rules = walk::parse_rules(text)) return *rules;
  if (const auto rules = grid::parse_rule_set(text)) return *rules;
  fail("{}: {} is unknown; expected one of {} for walk graphs, {} for grid problems", option, quote(text),
       join_names(walk::rules_names), join_names(grid::rule_set_names));
}

std::optional<Family> FamilyOptions::wanted() const {
  std::optional<Family> result = family;
  for (const AnyRules& one : rules) {
    const Family of_rules = family_of(one);
    if (result && *result != of_rules)
      fail("--rules: {} is of the {} family, {} of the other; expected rules of one family", name(one),
           name(of_rules), family ? asked_by(*this) : name(rules.front()));
    result = of_rules;
  }
  return result;
}

std::optional<std::string_view> FamilyOptions::mlsys_flag() const {
  for (const std::string_view flag : {"--compute", "--co-consumers"})
    if (app->count(std::string(flag)) > 0) return flag;
  return std::nullopt;
}

void add_family_option(CLI::App& app, FamilyOptions& options) {
  options.app = &app;
  const auto set = [&options](const std::string& text) {
    options.family = static_cast<Family>(read_choice("--family", text, family_names));
  };
  add_form(app,
           {"--family", "FAMILY",
            "walk or grid: whose tasks 'all' stands for (default: walk); files say it\nthemselves"},
           set);
}

void add_family_options(CLI::App& app, FamilyOptions& options) {
  add_family_option(app, options);
  add_choice(app,
             {"--compute", "WHAT",
              "mlsys: a matmul's k-step costs base * k / K (k, default) or / native\nwidth (native-k)"},
             grid::compute_names, options.compute);
  app.add_flag("--co-consumers", options.co_consumers,
               "mlsys: ops that only share an input may form a kernel");
}

AnyTargets read_any_targets(const TargetOptions& options, const FamilyOptions& family) {
  family.wanted();  // refuses before anything is read
  std::vector<TargetText> texts;
  for (const std::string& target : options.targets) texts.push_back(load(target));
  AnyTargets targets{.family = family_of(texts, family)};
  if (targets.family == Family::walk) {
    targets.workloads = read_targets(options, texts);
  } else {
    for (const TargetText& text : texts) read_problems(text, targets.problems);
  }
  return targets;
}

grid::Rules grid_rules_of(const GridTarget& target, const FamilyOptions& options,
                          const std::optional<grid::RuleSet>& set) {
  const grid::RuleSet usual = target.is_task ? grid::RuleSet::fusionops_honest : grid::RuleSet::mlsys;
  const grid::RuleSet chosen = set.value_or(usual);
  if (const auto flag = options.mlsys_flag(); flag && chosen != grid::RuleSet::mlsys)
    fail("{}: does not exist under the rules {}, which {} is under; expected --rules mlsys with it", *flag,
         name(chosen), target.name);
  return {.set = chosen, .compute = options.compute, .co_consumers = options.co_consumers};
}

void check_grid_shapes(const grid::Instance& instance, const grid::Rules& rules, const std::string& source) {
  grid::check_shapes(instance, rules, source);
  const std::string warning = grid::shape_warning(instance, rules, source);
  if (!warning.empty()) print_note(warning);
}

void check_grid_shapes(const GridTarget& target, const grid::Rules& rules) {
  if (!target.is_task) check_grid_shapes(target.instance, rules, target.source);
}

void refuse_options(const CLI::App& app, const std::vector<std::string_view>& flags, std::string_view why) {
  for (const std::string_view flag : flags)
    if (app.count(std::string(flag)) > 0) fail("{}: {}", flag, why);
}

}  // namespace fuselage::cli
