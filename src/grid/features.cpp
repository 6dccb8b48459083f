#include "fuselage/grid/features.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "features_columns.h"
#include "features_reader.h"

namespace fuselage::grid {
namespace {

double native_tiles(const Instance& instance, TensorId t) {
  const Machine& machine = instance.machine();
  const Tensor& tensor = instance.tensor(t);
  return std::ceil(static_cast<double>(tensor.height) / static_cast<double>(machine.native_height)) *
         std::ceil(static_cast<double>(tensor.width) / static_cast<double>(machine.native_width));
}

// Arithmetic of one native tile of the op's output, time units.
double tile_compute(const Instance& instance, const Rules& rules, const Op& op) {
  if (rules.set != RuleSet::mlsys || rules.compute == Compute::k || op.kind == OpKind::pointwise)
    return op.base_cost;
  return op.base_cost * static_cast<double>(instance.tensor(op.inputs[0]).width) /
         static_cast<double>(instance.machine().native_width);
}

// All tensors of the op, each once.
double moved_elements(const Instance& instance, const Op& op) {
  double sum = 0;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (std::find(op.inputs.begin(), op.inputs.begin() + static_cast<std::ptrdiff_t>(i), op.inputs[i]) ==
        op.inputs.begin() + static_cast<std::ptrdiff_t>(i))
      sum += static_cast<double>(instance.tensor(op.inputs[i]).size());
  for (TensorId t : op.outputs) sum += static_cast<double>(instance.tensor(t).size());
  return sum;
}

void add_tensors(const Instance& instance, WorkloadFacts& facts) {
  for (const Tensor& tensor : instance.tensors()) {
    const auto size = static_cast<double>(tensor.size());
    facts.mean_size += size / instance.tensor_count();
    facts.largest_size = std::max(facts.largest_size, size);
  }
}

}  // namespace

Features::Features(const Instance& instance, const Rules& rules) : instance_(instance), rules_(rules) {
  const Machine& machine = instance.machine();
  WorkloadFacts& w = workload_;
  w.ops = instance.op_count();
  w.capacity = static_cast<double>(machine.capacity);
  w.time_per_element = 1 / machine.bandwidth;
  w.native_width = static_cast<double>(machine.native_width);
  w.tile_size = w.native_width * static_cast<double>(machine.native_height);
  w.contest = rules.set == RuleSet::mlsys;
  w.forgiving = rules.set == RuleSet::fusionops;
  w.native_k = w.contest && rules.compute == Compute::native_k;
  add_tensors(instance, w);
  level_.assign(static_cast<std::size_t>(w.ops), 1);
  double moved = 0, matmul = 0, tiles = 0;
  for (OpId id : instance.order()) {
    const Op& op = instance.op(id);
    int& level = level_[static_cast<std::size_t>(id)];
    for (TensorId t : op.inputs)
      if (!instance.is_input(t))
        level = std::max(level, level_[static_cast<std::size_t>(instance.producer(t))] + 1);
    w.levels = std::max(w.levels, level);
  }
  for (const Op& op : instance.ops()) {
    const double tile = tile_compute(instance, rules, op);
    compute_.push_back(tile * native_tiles(instance, op.outputs[0]));
    tiles += tile / w.ops;
    moved_.push_back(moved_elements(instance, op));
    all_compute_ += compute_.back();
    moved += moved_.back() * w.time_per_element;
    w.mean_time += std::max(compute_.back(), moved_.back() * w.time_per_element) / w.ops;
    if (op.kind != OpKind::matmul) continue;
    ++w.matmuls;
    matmul += compute_.back();
    const auto reduction = static_cast<double>(instance.tensor(op.inputs[0]).width);
    w.strip_size = std::max(w.strip_size, reduction * static_cast<double>(machine.native_height));
  }
  w.memory_share = moved / (moved + all_compute_);
  w.matmul_share = all_compute_ > 0 ? matmul / all_compute_ : 0;
  w.tile_transfer = w.tile_size * w.time_per_element / (w.tile_size * w.time_per_element + tiles);
}

Granularity Features::native_granularity(std::span<const OpId> ops) const {
  const Machine& machine = instance_.machine();
  std::int64_t width = 0, height = 0, depth = 0;
  for (OpId id : ops) {
    const Op& op = instance_.op(id);
    for (TensorId t : op.outputs) {
      width = std::max(width, instance_.tensor(t).width);
      height = std::max(height, instance_.tensor(t).height);
    }
    if (op.kind != OpKind::matmul) continue;
    const std::int64_t k = instance_.tensor(op.inputs[0]).width;
    depth = depth == 0 ? k : std::min(depth, k);
  }
  return {.w = std::min(width, machine.native_width),
          .h = std::min(height, machine.native_height),
          .k = depth == 0 ? 1 : std::min(depth, machine.native_width)};
}

StateView Features::view(const State& state) const {
  StateView view;
  view.state = &state;
  view.ready.assign(static_cast<std::size_t>(instance_.op_count()), 0);
  view.least_level = std::numeric_limits<int>::max();
  for (OpId id = 0; id < instance_.op_count(); ++id) {
    if (state.covered.has(id)) {
      ++view.done;
      continue;
    }
    view.least_level = std::min(view.least_level, level_[static_cast<std::size_t>(id)]);
    const auto& inputs = instance_.op(id).inputs;
    const bool ready = std::all_of(inputs.begin(), inputs.end(), [&](TensorId t) {
      return instance_.is_input(t) || state.covered.has(instance_.producer(t));
    });
    view.ready[static_cast<std::size_t>(id)] = ready ? 1 : 0;
    view.ready_ops += ready ? 1 : 0;
  }
  if (view.done == instance_.op_count()) view.least_level = workload_.levels;
  return view;
}

void Features::workload(std::span<float> row) const {
  assert(row.size() == workload_columns().size());
  fill_row(workload_columns(), workload_, row);
}

void Features::state(const StateView& before, std::span<float> row) const {
  assert(row.size() == state_columns().size());
  const State& state = *before.state;
  StateFacts facts;
  facts.workload = &workload_;
  facts.done = before.done;
  facts.ready = before.ready_ops;
  facts.residents = static_cast<int>(state.resident.size());
  for (TensorId t : state.resident) facts.resident_size += static_cast<double>(instance_.tensor(t).size());
  double compute = 0, moved = 0;
  int least = workload_.levels, most = 0;
  for (OpId id = 0; id < instance_.op_count(); ++id) {
    const auto at = static_cast<std::size_t>(id);
    if (state.covered.has(id)) {
      add_made(state, id, facts);
      continue;
    }
    compute += compute_[at];
    moved += moved_[at] * workload_.time_per_element;
    if (!before.ready[at]) continue;
    least = std::min(least, level_[at]);
    most = std::max(most, level_[at]);
    facts.ready_matmuls += instance_.op(id).kind == OpKind::matmul ? 1 : 0;
  }
  facts.spread = std::max(0, most - least);
  facts.compute_left = all_compute_ > 0 ? compute / all_compute_ : 0;
  facts.memory_left = moved > 0 ? moved / (moved + compute) : 0;
  fill_row(state_columns(), facts, row);
}

// What became of the outputs of an op that has run.
void Features::add_made(const State& state, OpId id, StateFacts& facts) const {
  for (TensorId t : instance_.op(id).outputs) {
    const auto readers = instance_.consumers(t);
    const auto left = static_cast<int>(
        std::count_if(readers.begin(), readers.end(), [&](OpId op) { return !state.covered.has(op); }));
    const bool resident = std::find(state.resident.begin(), state.resident.end(), t) != state.resident.end();
    if (resident) facts.resident_uses += left;
    if (left == 0) continue;
    if (state.stored.has(t)) {
      ++facts.live;
      facts.live_size += static_cast<double>(instance_.tensor(t).size());
    } else if (!resident && !workload_.forgiving) {
      ++facts.lost;
      facts.lost_compute += compute_[static_cast<std::size_t>(id)];
    }
  }
}

void Features::tokens(const KernelView& kernel, const StateView& before, std::span<float> rows) const {
  const std::size_t width = token_columns().size();
  assert(rows.size() == width * kernel.ops.size());
  const Reader reader(*this, kernel, before);
  for (std::size_t i = 0; i < kernel.ops.size(); ++i)
    fill_row(token_columns(), reader.token(i), rows.subspan(i * width, width));
}

void Features::kernel(const KernelView& kernel, const StateView& before, std::span<float> row) const {
  assert(row.size() == kernel_columns().size());
  fill_row(kernel_columns(), Reader(*this, kernel, before).kernel(), row);
}

void Features::summary(const KernelView& kernel, const StateView& before, const Summary& rows) const {
  constexpr std::size_t widest = 64;
  const std::size_t width = token_columns().size();
  assert(width <= widest && rows.most.size() == width && rows.least.size() == width);
  const Reader reader(*this, kernel, before);
  fill_row(kernel_columns(), reader.kernel(), rows.kernel);
  fill_row(token_columns(), reader.token(0), rows.most);
  std::copy(rows.most.begin(), rows.most.end(), rows.least.begin());
  std::array<float, widest> row = {};
  for (std::size_t place = 1; place < kernel.ops.size(); ++place) {
    fill_row(token_columns(), reader.token(place), std::span(row).first(width));
    for (std::size_t i = 0; i < width; ++i) {
      rows.most[i] = std::max(rows.most[i], row[i]);
      rows.least[i] = std::min(rows.least[i], row[i]);
    }
  }
}

}  // namespace fuselage::grid
