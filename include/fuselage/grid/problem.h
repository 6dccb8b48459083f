// The grid family as a search problem. A kernel is a group of ops and what it retains; its granularity and
// traversal are whatever is cheapest for that (groups.h), since nothing later depends on them.
//
// Under the fusionops rules what is retained takes its room whether it is read or not, and may be dropped by
// a step without ops, which costs nothing: a kernel's price is the lesser of both, and plan_of writes such a
// step where it pays. Under `fusionops` a tensor can be loaded once its maker has run, stored or not, so that
// nothing need ever be stored: sinks are retained to save the store. Small problems of these rules declare
// every connected group, every start and up to three retained tensors (src/grid/problem_fusionops.cpp).
//
// The declared space is capped (SpaceOptions): groups grow op by op from every op through feasible groups, up
// to so many; few tensors are retained at once; the next kernel starts at one of the first ops that can run.
// Exhausting it proves "optimal in the declared space", no more: kernels() never says that it is everything.
//
// Progress counts ops that have run and tensors that are settled: stored, or not needed any more. A kernel
// that makes none (it only recomputes a tensor for its neighbour) is not declared.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/grid/groups.h"
#include "fuselage/grid/plan.h"
#include "fuselage/search/problem.h"

namespace fuselage::grid {

// A set of small ids.
class Bits {
 public:
  Bits() = default;
  explicit Bits(int size) : words_(static_cast<std::size_t>(size + 63) / 64, 0) {}

  bool has(std::int32_t id) const { return words_[word(id)] >> (id & 63) & 1U; }
  void add(std::int32_t id) { words_[word(id)] |= std::uint64_t{1} << (id & 63); }
  void remove(std::int32_t id) { words_[word(id)] &= ~(std::uint64_t{1} << (id & 63)); }
  bool includes(const Bits& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (other.words_[i] & ~words_[i]) return false;
    return true;
  }
  std::span<const std::uint64_t> words() const { return {words_.data(), words_.size()}; }

  friend bool operator==(const Bits&, const Bits&) = default;

 private:
  static std::size_t word(std::int32_t id) { return static_cast<std::size_t>(id) / 64; }

  boost::container::small_vector<std::uint64_t, 2> words_;
};

using TensorList = boost::container::small_vector<TensorId, 4>;

// Between two kernels.
struct State {
  Bits covered = {};         // ops that have run
  Bits stored = {};          // made tensors in slow memory that something may still read; none: fusionops
  TensorList resident = {};  // retained by the kernel before, ascending
  int progress = 0;
  int first = 0;          // ops before this place in the order are over: no kernel starts at them
  double compute = 0;     // least compute of the ops that have not run, time units
  double charges = 0;     // what they add to any schedule at least (mlsys), time units
  double shares = 0;      // estimate: what they cost in the groups that serve them best
  double traffic = 0;     // elements: graph inputs that they read, graph outputs to be stored
  std::uint64_t key = 0;  // of the three sets above

  friend bool operator==(const State& a, const State& b) {
    return a.key == b.key && a.progress == b.progress && a.covered == b.covered && a.stored == b.stored &&
           a.resident == b.resident;
  }
};

struct GridKernel {
  const Group* group = nullptr;
  std::uint64_t retained = 0;  // bits of group->made

  friend bool operator==(const GridKernel&, const GridKernel&) = default;
};

struct SpaceOptions {
  int most_ops = 12;         // of a group that is grown
  int groups_per_op = 400;   // that are declared, the most saving first
  int most_retained = 2;     // tensors at once
  int starts = 4;            // of the ops that can run next: a kernel starts at one of the first so many
  std::size_t window = 512;  // ops, in the order, from the first that isn't over: a kernel starts among them
  std::size_t most_groups = 200'000;  // looked at while growing
  // Problems of so few ops grow groups whatever these cost; under fusionops they declare every connected
  // group and start, and up to three retained tensors at least. At most 16.
  int whole_ops = 10;
  bool tight_bound = true;  // mlsys: takes its time on thousands of ops
};

class GridProblem {
 public:
  using State = grid::State;
  using Kernel = GridKernel;

  // Groups grow and bounds tighten until `stop` says so, if it is given. Throws Error if an op fits fast
  // memory at no granularity.
  GridProblem(const Instance& instance, const Rules& rules, const SpaceOptions& options = {},
              const std::function<bool()>& stop = {});

  State initial() const;
  int horizon() const { return horizon_; }
  std::size_t additions() const { return additions_; }
  int progress(const State& s) const { return s.progress; }
  bool kernels(const State& s, std::vector<Kernel>& out) const;
  double price(const State& s, const Kernel& k) const;
  State apply(const State& s, const Kernel& k) const;
  double bound(const State& s) const;
  double estimate(const State& s) const { return s.shares; }
  std::uint64_t key(const State& s) const { return s.key; }
  std::uint64_t dominance_class(const State& s) const { return s.key; }
  bool dominates(const State& a, double cost_a, const State& b, double cost_b) const {
    return cost_a <= cost_b && a == b;
  }

  void neighbours(const std::vector<State>& trail, const std::vector<Kernel>& plan, std::size_t at,
                  std::vector<search::Move<Kernel>>& out) const;
  std::optional<Kernel> refit(const State& s, const Kernel& k) const;

  // Can the group run here and does it make progress?
  bool runnable(const State& s, const Group& group) const;
  // A complete plan in one pass: at each state the kernel that saves most. naive() where that gets stuck, or
  // the deadline passes.
  std::vector<Kernel> greedy(const Deadline& deadline = {}) const;
  // Every op alone, nothing retained.
  std::vector<Kernel> naive() const;
  // As the contest writes it, with granularities and traversals.
  Plan plan_of(std::span<const Kernel> kernels) const;

  // Is every connected group declared?
  bool whole() const { return whole_; }
  const Groups& groups() const { return groups_; }
  const Instance& instance() const { return *instance_; }
  std::span<const Group* const> groups_at(OpId op) const { return catalogue_[static_cast<std::size_t>(op)]; }

 private:
  friend class Neighbourhood;

  bool available(const State& s, TensorId t) const;
  bool live(const State& s, TensorId t) const;
  bool settled(const State& s, TensorId t) const;
  // What a group finds in fast memory.
  struct Residency {
    std::uint64_t read = 0;   // bits of group.inputs
    std::int64_t beside = 0;  // elements of what it doesn't read
    bool keeps = true;        // may run as it is
    bool drops = false;       // may run after a step without ops
  };
  struct Setting {
    KernelPricer::Best best = {};
    std::uint64_t resident = 0;
    bool drops = false;
  };

  bool contest() const { return rules().set == RuleSet::mlsys; }
  // Can what no kernel stored be loaded all the same?
  bool forgiving() const { return rules().set == RuleSet::fusionops; }
  const Rules& rules() const { return groups_.pricer().rules(); }

  std::uint64_t resident_mask(const State& s, const Group& group) const;
  Residency residency(const State& s, const Group& group) const;
  Setting cheapest(const Group& group, const Residency& residency, std::uint64_t retained) const;
  bool makes_progress(const State& s, const Group& group, std::uint64_t retained) const;
  bool is_over(const State& s, OpId op) const;
  // Where a kernel may start: from the first that isn't over.
  std::span<const OpId> open_ops(const State& s) const;
  // An op that has not run or must run again, and can as far as its makers go.
  bool is_start(const State& s, OpId op) const;
  bool buries(const State& s, const Group& group) const;
  void list_retains(const State& s, const Group& group, std::vector<Kernel>& out) const;
  void list_steps(const State& s, std::vector<Kernel>& out) const;
  void list_step_retains(const State& s, const Group& group, std::vector<Kernel>& out) const;
  std::uint64_t idle_sinks(const State& s, const Group& group) const;
  void grow_catalogue(const std::function<bool()>& stop);
  void list_whole_catalogue();
  void share_costs();

  const Instance* instance_;
  SpaceOptions options_;
  Groups groups_;
  int horizon_ = 0;
  std::size_t additions_ = 0;
  bool whole_ = false;  // every connected group is declared
  std::vector<std::vector<const Group*>>
      catalogue_;                      // usable groups that contain the op, the most saving first
  std::vector<double> alone_;          // what an op costs in a kernel of its own, time units
  std::vector<double> least_compute_;  // of an op in any kernel, time units
  std::vector<double> least_moved_;    // of a graph input that is read, or an output: elements
  std::vector<double> charge_;         // what an op adds to any schedule at least, time units
  std::vector<double> share_;          // of an op in the cheapest group that it is in
  std::vector<std::uint64_t> tensor_hash_;
};

}  // namespace fuselage::grid
