// The cheapest schedule under the environment's rules, by trying everything: from every state every connected
// set of ops, in every order that can matter, at every granularity up to the size of the grid, in three
// traversals, with every set of retained tensors; and the step without ops. Knows the rules alone and shares
// no code with the library.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <queue>
#include <tuple>

#include "brute_fusionops.h"

namespace fuselage::grid {

class BruteFusionopsSearch {
 public:
  BruteFusionopsSearch(const Instance& instance, bool honest) : instance_(instance), honest_(honest) {
    for (unsigned set = 1; set < 1U << instance.op_count(); ++set)
      if (connected(set)) sets_.push_back(set);
  }

  // Dijkstra over what ran, what is resident and what is stored; infinite if nothing gets to the end. Of what
  // is left after these steps.
  double optimum(const std::vector<Kernel>& played = {}) {
    using Entry = std::pair<double, State>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    std::map<State, double> known;
    const auto reach = [&](double cost, const State& s) {
      const auto [at, is_new] = known.try_emplace(s, cost);
      if (!is_new && at->second <= cost) return;
      at->second = cost;
      open.push({cost, s});
    };
    reach(0, after(played));
    while (!open.empty()) {
      const auto [cost, s] = open.top();
      open.pop();
      if (cost > known.at(s)) continue;
      if (complete(s)) return cost;
      if (size_of(s.resident) <= instance_.machine().capacity) reach(cost, {s.ran, 0, s.stored});
      for (const unsigned set : sets_)
        if (can_run(s, set)) run(s, cost, set, reach);
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  // Bits of ops and of tensors.
  struct State {
    unsigned ran = 0;
    unsigned resident = 0;
    unsigned stored = 0;

    friend auto operator<=>(const State&, const State&) = default;
  };

  State after(const std::vector<Kernel>& played) const {
    State s;
    for (const Kernel& step : played) {
      unsigned set = 0;
      for (const OpId op : step.ops) set |= 1U << op;
      unsigned retain = 0;
      for (const TensorId t : step.retain) retain |= 1U << t;
      const unsigned sinks = made_by(set) & ~inputs_of(set);
      s = {s.ran | set, retain, honest_ ? s.stored | (sinks & ~retain) : 0};
    }
    return s;
  }

  static bool has(unsigned set, int id) { return set >> id & 1U; }
  std::int64_t size_of(unsigned tensors) const {
    std::int64_t sum = 0;
    for (TensorId t = 0; t < instance_.tensor_count(); ++t)
      if (has(tensors, t)) sum += instance_.tensor(t).size();
    return sum;
  }
  unsigned inputs_of(unsigned set) const {
    unsigned tensors = 0;
    for (OpId op = 0; op < instance_.op_count(); ++op)
      if (has(set, op))
        for (const TensorId t : instance_.op(op).inputs) tensors |= 1U << t;
    return tensors;
  }
  unsigned made_by(unsigned set) const {
    unsigned tensors = 0;
    for (OpId op = 0; op < instance_.op_count(); ++op)
      if (has(set, op))
        for (const TensorId t : instance_.op(op).outputs) tensors |= 1U << t;
    return tensors;
  }

  // Grows from one op along tensors that are made and read inside.
  bool connected(unsigned set) const {
    unsigned seen = set & -set;
    for (bool grown = true; grown;) {
      grown = false;
      for (OpId op = 0; op < instance_.op_count(); ++op) {
        if (!has(set, op) || has(seen, op)) continue;
        const unsigned one = 1U << op;
        if (!(inputs_of(one) & made_by(seen)) && !(made_by(one) & inputs_of(seen))) continue;
        seen |= one;
        grown = true;
      }
    }
    return seen == set;
  }

  bool complete(const State& s) const {
    for (TensorId t = 0; honest_ && t < instance_.tensor_count(); ++t)
      if (instance_.is_output(t) && !has(s.stored, t)) return false;
    return s.ran == (1U << instance_.op_count()) - 1;
  }

  bool can_run(const State& s, unsigned set) const {
    const unsigned boundary = inputs_of(set) & ~made_by(set);
    for (TensorId t = 0; t < instance_.tensor_count(); ++t) {
      if (!has(boundary, t) || instance_.is_input(t)) continue;
      if (!has(s.ran, instance_.producer(t))) return false;
      if (honest_ && !has(s.resident | s.stored, t)) return false;
    }
    return true;
  }

  template <class Reach>
  void run(const State& s, double cost, unsigned set, const Reach& reach) {
    const unsigned made = made_by(set);
    const unsigned sinks = made & ~inputs_of(set);
    for (unsigned retain = made;; retain = (retain - 1) & made) {
      const double step = cheapest(s.resident, set, retain & sinks);
      const unsigned stored = honest_ ? s.stored | (sinks & ~retain) : 0;
      if (step < std::numeric_limits<double>::infinity()) reach(cost + step, {s.ran | set, retain, stored});
      if (retain == 0) break;
    }
  }

  double cheapest(unsigned resident, unsigned set, unsigned retain) {
    const auto [at, is_new] =
        known_.try_emplace({resident, set, retain}, std::numeric_limits<double>::infinity());
    if (!is_new) return at->second;
    std::set<TensorId> fast;
    std::vector<TensorId> kept;
    for (TensorId t = 0; t < instance_.tensor_count(); ++t) {
      if (has(resident, t)) fast.insert(t);
      if (has(retain, t)) kept.push_back(t);
    }
    std::vector<OpId> ops;
    for (OpId op = 0; op < instance_.op_count(); ++op)
      if (has(set, op)) ops.push_back(op);
    const bool ordered = named_twice(ops);
    do try_granularities(fast, {.ops = ops, .granularity = {}, .retain = kept}, at->second);
    while (ordered && std::next_permutation(ops.begin(), ops.end()));
    return at->second;
  }

  // Only then does the order of the ops matter (but for rounding).
  bool named_twice(const std::vector<OpId>& ops) const {
    unsigned seen = 0;
    for (const OpId op : ops) {
      const unsigned inputs = inputs_of(1U << op);
      if (seen & inputs) return true;
      seen |= inputs;
    }
    return false;
  }

  void try_granularities(const std::set<TensorId>& fast, Kernel step, double& best) const {
    std::int64_t width = 1;
    std::int64_t height = 1;
    std::int64_t reduction = 1;
    for (const OpId op : step.ops) {
      for (const TensorId t : instance_.op(op).outputs) {
        width = std::max(width, instance_.tensor(t).width);
        height = std::max(height, instance_.tensor(t).height);
      }
      if (instance_.op(op).kind == OpKind::matmul)
        reduction = std::max(reduction, instance_.tensor(instance_.op(op).inputs[0]).width);
    }
    for (std::int64_t w = 1; w <= width; ++w)
      for (std::int64_t h = 1; h <= height; ++h)
        for (std::int64_t k = 1; k <= reduction; ++k) {
          step.granularity = {w, h, k};
          try_traversals(fast, step, (height + h - 1) / h, (width + w - 1) / w, best);
        }
  }

  void try_traversals(const std::set<TensorId>& fast, Kernel& step, std::int64_t rows, std::int64_t columns,
                      double& best) const {
    for (int kind = 0; kind < (rows > 1 && columns > 1 ? 3 : 1); ++kind) {
      step.traversal.reset();
      if (kind > 0) step.traversal = snake(kind == 2, rows, columns);
      const BruteStep cost = BruteFusionops(instance_, fast, step).run();
      if (cost.working_set <= double(instance_.machine().capacity)) best = std::min(best, cost.latency);
    }
  }

  static std::vector<std::int64_t> snake(bool by_columns, std::int64_t rows, std::int64_t columns) {
    std::vector<std::int64_t> order;
    const std::int64_t lines = by_columns ? columns : rows;
    const std::int64_t length = by_columns ? rows : columns;
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t place = line % 2 ? length - 1 - i : i;
        order.push_back(by_columns ? place * columns + line : line * columns + place);
      }
    return order;
  }

  const Instance& instance_;
  bool honest_;
  std::vector<unsigned> sets_;
  std::map<std::tuple<unsigned, unsigned, unsigned>, double> known_;
};

}  // namespace fuselage::grid
