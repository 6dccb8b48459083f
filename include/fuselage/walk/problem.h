// The walk family as a search problem: one problem, three rule sets. A state stands between two kernels; a
// kernel is the next run of nodes, its tile and what it retains. What differs between the rule sets is the
// policy of residency: who may be retained, when a tensor leaves, and which traffic is charged.
//
// Which kernels are declared, and why that loses no optimum ("lossless" below):
//
// Tiles. Under the seed's accounting the tile does not change what is resident, so only the cheapest one that
// fits is declared (under `seed` the Pareto points of cycles and unused capacity).
//
// Phantoms. Under `seed` any tensor can be made resident for free by naming it. That can always wait until
// the kernel before the one that touches it, so a state carries the unused capacity of the kernel before
// (`slack`), and the next kernel buys from it what it wants to find resident.
//
// Residents. A tensor that no kernel can read free any more is not retained, unless that saves its store.
//
// Fallbacks. A group that is invalid when it closes (duplicate retain entries can force that) runs its
// members alone; that is declared wherever it could pay.
//
// These arguments hold while oom_penalty is no bargain (can_exploit). If it could be one, every retain set is
// declared, and `kernels` says so where there are too many of them for that.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuselage/search/problem.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

using IdList = boost::container::small_vector<NodeId, 6>;

struct State {
  int position = 0;         // first position of the order that is not done
  bool open = false;        // starts inside an open group (the problem's)
  IdList ahead;             // order free: done positions beyond `position`, sorted
  IdList resident;          // sorted ids
  IdList unwritten;         // physical: residents without a copy in slow memory, sorted
  std::int64_t slack = -1;  // seed: bytes that the kernel before left unused; -1 = it can retain nothing more

  friend bool operator==(const State&, const State&) = default;
};

struct Kernel {
  int first = 0;          // fixed order: position of the first node
  int count = 0;          // number of nodes
  int tile = 2;           // index into tiles
  bool fallback = false;  // invalid on purpose: members run alone
  IdList nodes = {};      // order free: positions of the members, sorted
  IdList retain = {};
  IdList bought = {};       // seed: what the kernel before it retains for it
  std::int64_t slack = -1;  // State::slack after it
};

struct ProblemOptions {
  Rules rules = Rules::seed_honest;
  Order order = Order::fixed;
};

class WalkProblem {
 public:
  using State = walk::State;
  using Kernel = walk::Kernel;

  // Graph, hardware and table must outlive the problem. Throws Error for order free under the seed's rules.
  WalkProblem(const Graph& graph, const Hardware& hardware, const RunTable& runs,
              const ProblemOptions& options);
  // The rest of an episode from where it stands: its residents, its open group, its end at max_steps.
  explicit WalkProblem(const Episode& episode);

  State initial() const { return start_; }
  int horizon() const { return end_; }
  // Done nodes; one less while the group that an episode left open is not closed.
  int progress(const State& s) const {
    return s.position + static_cast<int>(s.ahead.size()) - (s.open ? 1 : 0);
  }
  bool kernels(const State& s, std::vector<Kernel>& out) const;
  double price(const State& s, const Kernel& k) const;
  State apply(const State& s, const Kernel& k) const;
  double bound(const State& s) const;
  std::uint64_t key(const State& s) const;
  std::uint64_t dominance_class(const State& s) const;
  bool dominates(const State& a, double cost_a, const State& b, double cost_b) const;

  // Bytes of fast memory that a kernel takes under `physical`; more than the capacity = not executable.
  std::int64_t working_set(const State& s, const Kernel& k) const;
  bool fits(const State& s, const Kernel& k) const {
    return working_set(s, k) <= hardware_.fast_mem_capacity;
  }

  // The plan that a list of kernels from initial() stands for.
  Plan plan_of(const std::vector<Kernel>& kernels) const;
  // The kernels that a legal plan stands for: the inverse, for warm starts. Nothing is bought (`seed`): what
  // the kernel before retains stays in its retain list. Throws Error for an illegal plan; names the kernel.
  std::vector<Kernel> kernels_of(const Plan& plan) const;

  // For local improvement (search/problem.h). A kernel that had bought from the one before keeps what that
  // one's slack allows; a kernel with slack -1 leaves nothing to be bought.
  void neighbours(const std::vector<State>& trail, const std::vector<Kernel>& plan, std::size_t at,
                  std::vector<search::Move<Kernel>>& out) const;
  std::optional<Kernel> refit(const State& s, const Kernel& k) const;

  // For a graph without a schedule under `physical`, given the states of most progress that were reached.
  struct Infeasible {
    NodeId node = 0;            // the first node of the order that no kernel can run
    std::int64_t capacity = 0;  // bytes
    std::int64_t smallest_working_set =
        0;  // bytes, over the kernels that would run it: tile 32, nothing retained
  };
  Infeasible explain_infeasible(const std::vector<State>& deepest) const;

 private:
  friend class SeedKernels;
  friend class PhysicalKernels;
  friend class SeedFit;
  friend class PhysicalFit;
  friend class RetainMoves;
  friend class FixedMoves;
  friend class FreeMoves;
  friend class PlanReader;

  std::int64_t bytes(NodeId id) const { return graph_.bytes(id); }
  NodeId node_at(int position) const { return graph_.order()[static_cast<std::size_t>(position)]; }
  int uses_from(NodeId id, int position) const { return runs_.uses_from(id, position); }

  bool is_done(const State& s, int position) const;
  void prepare();
  bool can_exploit() const;
  double most_phantoms_save() const;
  void bound_suffixes();
  double least_run_cost(const Run& run) const;

  bool kernels_seed(const State& s, std::vector<Kernel>& out) const;
  bool kernels_physical(const State& s, std::vector<Kernel>& out) const;
  double price_seed(const State& s, const Kernel& k) const;
  double price_fallback(const State& s, const Kernel& k) const;
  double price_physical(const State& s, const Kernel& k) const;
  State apply_seed(const State& s, const Kernel& k) const;
  State apply_physical(const State& s, const Kernel& k) const;
  bool dominates_seed(const State& a, double cost_a, const State& b, double cost_b) const;
  bool dominates_physical(const State& a, double cost_a, const State& b, double cost_b) const;

  const Graph& graph_;
  const Hardware& hardware_;
  const RunTable& runs_;
  ProblemOptions options_;
  int end_ = 0;  // positions from here on are never visited
  OpenGroup open_;
  State start_;
  bool exploitable_ = false;  // could running out of memory on purpose pay?
  bool enumerates_all_ =
      false;  // exploitable, so declare every retain set (kernels() says where that is too many)
  std::vector<double> suffix_bound_;  // by position: cycles of everything from there, residency relaxed
  std::vector<double> node_bound_;    // order free, by position: least compute cycles
};

static_assert(search::HasDominance<WalkProblem>);
static_assert(search::HasNeighbours<WalkProblem>);

}  // namespace fuselage::walk
