// The search problem under the fusionops rules: what is in fast memory counts whether it is read or not, a
// step without ops drops it, and storing is a choice.
#include "problem_fusionops.h"

#include <algorithm>
#include <cstddef>

#include "fuselage/core/error.h"
#include "fuselage/grid/problem.h"
#include "fusionops_kernel.h"
#include "fusionops_parts.h"

namespace fuselage::grid {
namespace {

constexpr int most_whole_ops = 16;
constexpr int whole_retained = 3;

// What a kernel with this op is charged for loading the tensor in the role that the op gives it. Its grid
// covers the op's outputs, and its K is no less than the op's.
double least_load(const Instance& instance, const Op& op, TensorId id) {
  const auto size = static_cast<double>(instance.tensor(id).size());
  std::int64_t width = 0;
  std::int64_t height = 0;
  for (const TensorId out : op.outputs) {
    width = std::max(width, instance.tensor(out).width);
    height = std::max(height, instance.tensor(out).height);
  }
  const std::int64_t reduction = instance.tensor(op.inputs.front()).width;
  switch (fusionops_parts::role_in(op, id)) {
    case fusionops_parts::Role::pointwise:
      return fusionops_parts::area(width, height);
    case fusionops_parts::Role::lhs:
      return std::min(size, fusionops_parts::area(reduction, height));
    case fusionops_parts::Role::rhs:
      return fusionops_parts::area(width, reduction);
  }
  return 0;
}

}  // namespace

double least_moved(const Instance& instance, const Rules& rules, TensorId id) {
  const auto size = static_cast<double>(instance.tensor(id).size());
  if (instance.is_output(id)) return rules.set == RuleSet::fusionops ? 0 : size;
  const auto readers = instance.consumers(id);
  if (!instance.is_input(id) || readers.empty()) return 0;
  if (rules.set == RuleSet::mlsys) return size;
  double least = least_load(instance, instance.op(readers.front()), id);
  for (const OpId reader : readers) least = std::min(least, least_load(instance, instance.op(reader), id));
  return least;
}

Kernel dropping_step(const Machine& machine) {
  return {.ops = {}, .granularity = {.w = machine.native_width, .h = machine.native_height, .k = 1}};
}

std::vector<OpId> step_order(const Instance& instance, std::span<const OpId> ops, int order) {
  return fusionops_parts::role_orders(instance, ops).at(static_cast<std::size_t>(order));
}

GridProblem::Residency GridProblem::residency(const State& s, const Group& group) const {
  Residency found{.read = resident_mask(s, group)};
  if (s.resident.empty()) return found;
  std::int64_t all = 0;
  bool within_reach = true;  // what the group reads has its bit
  for (const TensorId t : s.resident) {
    const auto at = std::find(group.inputs.begin(), group.inputs.end(), t) - group.inputs.begin();
    const std::int64_t size = instance_->tensor(t).size();
    all += size;
    if (at == static_cast<std::ptrdiff_t>(group.inputs.size()))
      found.beside += size;
    else
      within_reach = within_reach && at < 64;
  }
  found.keeps = within_reach && (!contest() || found.beside == 0);
  if (contest() || all > instance_->machine().capacity) return found;
  found.drops = std::all_of(group.inputs.begin(), group.inputs.end(), [&](TensorId t) {
    return forgiving() || instance_->is_input(t) || s.stored.has(t);
  });
  return found;
}

GridProblem::Setting GridProblem::cheapest(const Group& group, const Residency& residency,
                                           std::uint64_t retained) const {
  Setting setting;
  if (residency.keeps)
    setting = {groups_.best(group, residency.read, retained, residency.beside), residency.read, false};
  if (!residency.drops) return setting;
  const KernelPricer::Best anew = groups_.best(group, 0, retained);
  if (anew.cost.latency < setting.best.cost.latency) setting = {anew, 0, true};
  return setting;
}

// Sinks that need not be stored: under `fusionops` all, else those that are stored already or that nothing
// will read.
std::uint64_t GridProblem::idle_sinks(const State& s, const Group& group) const {
  std::uint64_t idle = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(64, group.made.size()); ++i) {
    const TensorId t = group.made[i];
    const auto readers = instance_->consumers(t);
    const bool read = instance_->is_output(t) || std::any_of(readers.begin(), readers.end(),
                                                             [&](OpId op) { return !s.covered.has(op); });
    if (group.shape().is_sink(i) && (forgiving() || s.stored.has(t) || !read)) idle |= std::uint64_t{1} << i;
  }
  return idle;
}

// A group is listed with the first of its ops that is a start.
void GridProblem::list_steps(const State& s, std::vector<Kernel>& out) const {
  Bits begun(instance_->op_count());
  int starts = 0;
  for (OpId op : open_ops(s)) {
    if (!is_start(s, op)) continue;
    const bool beside = !whole_ && starts >= options_.starts;
    if (beside && s.resident.empty()) break;
    const std::size_t before = out.size();
    for (const Group* group : groups_at(op)) {
      const bool listed =
          std::any_of(group->ops.begin(), group->ops.end(), [&](OpId o) { return begun.has(o); });
      if (listed || !runnable(s, *group) || (beside && resident_mask(s, *group) == 0)) continue;
      list_step_retains(s, *group, out);
    }
    begun.add(op);
    if (out.size() > before) ++starts;
  }
}

// Nothing, or all that need not be stored, and with either a few tensors that somebody may read next.
void GridProblem::list_step_retains(const State& s, const Group& group, std::vector<Kernel>& out) const {
  const Residency found = residency(s, group);
  const std::uint64_t idle = idle_sinks(s, group);
  std::vector<std::uint64_t> worth;
  for (std::size_t i = 0; i < std::min<std::size_t>(64, group.made.size()); ++i) {
    const TensorId t = group.made[i];
    if (instance_->tensor(t).size() > instance_->machine().capacity) continue;
    const auto readers = instance_->consumers(t);
    const bool next = std::any_of(readers.begin(), readers.end(), [&](OpId op) {
      return !s.covered.has(op) && std::find(group.ops.begin(), group.ops.end(), op) == group.ops.end();
    });
    if (next || (whole_ && (!readers.empty() || (idle >> i & 1U)))) worth.push_back(std::uint64_t{1} << i);
  }
  const int most = whole_ ? std::max(whole_retained, options_.most_retained) : options_.most_retained;
  std::vector<std::uint64_t> sets = {0};
  std::size_t begin = 0;
  for (int size = 1; size <= most; ++size) {
    const std::size_t end = sets.size();
    for (std::size_t i = begin; i < end; ++i)
      for (const std::uint64_t bit : worth)
        if (bit > sets[i]) sets.push_back(sets[i] | bit);
    begin = end;
  }
  for (std::size_t i = sets.size(); idle != 0 && i-- > 0;)
    if ((sets[i] & idle) == 0) sets.push_back(sets[i] | idle);
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  for (const std::uint64_t retained : sets)
    if (makes_progress(s, group, retained) && cheapest(group, found, retained).best.cost.legal())
      out.push_back({&group, retained});
}

void GridProblem::list_whole_catalogue() {
  const int count = instance_->op_count();
  if (count > most_whole_ops)
    fail("whole_ops: {} ops are too many to declare every group of; expected at most {}", count,
         most_whole_ops);
  whole_ = true;
  std::vector<std::pair<double, const Group*>> found;  // saving against single ops
  for (std::uint32_t set = 1; set < std::uint32_t{1} << count; ++set) {
    std::vector<OpId> ops;
    double alone = 0;
    for (OpId op = 0; op < count; ++op)
      if (set >> op & 1U) {
        ops.push_back(op);
        alone += groups_.of(std::span(&op, 1)).cost;
      }
    if (const Group& group = groups_.of(ops); group.usable) found.emplace_back(alone - group.cost, &group);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  catalogue_.assign(static_cast<std::size_t>(count), {});
  for (const auto& [saving, group] : found)
    for (const OpId op : group->ops) catalogue_[static_cast<std::size_t>(op)].push_back(group);
}

}  // namespace fuselage::grid
