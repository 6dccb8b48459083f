#include "links.h"

#include <algorithm>

namespace fuselage::grid {

Links::Links(const Instance& instance, const Rules& rules) : instance_(instance), rules_(rules) {
  const auto count = static_cast<std::size_t>(instance.op_count());
  feeds_short_matmul_.assign(count, 0);
  feeds_matmul_.assign(count, 0);
  neighbours_.resize(count);
  set_of_.assign(count, -1);
  visited_.assign(count, 0);
  find_matmuls_behind();
  link();
  split_into_sets();
}

void Links::find_matmuls_behind() {
  const auto& order = instance_.order();
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    const auto at = static_cast<std::size_t>(*op);
    for (TensorId t : instance_.op(*op).outputs)
      for (OpId reader : instance_.consumers(t)) {
        const auto behind = static_cast<std::size_t>(reader);
        const Op& next = instance_.op(reader);
        const bool matmul = next.kind == OpKind::matmul;
        const bool is_short =
            matmul && instance_.tensor(next.inputs[0]).width <= instance_.machine().native_width;
        if (is_short || feeds_short_matmul_[behind]) feeds_short_matmul_[at] = 1;
        if (may_hand_over(*op, t, reader) && (matmul || feeds_matmul_[behind])) feeds_matmul_[at] = 1;
      }
  }
}

// A pointwise op that feeds a matmul must hold all of its K in a tile, unless the kernel has one k-step.
bool Links::may_hand_over(OpId maker, TensorId t, OpId reader) const {
  const Op& to = instance_.op(reader);
  if (to.kind != OpKind::matmul || instance_.op(maker).kind == OpKind::matmul) return true;
  const std::int64_t k = instance_.tensor(to.inputs[0]).width;
  if (to.inputs[1] == t && k <= instance_.machine().native_height) return true;
  return k <= instance_.machine().native_width || feeds_short_matmul_[static_cast<std::size_t>(reader)];
}

void Links::link() {
  for (OpId reader = 0; reader < instance_.op_count(); ++reader)
    for (TensorId t : instance_.op(reader).inputs) {
      if (instance_.is_input(t)) continue;
      const OpId maker = instance_.producer(t);
      if (!may_hand_over(maker, t, reader)) continue;
      neighbours_[static_cast<std::size_t>(maker)].push_back({.op = reader, .reads = true});
      neighbours_[static_cast<std::size_t>(reader)].push_back({.op = maker, .reads = false});
    }
}

void Links::split_into_sets() {
  for (OpId op = 0; op < instance_.op_count(); ++op) {
    if (set_of_[static_cast<std::size_t>(op)] >= 0) continue;
    const auto name = static_cast<std::int32_t>(sets_.size());
    std::vector<OpId>& set = sets_.emplace_back();
    const auto add = [&](OpId next) {
      std::int32_t& of = set_of_[static_cast<std::size_t>(next)];
      if (of < 0) set.push_back(next);
      of = name;
    };
    add(op);
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (const Neighbour& next : neighbours_[static_cast<std::size_t>(set[i])]) add(next.op);
      if (!rules_.co_consumers) continue;
      for (TensorId t : instance_.op(set[i]).inputs)
        for (OpId reader : instance_.consumers(t)) add(reader);
    }
    std::sort(set.begin(), set.end());
  }
}

bool Links::may_meet(OpId op, OpId other, OpId sink) {
  if (rules_.co_consumers || op == other) return true;
  if (set_of_[static_cast<std::size_t>(op)] != set_of_[static_cast<std::size_t>(other)]) return false;
  if (sink == no_op) return true;
  const std::vector<OpId>& met = met_without(op, sink);
  return met.empty() || std::binary_search(met.begin(), met.end(), other);
}

const std::vector<OpId>& Links::met_without(OpId op, OpId sink) {
  const std::uint64_t question =
      static_cast<std::uint64_t>(op) * static_cast<std::uint64_t>(instance_.op_count()) +
      static_cast<std::uint64_t>(sink);
  if (const auto found = known_.find(question); found != known_.end()) return found->second;
  if (kept_ > most_kept) {
    known_.clear();
    kept_ = 0;
  }
  std::vector<OpId>& met = known_[question] = connected_without(op, sink);
  kept_ += met.size();
  return met;
}

std::vector<OpId> Links::connected_without(OpId op, OpId sink) {
  ++round_;
  std::vector<OpId> open = {op};
  visited_[static_cast<std::size_t>(op)] = round_;
  for (std::size_t i = 0; i < open.size(); ++i)
    for (const Neighbour& next : neighbours_[static_cast<std::size_t>(open[i])]) {
      if ((next.reads ? open[i] : next.op) == sink) continue;
      if (visited_[static_cast<std::size_t>(next.op)] == round_) continue;
      visited_[static_cast<std::size_t>(next.op)] = round_;
      open.push_back(next.op);
      if (open.size() >= most_visited) return {};
    }
  std::sort(open.begin(), open.end());
  return open;
}

}  // namespace fuselage::grid
