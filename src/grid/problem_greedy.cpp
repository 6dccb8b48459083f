// Complete plans in one pass.
#include <algorithm>
#include <limits>
#include <optional>

#include "fuselage/grid/problem.h"

namespace fuselage::grid {

// Does the group leave inside what others still need, and its maker can't run again for it alone?
bool GridProblem::buries(const State& s, const Group& group) const {
  for (std::size_t i = 0; i < group.made.size(); ++i) {
    const TensorId t = group.made[i];
    if (group.shape().is_sink(i) || settled(s, t)) continue;
    const auto readers = instance_->consumers(t);
    const bool needed =
        instance_->is_output(t) || std::any_of(readers.begin(), readers.end(), [&](OpId op) {
          return !s.covered.has(op) && std::find(group.ops.begin(), group.ops.end(), op) == group.ops.end();
        });
    if (!needed) continue;
    for (TensorId from : instance_->op(instance_->producer(t)).inputs)
      if (!available(s, from)) return true;
  }
  return false;
}

std::vector<GridKernel> GridProblem::greedy(const Deadline& deadline) const {
  std::vector<Kernel> plan;
  std::vector<Kernel> kernels;
  State s = initial();
  while (s.progress < horizon_) {
    if (deadline.passed()) return naive();
    this->kernels(s, kernels);
    double best = std::numeric_limits<double>::infinity();
    std::optional<Kernel> chosen;
    for (const Kernel& k : kernels) {
      if (k.retained != 0 || buries(s, *k.group)) continue;
      double worth = price(s, k);
      for (OpId op : k.group->ops)
        if (!s.covered.has(op)) worth -= share_[static_cast<std::size_t>(op)];
      if (worth < best) {
        best = worth;
        chosen = k;
      }
    }
    if (!chosen) return naive();  // not one op of the window can run
    s = apply(s, *chosen);
    plan.push_back(*chosen);
  }
  return plan;
}

std::vector<GridKernel> GridProblem::naive() const {
  std::vector<Kernel> plan;
  for (OpId op : instance_->order()) plan.push_back({&groups_.of(std::span(&op, 1)), 0});
  return plan;
}

}  // namespace fuselage::grid
