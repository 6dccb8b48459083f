// Which family of problems a command line is about. Walk graphs and grid problems have rules, options and
// reports of their own, so a command is about one of them: the one that its targets belong to, which --family
// and --rules have to agree with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"
#include "fuselage/walk/rules.h"
#include "targets.h"

namespace fuselage::cli {

enum class Family : std::uint8_t { walk, grid };
inline constexpr std::array<std::string_view, 2> family_names = {"walk", "grid"};
constexpr std::string_view name(Family family) {
  return family_names[static_cast<std::size_t>(family)];
}

// A rule set of either family.
using AnyRules = std::variant<walk::Rules, grid::RuleSet>;
std::string_view name(const AnyRules& rules);
// Error for any other name; `option` is what the message calls it.
AnyRules parse_any_rules(std::string_view option, std::string_view text);

// What the command line says of the family.
struct FamilyOptions {
  std::optional<Family> family = {};  // --family
  std::vector<AnyRules> rules = {};   // --rules
  grid::Compute compute = grid::Compute::k;
  bool co_consumers = false;
  const CLI::App* app = nullptr;  // whose options these are

  std::optional<Family> wanted() const;  // Error if --family and --rules disagree
  // "--compute", "--co-consumers": one that was given.
  std::optional<std::string_view> mlsys_flag() const;
};

// --family alone. `options` must live as long as `app`.
void add_family_option(CLI::App& app, FamilyOptions& options);
// --family, --compute and --co-consumers. `options` must live as long as `app`.
void add_family_options(CLI::App& app, FamilyOptions& options);

// A grid problem, and whether it is one of the tasks of fusionops.
struct GridTarget {
  std::string name;
  grid::Instance instance;
  bool is_task = false;
  std::string source = {};  // of a file, for messages
};

struct AnyTargets {
  Family family = Family::walk;
  std::vector<Workload> workloads = {};   // of the walk family
  std::vector<GridTarget> problems = {};  // of the grid family
};

// Tells a file by its fields: a grid problem has "widths" and "op_types", a walk graph "nodes". "all" stands
// for the tasks of the family that is wanted, the walk family's if none is. Error for targets of both
// families, and of another than the one that is wanted.
AnyTargets read_any_targets(const TargetOptions& options, const FamilyOptions& family);

// Does the text have an object with this field? Told without reading it, so that the reader of the family can
// say what is wrong with the rest.
bool has_field(std::string_view text, std::string_view field);

// The rules of a problem: `set`, or what its kind calls for: fusionops-honest for a task, mlsys for a file.
// Error for a flag that the rules don't have.
grid::Rules grid_rules_of(const GridTarget& target, const FamilyOptions& options,
                          const std::optional<grid::RuleSet>& set);

// Error for a problem whose shapes the rules refuse; a note for one that they let pass all the same.
void check_grid_shapes(const grid::Instance& instance, const grid::Rules& rules, const std::string& source);
void check_grid_shapes(const GridTarget& target, const grid::Rules& rules);

// Why an option is refused.
inline constexpr std::string_view only_mlsys =
    "is about grid problems under --rules mlsys; expected no such option with walk graphs";
inline constexpr std::string_view only_walk_machines =
    "is about walk graphs; expected no such option with a grid problem, which has its machine in its file";

// Error, "FLAG: why", if one of the options was given.
void refuse_options(const CLI::App& app, const std::vector<std::string_view>& flags, std::string_view why);

}  // namespace fuselage::cli
