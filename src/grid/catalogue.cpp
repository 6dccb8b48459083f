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

}  // namespace

void GridProblem::grow_catalogue(const std::function<bool()>& stop) {
  if (!contest() && instance_->op_count() <= options_.whole_ops) {
    list_whole_catalogue();
    return;
  }
  struct Candidate {
    const Group* group;
    double saving;  // against its ops as kernels of their own
  };
  const auto saves_more = [](const Candidate& a, const Candidate& b) { return a.saving > b.saving; };
  std::vector<Candidate> found;
  std::vector<Candidate> level;
  std::unordered_set<const Group*> seen;
  for (OpId op = 0; op < instance_->op_count(); ++op) level.push_back({&groups_.of(std::span(&op, 1)), 0.0});
  const auto ops_total = static_cast<std::size_t>(instance_->op_count());
  const std::size_t per_op = std::clamp<std::size_t>(options_.most_groups / (ops_total * 8), 4, 256);
  Convexity convexity(*instance_, groups_);
  std::vector<OpId> adjacent;
  std::vector<OpId> ops;
  bool stopped = false;
  for (int size = 1; !level.empty(); ++size) {
    found.insert(found.end(), level.begin(), level.end());
    if (stopped || size == options_.most_ops) break;
    std::vector<Candidate> next;
    seen.clear();
    for (const Candidate& from : level) {
      stopped = stop && stop();
      if (stopped) break;
      list_adjacent(*instance_, *from.group, adjacent);
      for (OpId op : adjacent) {
        ops = from.group->ops;
        ops.push_back(op);
        if (!convexity.holds(ops)) continue;
        const Group& larger = groups_.of(ops);
        if (!larger.usable || seen.contains(&larger)) continue;
        double saving = -larger.cost;
        for (OpId member : larger.ops) saving += alone_[static_cast<std::size_t>(member)];
        // What costs more than it does in two kernels is a way to something better at most.
        const double loss = larger.cost - from.group->cost - alone_[static_cast<std::size_t>(op)];
        if (loss >= tolerance * alone_[static_cast<std::size_t>(op)] && size >= free_growth) continue;
        next.push_back({&larger, saving});
        seen.insert(&larger);
      }
    }
    // The most saving of every op.
    std::stable_sort(next.begin(), next.end(), saves_more);
    std::vector<std::size_t> kept(ops_total, 0);
    level.clear();
    for (const Candidate& candidate : next) {
      bool wanted = false;
      for (OpId op : candidate.group->ops) wanted = kept[static_cast<std::size_t>(op)]++ < per_op || wanted;
      if (wanted) level.push_back(candidate);
    }
  }
  catalogue_.assign(ops_total, {});
  std::stable_sort(found.begin(), found.end(), saves_more);
  for (const Candidate& candidate : found)
    for (OpId op : candidate.group->ops) {
      auto& list = catalogue_[static_cast<std::size_t>(op)];
      if (candidate.group->ops.size() == 1 || static_cast<int>(list.size()) < options_.groups_per_op)
        list.push_back(candidate.group);
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
