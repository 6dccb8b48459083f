#include "fuselage/grid/problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "arithmetic.h"
#include "fuselage/core/error.h"
#include "least_charge.h"
#include "problem_fusionops.h"

namespace fuselage::grid {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Keys of stored and resident tensors must differ.
std::uint64_t resident_hash(std::uint64_t hash) {
  return scrambled(hash ^ 0x5851f42d4c957f2dULL);
}

// No kernel runs the op for less: at native size, all of its output at least once.
double least_compute(const Instance& instance, const Rules& rules, OpId id) {
  const Op& op = instance.op(id);
  if (rules.set != RuleSet::mlsys) return op.base_cost;  // a tile may be larger than native
  const Machine& machine = instance.machine();
  const Tensor& out = instance.tensor(op.outputs[0]);
  const double rows = static_cast<double>(out.height) / static_cast<double>(machine.native_height);
  const double columns = static_cast<double>(out.width) / static_cast<double>(machine.native_width);
  if (op.kind == OpKind::pointwise) return op.base_cost * std::ceil(rows) * std::ceil(columns);
  const double depth = static_cast<double>(instance.tensor(op.inputs[0]).width);
  const double steps = rules.compute == Compute::k ? 1 : depth / static_cast<double>(machine.native_width);
  return op.base_cost * steps * rows * columns;
}

// The judge adds up as many.
std::size_t iterations(const Shape& shape, const Granularity& g) {
  std::int64_t reduction = 1;
  for (const std::int64_t k : shape.reductions()) reduction = std::max(reduction, k);
  return static_cast<std::size_t>(ceil_div(shape.width(), g.w) * ceil_div(shape.height(), g.h) *
                                  ceil_div(reduction, g.k));
}

}  // namespace

GridProblem::GridProblem(const Instance& instance, const Rules& rules, const SpaceOptions& options,
                         const std::function<bool()>& stop)
    : instance_(&instance), options_(options), groups_(instance, rules) {
  horizon_ = instance.op_count();
  tensor_hash_.resize(static_cast<std::size_t>(instance.tensor_count()));
  for (TensorId t = 0; t < instance.tensor_count(); ++t) {
    tensor_hash_[static_cast<std::size_t>(t)] = scrambled(0x100000000ULL + static_cast<std::uint64_t>(t));
    least_moved_.push_back(least_moved(instance, rules, t));
    if (!instance.is_input(t)) ++horizon_;
  }
  for (OpId op = 0; op < instance.op_count(); ++op) {
    least_compute_.push_back(least_compute(instance, rules, op));
    const Group& alone = groups_.of(std::span(&op, 1));
    if (!alone.usable)
      fail("op {} alone fits fast memory of {} elements at no granularity; expected a larger capacity", op,
           instance.machine().capacity);
    alone_.push_back(alone.cost);
    additions_ = std::max(additions_, iterations(alone.shape(), groups_.best(alone, 0, 0).granularity));
  }
  additions_ += static_cast<std::size_t>(horizon_);
  charge_.assign(static_cast<std::size_t>(instance.op_count()), 0.0);
  if (rules.set == RuleSet::mlsys && options.tight_bound) charge_ = least_charges(instance, rules, stop);
  grow_catalogue(stop);
  share_costs();
}

State GridProblem::initial() const {
  State s;
  s.covered = Bits(instance_->op_count());
  s.stored = Bits(instance_->tensor_count());
  for (double c : least_compute_) s.compute += c;
  for (double c : charge_) s.charges += c;
  for (double c : share_) s.shares += c;
  for (double elements : least_moved_) s.traffic += elements;
  return s;
}

bool GridProblem::available(const State& s, TensorId t) const {
  return instance_->is_input(t) || s.stored.has(t) ||
         (forgiving() && s.covered.has(instance_->producer(t))) ||
         std::find(s.resident.begin(), s.resident.end(), t) != s.resident.end();
}

// May something still read the tensor? An op that has not run, or one that would run again for an output that
// is itself needed and was never stored.
bool GridProblem::live(const State& s, TensorId t) const {
  TensorList open = {t};  // each once: residuals lead to the same tensors on very many ways
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (instance_->is_output(open[i])) return true;
    for (OpId reader : instance_->consumers(open[i])) {
      if (!s.covered.has(reader)) return true;
      for (TensorId u : instance_->op(reader).outputs)
        if (!s.stored.has(u) && std::find(open.begin(), open.end(), u) == open.end()) open.push_back(u);
    }
  }
  return false;
}

bool GridProblem::settled(const State& s, TensorId t) const {
  if (s.stored.has(t)) return true;
  if (forgiving()) return s.covered.has(instance_->producer(t));
  const auto readers = instance_->consumers(t);
  return !instance_->is_output(t) &&
         std::all_of(readers.begin(), readers.end(), [&](OpId op) { return s.covered.has(op); });
}

bool GridProblem::runnable(const State& s, const Group& group) const {
  for (TensorId t : group.inputs)
    if (!available(s, t)) return false;
  return makes_progress(s, group, 0);
}

bool GridProblem::makes_progress(const State& s, const Group& group, std::uint64_t retained) const {
  for (OpId op : group.ops)
    if (!s.covered.has(op)) return true;
  for (std::size_t i = 0; i < group.made.size(); ++i)
    if (group.shape().is_sink(i) && !(i < 64 && (retained >> i & 1U)) && !settled(s, group.made[i]))
      return true;
  return false;
}

std::uint64_t GridProblem::resident_mask(const State& s, const Group& group) const {
  std::uint64_t mask = 0;
  if (s.resident.empty()) return mask;
  for (std::size_t i = 0; i < std::min<std::size_t>(64, group.inputs.size()); ++i)
    if (std::find(s.resident.begin(), s.resident.end(), group.inputs[i]) != s.resident.end())
      mask |= std::uint64_t{1} << i;
  return mask;
}

double GridProblem::price(const State& s, const Kernel& k) const {
  if (!makes_progress(s, *k.group, k.retained)) return infinity;
  return cheapest(*k.group, residency(s, *k.group), k.retained).best.cost.latency;
}

State GridProblem::apply(const State& s, const Kernel& k) const {
  const Group& group = *k.group;
  State next = s;
  std::vector<TensorId> touched(group.inputs.begin(), group.inputs.end());
  touched.insert(touched.end(), group.made.begin(), group.made.end());
  for (TensorId t : touched)
    if (!instance_->is_input(t) && settled(s, t)) --next.progress;
  for (TensorId t : next.resident) next.key ^= resident_hash(tensor_hash_[static_cast<std::size_t>(t)]);
  next.resident.clear();
  for (OpId op : group.ops) {
    if (next.covered.has(op)) continue;
    next.covered.add(op);
    next.key ^= groups_.hash(op);
    next.compute -= least_compute_[static_cast<std::size_t>(op)];
    next.charges -= charge_[static_cast<std::size_t>(op)];
    next.shares -= share_[static_cast<std::size_t>(op)];
    ++next.progress;
  }
  const auto store = [&](TensorId t) {
    if (forgiving() || next.stored.has(t)) return;
    next.stored.add(t);
    next.key ^= tensor_hash_[static_cast<std::size_t>(t)];
    if (instance_->is_output(t)) next.traffic -= least_moved_[static_cast<std::size_t>(t)];
  };
  for (std::size_t i = 0; i < group.made.size(); ++i) {
    if (i < 64 && (k.retained >> i & 1U))
      next.resident.push_back(group.made[i]);
    else if (group.shape().is_sink(i))
      store(group.made[i]);
  }
  std::sort(next.resident.begin(), next.resident.end());
  for (TensorId t : next.resident) next.key ^= resident_hash(tensor_hash_[static_cast<std::size_t>(t)]);
  for (TensorId t : touched)
    if (!instance_->is_input(t) && settled(next, t)) ++next.progress;
  for (TensorId t : group.inputs) {
    const auto readers = instance_->consumers(t);
    const auto done = [&](const State& at) {
      return std::all_of(readers.begin(), readers.end(), [&](OpId op) { return at.covered.has(op); });
    };
    if (instance_->is_input(t) && done(next) && !done(s))
      next.traffic -= least_moved_[static_cast<std::size_t>(t)];
  }
  while (next.first < instance_->op_count() && is_over(next, open_ops(next).front())) ++next.first;
  if (forgiving()) return next;
  // What was stored and is of no use any more is forgotten: states with one future are equal.
  for (std::size_t i = 0; i < touched.size(); ++i) {
    const TensorId t = touched[i];
    if (instance_->is_input(t)) continue;
    const bool alive = live(next, t);
    if (next.stored.has(t) && !alive) {
      next.stored.remove(t);
      next.key ^= tensor_hash_[static_cast<std::size_t>(t)];
    }
    if (alive && !next.stored.has(t)) continue;
    // Its maker need not run again for it.
    for (TensorId u : instance_->op(instance_->producer(t)).inputs)
      if (!instance_->is_input(u) && next.stored.has(u) &&
          std::find(touched.begin(), touched.end(), u) == touched.end())
        touched.push_back(u);
  }
  return next;
}

double GridProblem::bound(const State& s) const {
  if (s.progress == horizon_) return 0;
  return std::max({0.0, s.compute, s.charges, s.traffic / instance_->machine().bandwidth});
}

// Neither an op nor what it made is left to be done: that never changes again.
bool GridProblem::is_over(const State& s, OpId op) const {
  if (!s.covered.has(op)) return false;
  const auto& outputs = instance_->op(op).outputs;
  return std::all_of(outputs.begin(), outputs.end(), [&](TensorId t) { return settled(s, t); });
}

std::span<const OpId> GridProblem::open_ops(const State& s) const {
  const auto rest = instance_->order().subspan(static_cast<std::size_t>(s.first));
  return rest.first(std::min(rest.size(), options_.window));
}

bool GridProblem::is_start(const State& s, OpId op) const {
  bool wanted = !s.covered.has(op);
  if (!wanted)
    for (TensorId t : instance_->op(op).outputs) wanted = wanted || (!settled(s, t) && live(s, t));
  const auto& inputs = instance_->op(op).inputs;
  return wanted && std::all_of(inputs.begin(), inputs.end(), [&](TensorId t) {
           return instance_->is_input(t) || s.covered.has(instance_->producer(t));
         });
}

bool GridProblem::kernels(const State& s, std::vector<Kernel>& out) const {
  out.clear();
  if (!contest()) {
    list_steps(s, out);
    return false;
  }
  int starts = 0;
  for (OpId op : open_ops(s)) {
    if (!is_start(s, op)) continue;
    const std::size_t before = out.size();
    const bool beside = starts >= options_.starts;
    for (const Group* group : groups_at(op)) {
      const auto named = [&](const Kernel& k) { return k.group == group; };
      if (!runnable(s, *group) || std::find_if(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(before),
                                               named) != out.begin() + static_cast<std::ptrdiff_t>(before))
        continue;
      const auto used = static_cast<std::size_t>(__builtin_popcountll(resident_mask(s, *group)));
      if (used != s.resident.size() || (beside && used == 0)) continue;
      list_retains(s, *group, out);
    }
    // Whether larger groups fit is not to decide where kernels start: more capacity would mean fewer starts.
    if (runnable(s, groups_.of(std::span(&op, 1)))) ++starts;
    if (starts >= options_.starts && s.resident.empty()) break;
  }
  return false;
}

// The ways to run a group: with nothing retained, and with what an op outside it would read next.
void GridProblem::list_retains(const State& s, const Group& group, std::vector<Kernel>& out) const {
  const std::uint64_t resident = resident_mask(s, group);
  std::vector<std::size_t> worth;
  for (std::size_t i = 0; i < std::min<std::size_t>(64, group.made.size()); ++i) {
    const TensorId t = group.made[i];
    if (instance_->is_output(t) || instance_->tensor(t).size() > instance_->machine().capacity) continue;
    for (OpId reader : instance_->consumers(t))
      if (!s.covered.has(reader) &&
          std::find(group.ops.begin(), group.ops.end(), reader) == group.ops.end()) {
        worth.push_back(i);
        break;
      }
  }
  const auto add = [&](std::uint64_t retained) {
    if (makes_progress(s, group, retained) && groups_.best(group, resident, retained).cost.legal())
      out.push_back({&group, retained});
  };
  add(0);
  if (options_.most_retained < 1) return;
  for (std::size_t a = 0; a < worth.size(); ++a) {
    add(std::uint64_t{1} << worth[a]);
    if (options_.most_retained < 2) continue;
    for (std::size_t b = a + 1; b < worth.size(); ++b)
      add(std::uint64_t{1} << worth[a] | std::uint64_t{1} << worth[b]);
  }
}

std::optional<GridKernel> GridProblem::refit(const State& s, const Kernel& k) const {
  if (!k.group->usable || !runnable(s, *k.group) || price(s, k) == infinity) return std::nullopt;
  return k;
}

Plan GridProblem::plan_of(std::span<const Kernel> kernels) const {
  Plan plan;
  State s = initial();
  for (const Kernel& k : kernels) {
    const Setting setting = cheapest(*k.group, residency(s, *k.group), k.retained);
    if (setting.drops) plan.kernels.push_back(dropping_step(instance_->machine()));
    const KernelPricer::Best& best = setting.best;
    const Shape shape(*instance_, rules(), k.group->ops);
    plan.kernels.push_back(kernel_of(shape, {.granularity = best.granularity,
                                             .traversal = best.traversal,
                                             .resident = setting.resident,
                                             .retained = k.retained}));
    if (!contest()) plan.kernels.back().ops = step_order(*instance_, k.group->ops, best.order);
    s = apply(s, k);
  }
  return plan;
}

}  // namespace fuselage::grid
