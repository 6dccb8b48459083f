// The groups that a search may choose from: grown from single ops, one neighbour at a time.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <unordered_set>

#include "fuselage/grid/problem.h"

namespace fuselage::grid {
namespace {

constexpr int free_growth = 2;      // groups of so many ops grow whatever it costs
constexpr double tolerance = 0.25;  // larger ones if that costs no more than this share of the new op alone
// In problems of at most SpaceOptions::whole_ops all grow: if what is declared depended on what it costs, a
// larger capacity or bandwidth could end worse.

// Ops that share a made tensor with the group: makers of what it reads, readers of what it makes.
void list_adjacent(const Instance& instance, const Group& group, std::vector<OpId>& out) {
  out.clear();
  const auto add = [&](OpId op) {
    if (std::find(group.ops.begin(), group.ops.end(), op) == group.ops.end()) out.push_back(op);
  };
  for (TensorId t : group.inputs)
    if (!instance.is_input(t)) add(instance.producer(t));
  for (TensorId t : group.made)
    for (OpId op : instance.consumers(t)) add(op);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

// No path leaves the group and comes back: else it could only run once it has run.
class Convexity {
 public:
  Convexity(const Instance& instance, const Groups& groups)
      : instance_(instance), groups_(groups), seen_(static_cast<std::size_t>(instance.op_count()), 0) {}

  // `ops` in any order.
  bool holds(std::span<const OpId> ops) {
    ++round_;
    last_ = 0;
    for (OpId op : ops) last_ = std::max(last_, groups_.place(op));
    stack_.assign(ops.begin(), ops.end());
    while (!stack_.empty()) {
      const OpId op = stack_.back();
      stack_.pop_back();
      const bool member = std::find(ops.begin(), ops.end(), op) != ops.end();
      for (TensorId t : instance_.op(op).outputs)
        for (OpId reader : instance_.consumers(t)) {
          const bool returns = std::find(ops.begin(), ops.end(), reader) != ops.end();
          if (returns && !member) return false;
          if (returns || groups_.place(reader) > last_ || seen_[static_cast<std::size_t>(reader)] == round_)
            continue;
          seen_[static_cast<std::size_t>(reader)] = round_;
          stack_.push_back(reader);
        }
    }
    return true;
  }

 private:
  const Instance& instance_;
  const Groups& groups_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  int last_ = 0;
  std::vector<OpId> stack_;
};

// Groups level by level: each of a level one op larger than one of the level before.
class Growth {
 public:
  Growth(const Groups& groups, std::span<const double> alone, const SpaceOptions& options)
      : groups_(groups),
        instance_(groups.instance()),
        alone_(alone),
        options_(options),
        convexity_(instance_, groups),
        per_op_(std::clamp<std::size_t>(options.most_groups / (alone.size() * 8), 4, 256)) {}

  // All groups found, the most saving first.
  std::vector<const Group*> run(const std::function<bool()>& stop) {
    for (OpId op = 0; op < instance_.op_count(); ++op)
      level_.push_back({&groups_.of(std::span(&op, 1)), 0.0});
    std::vector<Candidate> found;
    for (int size = 1; !level_.empty(); ++size) {
      found.insert(found.end(), level_.begin(), level_.end());
      if (stopped_ || size == options_.most_ops) break;
      grow(size, stop);
    }
    std::stable_sort(found.begin(), found.end(), saves_more);
    std::vector<const Group*> groups;
    for (const Candidate& candidate : found) groups.push_back(candidate.group);
    return groups;
  }

 private:
  struct Candidate {
    const Group* group;
    double saving;  // against its ops as kernels of their own
  };
  static bool saves_more(const Candidate& a, const Candidate& b) { return a.saving > b.saving; }
  double alone(OpId op) const { return alone_[static_cast<std::size_t>(op)]; }

  void grow(int size, const std::function<bool()>& stop) {
    std::vector<Candidate> next;
    seen_.clear();
    for (const Candidate& from : level_) {
      stopped_ = stop && stop();
      if (stopped_) break;
      list_adjacent(instance_, *from.group, adjacent_);
      for (OpId op : adjacent_) add(*from.group, op, size, next);
    }
    keep_most_saving(next);
  }

  void add(const Group& from, OpId op, int size, std::vector<Candidate>& next) {
    ops_ = from.ops;
    ops_.push_back(op);
    if (!convexity_.holds(ops_)) return;
    const Group& larger = groups_.of(ops_);
    if (!larger.usable || seen_.contains(&larger)) return;
    double saving = -larger.cost;
    for (OpId member : larger.ops) saving += alone(member);
    // What costs more than it does in two kernels is a way to something better at most.
    const double loss = larger.cost - from.cost - alone(op);
    const bool is_large = instance_.op_count() > options_.whole_ops;
    if (loss >= tolerance * alone(op) && size >= free_growth && is_large) return;
    next.push_back({&larger, saving});
    seen_.insert(&larger);
  }

  // So many of every op.
  void keep_most_saving(std::vector<Candidate>& next) {
    std::stable_sort(next.begin(), next.end(), saves_more);
    std::vector<std::size_t> kept(alone_.size(), 0);
    level_.clear();
    for (const Candidate& candidate : next) {
      bool wanted = false;
      for (OpId op : candidate.group->ops) wanted = kept[static_cast<std::size_t>(op)]++ < per_op_ || wanted;
      if (wanted) level_.push_back(candidate);
    }
  }

  const Groups& groups_;
  const Instance& instance_;
  std::span<const double> alone_;  // by op: its cost in a kernel of its own
  const SpaceOptions& options_;
  Convexity convexity_;
  std::size_t per_op_;  // groups of a level that an op is in, about
  bool stopped_ = false;
  std::vector<Candidate> level_;
  std::unordered_set<const Group*> seen_;
  std::vector<OpId> adjacent_;
  std::vector<OpId> ops_;
};

}  // namespace

void GridProblem::grow_catalogue(const std::function<bool()>& stop) {
  if (!contest() && instance_->op_count() <= options_.whole_ops) {
    list_whole_catalogue();
    return;
  }
  catalogue_.assign(alone_.size(), {});
  for (const Group* group : Growth(groups_, alone_, options_).run(stop))
    for (OpId op : group->ops) {
      auto& list = catalogue_[static_cast<std::size_t>(op)];
      if (group->ops.size() == 1 || static_cast<int>(list.size()) < options_.groups_per_op)
        list.push_back(group);
    }
}

// What an op costs in the group that serves it best, where a group's cost is shared out by what its ops cost
// alone.
void GridProblem::share_costs() {
  share_.assign(catalogue_.size(), std::numeric_limits<double>::infinity());
  for (std::size_t op = 0; op < catalogue_.size(); ++op) {
    for (const Group* group : catalogue_[op]) {
      double sum = 0;
      for (OpId member : group->ops) sum += alone_[static_cast<std::size_t>(member)];
      share_[op] = std::min(share_[op], group->cost * alone_[op] / sum);
    }
  }
}

}  // namespace fuselage::grid
