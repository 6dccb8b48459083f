// The neighbours of a schedule: one kernel gives way to a group that shares an op with it; the kernels that
// run ops of that group lose them; what is left is put in an order that can run and retains what pays.
// Merging, splitting, stealing, recomputing and reordering are all of that kind.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_set>

#include "fuselage/grid/problem.h"

namespace fuselage::grid {
namespace {

constexpr std::size_t reach = 24;         // kernels that a move rebuilds, at most
constexpr std::size_t alternatives = 48;  // declared groups that are tried for an op

bool contains(std::span<const OpId> ops, OpId op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

}  // namespace

class Neighbourhood {
 public:
  using Kernel = GridKernel;
  using Residency = GridProblem::Residency;

  Neighbourhood(const GridProblem& problem, const std::vector<State>& trail, const std::vector<Kernel>& plan,
                std::size_t at, std::vector<search::Move<Kernel>>& out)
      : problem_(problem), instance_(problem.instance()), trail_(trail), plan_(plan), at_(at), out_(out) {}

  void list() {
    const Group& group = *plan_[at_].group;
    try_group(group);  // the same kernels with better retention or in another order
    for (OpId op : group.ops) {
      without(group, op);
      std::size_t tried = 0;
      for (const Group* other : problem_.groups_at(op)) {
        if (++tried > alternatives) break;
        try_group(*other);
      }
    }
    for (OpId op : beside(group)) with(group, op);
    for (std::size_t other = at_ + 1; other < std::min(plan_.size(), at_ + reach); ++other) {
      std::vector<OpId> ops = group.ops;
      for (OpId op : plan_[other].group->ops)
        if (!contains(group.ops, op)) ops.push_back(op);
      try_ops(ops);
    }
  }

 private:
  std::vector<OpId> beside(const Group& group) const {
    std::vector<OpId> ops;
    const auto add = [&](OpId op) {
      if (!contains(group.ops, op) && !contains(ops, op)) ops.push_back(op);
    };
    for (TensorId t : group.inputs)
      if (!instance_.is_input(t)) add(instance_.producer(t));
    for (TensorId t : group.made)
      for (OpId op : instance_.consumers(t)) add(op);
    return ops;
  }
  void with(const Group& group, OpId op) {
    std::vector<OpId> ops = group.ops;
    ops.push_back(op);
    try_ops(ops);
  }
  void without(const Group& group, OpId op) {
    if (group.ops.size() == 1) return;
    std::vector<OpId> ops = group.ops;
    std::erase(ops, op);
    try_ops(ops);
  }
  void try_ops(std::span<const OpId> ops) {
    if (ops.size() <= most_ops) try_group(problem_.groups_.of(ops));
  }

  // Rebuilds the plan from the kernel before `at_` to the one after the last that runs an op of the group.
  void try_group(const Group& group) {
    if (!group.usable || !tried_.insert(&group).second) return;
    const std::size_t first = at_ == 0 ? 0 : at_ - 1;
    std::size_t last = at_;
    const std::size_t end = std::min(plan_.size(), at_ + reach);
    std::size_t open = 0;  // ops of the group that run at_ or later
    for (OpId op : group.ops) open += !trail_[at_].covered.has(op);
    for (std::size_t i = at_; i < end && open > 0; ++i)
      for (OpId op : group.ops)
        if (!trail_[i].covered.has(op) && contains(plan_[i].group->ops, op)) {
          last = i;
          --open;
        }
    if (open > 0) return;
    parts_.clear();
    if (!split_off(group, first, last)) return;
    const std::size_t stop = std::min(plan_.size(), last + 2);
    if (last + 1 < stop) parts_.push_back(plan_[last + 1].group);
    if (!arrange(first, last + 1 < stop, false)) return;
    retain_best(first, stop);
    if (!arrange(first, last + 1 < stop, true)) return;
    retain_best(first, stop);
  }

  // parts_: the kernel before, the group, and what the kernels up to `last` keep.
  bool split_off(const Group& group, std::size_t first, std::size_t last) {
    if (first < at_) parts_.push_back(plan_[first].group);
    bool placed = false;
    for (std::size_t i = at_; i <= last; ++i) {
      const Group& old = *plan_[i].group;
      rest_.clear();
      bool touched = false;
      for (OpId op : old.ops) {
        if (contains(group.ops, op))
          touched = true;
        else
          rest_.push_back(op);
      }
      if (touched && !placed) {
        parts_.push_back(&group);
        placed = true;
      }
      if (!touched)
        parts_.push_back(&old);
      else if (!rest_.empty() && !add_components())
        return false;
    }
    return placed;
  }

  // The connected parts of rest_.
  bool add_components() {
    while (!rest_.empty()) {
      std::vector<OpId> component = {rest_.front()};
      rest_.erase(rest_.begin());
      for (std::size_t i = 0; i < component.size(); ++i)
        for (std::size_t j = 0; j < rest_.size();) {
          if (linked(component[i], rest_[j])) {
            component.push_back(rest_[j]);
            rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(j));
          } else {
            ++j;
          }
        }
      const Group& part = problem_.groups_.of(component);
      if (!part.usable) return false;
      parts_.push_back(&part);
    }
    return true;
  }

  bool linked(OpId a, OpId b) const {
    const auto feeds = [&](OpId from, OpId to) {
      for (TensorId t : instance_.op(from).outputs)
        if (std::find(instance_.op(to).inputs.begin(), instance_.op(to).inputs.end(), t) !=
            instance_.op(to).inputs.end())
          return true;
      return false;
    };
    return feeds(a, b) || feeds(b, a);
  }

  // An order of parts_ that can run: as they stand where possible, or, `chained`, each followed by one that
  // reads what it makes where there is one. Fills sequence_ and states_. The first stays first if it is the
  // kernel before, the last stays last if it is the kernel after.
  bool arrange(std::size_t first, bool fixed_last, bool chained) {
    sequence_.clear();
    states_.clear();
    State s = trail_[first];
    std::vector<const Group*> left = parts_;
    const std::size_t tail = fixed_last ? 1 : 0;
    bool fixed_first = first < at_;
    while (!left.empty()) {
      std::size_t chosen = left.size();
      const std::size_t candidates = left.size() > tail ? left.size() - tail : left.size();
      for (std::size_t i = 0; i < candidates && chosen == left.size(); ++i)
        if (chained && !sequence_.empty() && reads(*left[i], *sequence_.back()) && can_run(s, *left[i]))
          chosen = i;
      for (std::size_t i = 0; i < candidates && chosen == left.size(); ++i)
        if (can_run(s, *left[i])) chosen = i;
      if (fixed_first && chosen != 0) return false;
      fixed_first = false;
      if (chosen == left.size() && !recompute(s, left)) return false;
      if (chosen == left.size()) continue;
      sequence_.push_back(left[chosen]);
      states_.push_back(s);
      s = problem_.apply(s, {left[chosen], 0});
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(chosen));
      // What makes no progress any more is left out.
      std::erase_if(left, [&](const Group* g) { return !makes_progress(s, *g); });
    }
    states_.push_back(s);
    return true;
  }

  bool can_run(const State& s, const Group& group) const { return problem_.runnable(s, group); }
  bool makes_progress(const State& s, const Group& group) const {
    return problem_.makes_progress(s, group, 0);
  }
  static bool reads(const Group& reader, const Group& maker) {
    return std::any_of(maker.made.begin(), maker.made.end(), [&](TensorId t) {
      return std::find(reader.inputs.begin(), reader.inputs.end(), t) != reader.inputs.end();
    });
  }

  // Nothing can run since a tensor is never stored: whoever reads it first makes it anew.
  bool recompute(const State& s, std::vector<const Group*>& left) {
    for (const Group*& group : left)
      for (TensorId t : group->inputs) {
        if (problem_.available(s, t) || !s.covered.has(instance_.producer(t))) continue;
        std::vector<OpId> ops = group->ops;
        ops.push_back(instance_.producer(t));
        if (ops.size() > most_ops) return false;
        const Group& larger = problem_.groups_.of(ops);
        if (!larger.usable) return false;
        group = &larger;
        return true;
      }
    return false;
  }

  // What to retain between the kernels of sequence_: dynamic programming over a few choices each.
  void retain_best(std::size_t first, std::size_t stop) {
    const std::size_t count = sequence_.size();
    if (count == 0) return;
    choices_.assign(count, {});
    for (std::size_t i = 0; i + 1 < count; ++i) list_choices(i);
    // The last keeps what it kept if it is the kernel after; else the end of the plan retains nothing.
    const bool ends_plan = stop == plan_.size();
    const Kernel& after = plan_[stop - 1];
    const bool same_last = sequence_.back() == after.group;
    if (!ends_plan && !same_last && after.retained != 0) return;
    choices_.back().push_back({.retained = same_last ? after.retained : 0});
    if (ends_plan && !problem_.contest())
      choices_.back().push_back({.retained = problem_.idle_sinks(states_[count - 1], *sequence_.back())});
    const Residency start = problem_.residency(trail_[first], *sequence_[0]);
    for (std::size_t i = 0; i < count; ++i) {
      bool reached = false;
      for (Choice& choice : choices_[i]) {
        const std::size_t ways = i == 0 ? 1 : choices_[i - 1].size();
        for (std::size_t w = 0; w < ways; ++w) {
          const double before = i == 0 ? 0 : choices_[i - 1][w].cost;
          if (!(before < infinity)) continue;
          const Residency& residency = i == 0 ? start : choices_[i - 1][w].next;
          const double cost =
              before + problem_.cheapest(*sequence_[i], residency, choice.retained).best.cost.latency;
          if (cost < choice.cost) {
            choice.cost = cost;
            choice.from = w;
          }
        }
        reached = reached || choice.cost < infinity;
      }
      if (!reached) return;
    }
    emit(first, stop);
  }

  // Tensors that the next kernel reads and nobody later: none, each, all. Under the fusionops rules also each
  // of these with what need not be stored.
  void list_choices(std::size_t i) {
    const Group& group = *sequence_[i];
    const Group& next = *sequence_[i + 1];
    std::vector<std::uint64_t> sets = {0};
    std::uint64_t all = 0;
    for (std::size_t m = 0; m < std::min<std::size_t>(64, group.made.size()); ++m) {
      const TensorId t = group.made[m];
      const auto found = std::find(next.inputs.begin(), next.inputs.end(), t);
      const auto place = static_cast<std::size_t>(found - next.inputs.begin());
      if (found == next.inputs.end() || place >= 64) continue;
      const State& s = states_[i + 1];
      const auto readers = instance_.consumers(t);
      const bool last_reader = std::all_of(readers.begin(), readers.end(), [&](OpId op) {
        return s.covered.has(op) || contains(next.ops, op);
      });
      if (group.shape().is_sink(m) && !last_reader && !problem_.forgiving()) continue;
      sets.push_back(std::uint64_t{1} << m);
      all |= sets.back();
    }
    if (sets.size() > 2) sets.push_back(all);
    const std::uint64_t idle = problem_.contest() ? 0 : problem_.idle_sinks(states_[i], group);
    for (std::size_t n = sets.size(); idle != 0 && n-- > 0;)
      if ((sets[n] | idle) != sets[n]) sets.push_back(sets[n] | idle);
    for (const std::uint64_t set : sets)
      choices_[i].push_back({.retained = set, .next = residency_after(i, set)});
  }

  // What kernel i + 1 finds when kernel i retains `set`.
  Residency residency_after(std::size_t i, std::uint64_t set) {
    if (set == 0) return {};
    after_.resident.clear();
    if (!problem_.contest()) after_.stored = states_[i + 1].stored;
    for (std::size_t m = 0; m < std::min<std::size_t>(64, sequence_[i]->made.size()); ++m) {
      if (!(set >> m & 1U)) continue;
      const TensorId t = sequence_[i]->made[m];
      after_.resident.push_back(t);
      if (!problem_.contest() && !states_[i].stored.has(t)) after_.stored.remove(t);
    }
    return problem_.residency(after_, *sequence_[i + 1]);
  }

  void emit(std::size_t first, std::size_t stop) {
    search::Move<Kernel> move{.first = first, .removed = stop - first};
    move.added.resize(sequence_.size());
    const auto cheaper = [](const Choice& a, const Choice& b) { return a.cost < b.cost; };
    const auto last = std::min_element(choices_.back().begin(), choices_.back().end(), cheaper);
    auto choice = static_cast<std::size_t>(last - choices_.back().begin());
    for (std::size_t i = sequence_.size(); i-- > 0;) {
      move.added[i] = {sequence_[i], choices_[i][choice].retained};
      choice = choices_[i][choice].from;
    }
    const auto begin = plan_.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::equal(move.added.begin(), move.added.end(), begin,
                   plan_.begin() + static_cast<std::ptrdiff_t>(stop)))
      return;
    if (!out_.empty() && out_.back().first == move.first && out_.back().added == move.added) return;
    out_.push_back(std::move(move));
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t most_ops = 64;

  struct Choice {
    std::uint64_t retained = 0;  // bits of what the group makes
    Residency next = {};         // what the next finds then
    double cost = infinity;
    std::size_t from = 0;
  };

  const GridProblem& problem_;
  const Instance& instance_;
  const std::vector<State>& trail_;
  const std::vector<Kernel>& plan_;
  std::size_t at_;
  std::vector<search::Move<Kernel>>& out_;
  std::unordered_set<const Group*> tried_;
  std::vector<const Group*> parts_;
  std::vector<OpId> rest_;
  std::vector<const Group*> sequence_;
  State after_;                // of which only what is resident and stored is set
  std::vector<State> states_;  // before each of sequence_, with nothing retained, and after
  std::vector<std::vector<Choice>> choices_;
};

void GridProblem::neighbours(const std::vector<State>& trail, const std::vector<Kernel>& plan, std::size_t at,
                             std::vector<search::Move<Kernel>>& out) const {
  out.clear();
  Neighbourhood(*this, trail, plan, at, out).list();
}

}  // namespace fuselage::grid
