#include "features_reader.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace fuselage::grid {
namespace {

template <class List, class T>
bool holds(const List& list, const T& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

double parts(std::int64_t length, std::int64_t part) {
  return std::ceil(static_cast<double>(length) / static_cast<double>(part));
}

}  // namespace

Features::Reader::Reader(const Features& features, const KernelView& kernel, const StateView& before)
    : features_(features), instance_(features.instance_), kernel_(kernel), before_(before) {
  assert(!kernel.ops.empty() && kernel.granularity.w > 0 && kernel.granularity.h > 0 &&
         kernel.granularity.k > 0);
  find_grid();
  find_asked();
}

void Features::Reader::find_grid() {
  const bool contest = features_.workload_.contest;
  for (OpId id : kernel_.ops) {
    const Op& op = instance_.op(id);
    if (op.kind == OpKind::matmul) reduction_ = std::max(reduction_, instance_.tensor(op.inputs[0]).width);
    for (TensorId t : op.outputs) {
      if (contest && read_inside(t)) continue;
      height_ = std::max(height_, instance_.tensor(t).height);
      width_ = std::max(width_, instance_.tensor(t).width);
    }
  }
  rows_ = parts(height_, kernel_.granularity.h);
  columns_ = parts(width_, kernel_.granularity.w);
  if (reduction_ > 0) steps_ = parts(reduction_, kernel_.granularity.k);
}

// Consumers before producers.
void Features::Reader::find_asked() {
  asked_.resize(size());
  for (std::size_t place = size(); place-- > 0;) {
    const Op& op = instance_.op(kernel_.ops[place]);
    Asked& own = asked_[place];
    for (TensorId t : op.outputs)
      if (!read_inside(t)) {
        own.root = true;
        own.rows = std::max(own.rows, kernel_.granularity.h);
        own.columns = std::max(own.columns, kernel_.granularity.w);
      }
    const Tensor& out = instance_.tensor(op.outputs[0]);
    own.rows = std::min(own.rows, out.height);
    own.columns = std::min(own.columns, out.width);
    for (TensorId t : op.inputs) ask(place, t);
  }
}

// The op at `reader` asks the maker of t for what it needs of it.
void Features::Reader::ask(std::size_t reader, TensorId t) {
  const auto maker = std::find(kernel_.ops.begin(), kernel_.ops.end(), instance_.producer(t));
  if (instance_.is_input(t) || maker == kernel_.ops.end()) return;
  const Op& op = instance_.op(kernel_.ops[reader]);
  const Asked& from = asked_[reader];
  Asked& to = asked_[static_cast<std::size_t>(maker - kernel_.ops.begin())];
  if (op.kind == OpKind::pointwise) {
    to.root = to.root || from.root;
    to.rows = std::max(to.rows, from.rows);
    to.columns = std::max(to.columns, from.columns);
    return;
  }
  const std::int64_t all = instance_.tensor(op.inputs[0]).width;
  const std::int64_t depth = from.root ? std::min(kernel_.granularity.k, all) : all;
  if (op.inputs[0] == t) {
    to.lhs = true;
    to.rows = std::max(to.rows, from.rows);
    to.columns = std::max(to.columns, depth);
  }
  if (op.inputs[1] == t) {
    to.rhs = true;
    to.rows = std::max(to.rows, depth);
    to.columns = std::max(to.columns, from.columns);
  }
}

bool Features::Reader::inside(OpId op) const {
  return holds(kernel_.ops, op);
}
bool Features::Reader::reads(OpId op, TensorId t) const {
  return holds(instance_.op(op).inputs, t);
}
bool Features::Reader::read_inside(TensorId t) const {
  const auto readers = instance_.consumers(t);
  return std::any_of(readers.begin(), readers.end(), [&](OpId op) { return inside(op); });
}
bool Features::Reader::retained(TensorId t) const {
  return holds(kernel_.retain, t);
}
bool Features::Reader::resident(TensorId t) const {
  return holds(before_.state->resident, t);
}
bool Features::Reader::left_outside(OpId op) const {
  return !before_.state->covered.has(op) && !inside(op);
}
bool Features::Reader::needed_outside(TensorId t) const {
  if (instance_.is_output(t)) return !features_.workload_.forgiving && !before_.state->stored.has(t);
  const auto readers = instance_.consumers(t);
  return std::any_of(readers.begin(), readers.end(), [&](OpId op) { return left_outside(op); });
}
bool Features::Reader::made_inside(TensorId t) const {
  return !instance_.is_input(t) && inside(instance_.producer(t));
}
double Features::Reader::elements(TensorId t) const {
  return static_cast<double>(instance_.tensor(t).size());
}

// What the op at `place` reads of t in an iteration.
double Features::Reader::slice(std::size_t place, TensorId t) const {
  const Op& op = instance_.op(kernel_.ops[place]);
  const Asked& asked = asked_[place];
  std::int64_t rows = asked.rows;
  std::int64_t columns = asked.columns;
  if (op.kind == OpKind::matmul) {
    const std::int64_t all = instance_.tensor(op.inputs[0]).width;
    const std::int64_t depth = asked.root ? std::min(kernel_.granularity.k, all) : all;
    (op.inputs[0] == t ? columns : rows) = depth;
  }
  const Tensor& tensor = instance_.tensor(t);
  return static_cast<double>(std::min(rows, tensor.height)) *
         static_cast<double>(std::min(columns, tensor.width));
}

void Features::Reader::add_input(std::size_t place, TensorId t, TokenFacts& token) const {
  ++token.fan_in;
  if (made_inside(t)) {
    token.inside += elements(t);
    return;
  }
  if (!resident(t)) {
    token.loaded += elements(t);
    token.slices += slice(place, t);
    return;
  }
  token.resident += elements(t);
  if (!needed_outside(t)) token.last_read += elements(t);
}

void Features::Reader::add_output(TensorId t, TokenFacts& token) const {
  const bool forgiving = features_.workload_.forgiving;
  const bool is_read = read_inside(t);
  const bool needed = needed_outside(t);
  const bool in_slow = before_.state->stored.has(t);
  token.output += elements(t);
  token.is_sink = token.is_sink || !is_read;
  for (OpId reader : instance_.consumers(t)) {
    ++token.fan_out;
    if (left_outside(reader)) ++token.readers_left;
  }
  if (retained(t)) {
    token.retained = true;
    token.kept += elements(t);
  } else if (!is_read) {
    token.stored += elements(t);
    if (in_slow || !needed) token.idle_store += elements(t);
  } else if (!needed) {
    token.absorbed += elements(t);
  } else if (!in_slow && !forgiving) {
    token.buried += elements(t);
  }
}

TokenFacts Features::Reader::token(std::size_t place) const {
  const OpId id = kernel_.ops[place];
  const Op& op = instance_.op(id);
  const Asked& asked = asked_[place];
  const Machine& machine = instance_.machine();
  const Granularity& g = kernel_.granularity;
  const int level = features_.level_[static_cast<std::size_t>(id)];
  TokenFacts token;
  token.workload = &features_.workload_;
  token.is_matmul = op.kind == OpKind::matmul;
  token.is_root = asked.root;
  token.feeds_lhs = asked.lhs;
  token.feeds_rhs = asked.rhs;
  token.again = before_.state->covered.has(id);
  token.place = static_cast<int>(place);
  token.count = static_cast<int>(size());
  token.lag = std::max(0, level - before_.least_level);
  token.levels_left = features_.workload_.levels - level;
  token.compute = features_.compute_[static_cast<std::size_t>(id)];
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (!holds(std::span(op.inputs).first(i), op.inputs[i])) add_input(place, op.inputs[i], token);
  for (TensorId t : op.outputs) add_output(t, token);
  token.asked = static_cast<double>(asked.rows) * static_cast<double>(asked.columns);
  if (token.is_matmul) token.reduction = static_cast<double>(instance_.tensor(op.inputs[0]).width);
  token.steps = steps_;
  token.rows = rows_;
  token.columns = columns_;
  token.tile_height = static_cast<double>(g.h) / static_cast<double>(machine.native_height);
  token.tile_width = static_cast<double>(g.w) / static_cast<double>(machine.native_width);
  if (reduction_ > 0) token.tile_depth = static_cast<double>(g.k) / static_cast<double>(machine.native_width);
  token.row_snake = kernel_.traversal == Traversal::row_snake;
  token.column_snake = kernel_.traversal == Traversal::column_snake;
  return token;
}

bool Features::Reader::can_run_after(OpId op) const {
  const auto& inputs = instance_.op(op).inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](TensorId t) {
    return instance_.is_input(t) || before_.state->covered.has(instance_.producer(t)) ||
           inside(instance_.producer(t));
  });
}

void Features::Reader::add_readers(KernelFacts& facts) const {
  Few<OpId> seen;
  Few<OpId> kept;
  for (OpId id : kernel_.ops)
    for (TensorId t : instance_.op(id).outputs)
      for (OpId reader : instance_.consumers(t)) {
        if (!left_outside(reader)) continue;
        if (!holds(seen, reader)) seen.push_back(reader);
        if (retained(t) && !holds(kept, reader)) kept.push_back(reader);
      }
  facts.readers_left = static_cast<int>(seen.size());
  facts.kept_readers = static_cast<int>(kept.size());
  for (OpId op : seen)
    if (!before_.ready[static_cast<std::size_t>(op)] && can_run_after(op)) ++facts.unlocked;
  for (OpId op : kept)
    if (can_run_after(op)) ++facts.kept_unlocked;
}

void Features::Reader::add_residents(KernelFacts& facts) const {
  for (TensorId t : before_.state->resident) {
    facts.held += elements(t);
    const auto reads_it = [&](OpId op) { return reads(op, t); };
    if (std::none_of(kernel_.ops.begin(), kernel_.ops.end(), reads_it)) facts.wasted += elements(t);
  }
}

void Features::Reader::add_ops(KernelFacts& facts) const {
  facts.first_lag = std::numeric_limits<int>::max();
  for (std::size_t place = 0; place < size(); ++place) {
    const TokenFacts t = token(place);
    facts.fresh += t.again ? 0 : 1;
    facts.matmuls += t.is_matmul ? 1 : 0;
    facts.upstream_matmuls += t.is_matmul && !t.is_root ? 1 : 0;
    facts.ready_taken += before_.ready[static_cast<std::size_t>(kernel_.ops[place])];
    facts.compute += t.compute;
    facts.fresh_compute += t.again ? 0 : t.compute;
    facts.matmul_compute += t.is_matmul ? t.compute : 0;
    facts.lhs_compute += t.feeds_lhs ? t.compute : 0;
    facts.rhs_compute += t.feeds_rhs ? t.compute : 0;
    facts.absorbed += t.absorbed;
    facts.buried += t.buried;
    facts.stored += t.stored;
    facts.idle_store += t.idle_store;
    facts.kept += t.kept;
    facts.first_lag = std::min(facts.first_lag, t.lag);
    facts.last_lag = std::max(facts.last_lag, t.lag);
  }
}

// Each tensor from outside once; of its slices the largest.
void Features::Reader::add_inputs(KernelFacts& facts) const {
  Few<TensorId> seen;
  Few<double> slices;
  for (std::size_t place = 0; place < size(); ++place)
    for (TensorId t : instance_.op(kernel_.ops[place]).inputs) {
      if (made_inside(t)) continue;
      const auto at = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), t) - seen.begin());
      if (at == seen.size()) {
        seen.push_back(t);
        slices.push_back(0);
      }
      if (!resident(t)) slices[at] = std::max(slices[at], slice(place, t));
    }
  facts.inputs = static_cast<int>(seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const TensorId t = seen[i];
    facts.slices += slices[i];
    if (resident(t)) {
      facts.resident += elements(t);
      if (!needed_outside(t)) facts.last_read += elements(t);
    } else {
      facts.loaded += elements(t);
      if (instance_.is_input(t)) facts.input_loaded += elements(t);
    }
  }
}

void Features::Reader::add_sinks(KernelFacts& facts) const {
  const double tile = static_cast<double>(std::min(kernel_.granularity.h, height_)) *
                      static_cast<double>(std::min(kernel_.granularity.w, width_));
  for (OpId id : kernel_.ops)
    for (TensorId t : instance_.op(id).outputs) {
      if (read_inside(t)) continue;
      ++facts.sinks;
      if (!retained(t)) facts.sink_tiles += tile;
    }
}

KernelFacts Features::Reader::kernel() const {
  KernelFacts facts;
  facts.workload = &features_.workload_;
  facts.count = static_cast<int>(size());
  facts.retained = static_cast<int>(kernel_.retain.size());
  add_ops(facts);
  add_inputs(facts);
  add_sinks(facts);
  add_readers(facts);
  add_residents(facts);
  facts.ready_before = before_.ready_ops;
  facts.left_after = instance_.op_count() - before_.done - facts.fresh;
  facts.working_set = facts.slices + facts.sink_tiles + facts.held + facts.kept;
  facts.moved = facts.loaded + facts.stored;
  facts.reduction = static_cast<double>(reduction_);
  facts.steps = steps_;
  facts.rows = rows_;
  facts.columns = columns_;
  return facts;
}

}  // namespace fuselage::grid
