#include "fuselage/oracle/label_grid.h"

#include <algorithm>
#include <limits>
#include <set>

#include "fuselage/grid/fusionops.h"
#include "fuselage/oracle/grid_decisions.h"
#include "grid_labeller.h"

namespace fuselage::oracle {

std::optional<LabelledGraph> label_grid(const std::string& name, const grid::Instance& instance,
                                        const grid::Rules& rules, const GridLabelOptions& options) {
  GridLabeller labeller(name, instance, rules, options);
  if (!labeller.run()) return std::nullopt;
  return labeller.take();
}

int grid_max_steps(const grid::Instance& instance, const grid::Rules& rules) {
  if (rules.set == grid::RuleSet::mlsys) return std::numeric_limits<int>::max();
  const std::string line = problem_line(instance);
  for (const grid::FusionopsTask& task : grid::fusionops_tasks())
    if (problem_line(task.instance) == line) return task.max_steps;
  constexpr int least = 20;
  return std::max(least, 2 * instance.op_count());
}

bool is_grid_task(const grid::Instance& instance) {
  static const std::set<std::string> hashes = [] {
    std::set<std::string> all;
    for (const grid::FusionopsTask& task : grid::fusionops_tasks()) all.insert(grid_hash(task.instance));
    return all;
  }();
  return hashes.contains(grid_hash(instance));
}

}  // namespace fuselage::oracle
