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
//
// Price. The objective may charge more than latency (price.h). The arguments stand, since a group that runs
// out of memory moves the bytes that it would have moved, with these changes:
// - Traffic priced or limited: no residency hides nothing. What phantoms save while a node is made to run out
//   of memory may be worth the penalty then; such nodes are declared too. Whether the phantoms are enough for
//   that shows when they are bought: until then the state owes them (`owed`).
// - Residency priced: what is bought is charged for the kernels before as well (`held`), so retaining and
//   buying are both declared; so are fallbacks that only rid memory of what dies inside the group.
//
// Restricted spaces (ProblemOptions) are problems of their own: a proof is about the space that is left.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/search/problem.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/price.h"
#include "fuselage/walk/rules.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

using IdList = boost::container::small_vector<NodeId, 6>;

struct State {
  int position = 0;         // first position of the order that is not done
  bool open = false;        // starts inside an open group (the problem's)
  int held = 0;             // seed: launches since the last kernel that fitted, with it: what is bought now
                            // was resident after each; 0 if nothing can be bought
  IdList ahead;             // order free: done positions beyond `position`, sorted
  IdList resident;          // sorted ids
  IdList unwritten;         // physical: residents without a copy in slow memory, sorted
  std::int64_t slack = -1;  // seed: bytes that the kernel before left unused; -1 = it can retain nothing more
  // seed: what the kernel that slack is of made from this position on and didn't retain can't be bought: it
  // would have saved a store there, and that kernel with it retained is declared too.
  int unsaved = std::numeric_limits<int>::max();
  std::int64_t owed = 0;     // seed: bytes to be bought next, or a node would fit that was said not to
  std::int64_t traffic = 0;  // bytes moved so far; 0 where nothing limits them

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
  std::int64_t owed = 0;    // fallback: State::owed after it
};

struct ProblemOptions {
  Rules rules = Rules::seed_honest;
  Order order = Order::fixed;
  Price price = {};
  std::optional<std::int64_t> most_traffic = {};  // bytes that the whole plan may move
  bool may_fuse = true;                           // else every kernel is one node
  bool may_retain = true;                         // else every retain list is empty
  // The one legal tile, also of prefixes under the seed's rules; the fallback runs at 128 all the same.
  std::optional<int> only_tile = {};
  bool tight_bounds = true;  // physical: worth their time wherever more than one plan is priced
  // Of setting up. Tight bounds and symmetries that aren't there by then are left out: what is proven is
  // weaker then, never wrong.
  Deadline set_up = {};
};

class Frontier;
class ResidencyBound;
class Towers;

class WalkProblem {
 public:
  using State = walk::State;
  using Kernel = walk::Kernel;

  // Graph, hardware and table must outlive the problem. Throws Error for order free under the seed's rules, a
  // tile that is none, and a price that is negative or not finite.
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
  // The objective: cycles, with what ProblemOptions::price adds. Infinite also for a kernel after which
  // most_traffic can't be kept.
  double price(const State& s, const Kernel& k) const;
  State apply(const State& s, const Kernel& k) const;
  double bound(const State& s) const;
  std::uint64_t key(const State& s) const;
  std::uint64_t dominance_class(const State& s) const;
  std::uint64_t dominance_mask(const State& s) const;
  bool dominates(const State& a, double cost_a, const State& b, double cost_b) const;

  // What the price of a kernel is made of. Under `seed` what it buys is charged here, not with the kernel
  // before, for the launches that it was held: the sums over a plan are the plan's.
  struct Charges {
    double latency = 0;       // cycles
    std::int64_t bytes = 0;   // moved
    int launches = 0;         // one a member after a fallback
    double byte_kernels = 0;  // bytes resident after it, once a launch
  };
  Charges charges(const State& s, const Kernel& k) const;
  // May s still buy x from the kernel before? Not if a node has read it since: that one had the choice.
  bool can_buy(const State& s, NodeId x) const {
    const int at = graph_.position(x);
    return bytes(x) <= s.slack && (at < s.unsaved || at > s.position - s.held) &&
           (s.held <= 1 || runs_.next_use(x, s.position - s.held + 1) >= s.position);
  }

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
        0;  // bytes, over the kernels that would run it: the smallest legal tile, nothing retained
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
  void check_options() const;
  void prepare();
  int most_nodes() const { return options_.may_fuse ? std::max(1, hardware_.max_fusion_depth) : 1; }
  bool can_exploit() const;
  double cost_alone(const Run& alone) const;
  double most_alone() const;
  double most_phantoms_save() const;
  // The seed's rules fuse node by node, so every prefix must fit; physical needs only the whole to fit.
  bool may_grow(const Run& run) const {
    return run.count == 1 || options_.rules == Rules::physical ||
           run.slices[static_cast<std::size_t>(lowest_tile_)] <= hardware_.fast_mem_capacity;
  }
  Plan plan_of_free(const std::vector<Kernel>& kernels) const;
  void bound_suffixes();
  void bound_tightly();
  void bound_traffic();
  std::int64_t forced_bytes(const Run& run) const;
  double least_run_cost(const Run& run) const;

  // Latency in cycles, and bytes moved.
  struct Cost {
    double latency = 0;
    std::int64_t bytes = 0;
  };
  Cost cost_of(const State& s, const Kernel& k) const;
  double byte_kernels(const State& s, const Kernel& k) const;
  State move(const State& s, const Kernel& k) const;
  std::int64_t owed_after(const State& s, const Kernel& k) const;
  std::int64_t least_traffic(const State& s) const;
  std::int64_t least_traffic_free(const State& s) const;

  bool kernels_seed(const State& s, std::vector<Kernel>& out) const;
  bool kernels_physical(const State& s, std::vector<Kernel>& out) const;
  Cost price_seed(const State& s, const Kernel& k) const;
  int unsaved_after(const State& s, const Kernel& k) const;
  Cost price_fallback(const State& s, const Kernel& k) const;
  Cost price_physical(const State& s, const Kernel& k) const;
  State apply_seed(const State& s, const Kernel& k) const;
  State apply_physical(const State& s, const Kernel& k) const;
  // Cycles by which loading x once more can lengthen the kernel that does, at most.
  double reload(NodeId x) const {
    return reload_.empty() ? hardware_.transfer_cycles(bytes(x)) : reload_[static_cast<std::size_t>(x)];
  }
  // Does a, once it has moved `again` bytes more, cost and move no more than b?
  bool costs_no_more(const State& a, double cost_a, double again, const State& b, double cost_b) const {
    if (options_.most_traffic && again > static_cast<double>(b.traffic - a.traffic)) return false;
    return cost_a + again * cycles_per_byte_ <= cost_b;
  }
  bool dominates_seed(const State& a, double cost_a, const State& b, double cost_b) const;
  bool dominates_physical(const State& a, double cost_a, const State& b, double cost_b) const;

  const Graph& graph_;
  const Hardware& hardware_;
  const RunTable& runs_;
  ProblemOptions options_;
  int end_ = 0;  // positions from here on are never visited
  OpenGroup open_;
  State start_;
  int lowest_tile_ = 0;  // indices into tiles: the legal ones
  int highest_tile_ = 3;
  double cycles_per_byte_ = 0;    // of traffic that nothing hides
  bool traffic_matters_ = false;  // priced or limited
  bool latency_only_ = true;      // the price is the latency, and no state owes anything
  bool exploitable_ = false;      // could running out of memory on purpose pay?
  bool enumerates_all_ =
      false;  // exploitable, so declare every retain set (kernels() says where that is too many)
  bool passes_phantoms_ = false;      // seed: could a node that phantoms make run out of memory pay?
  std::vector<double> suffix_bound_;  // by position: cycles of everything from there, residency relaxed
  std::vector<double> node_bound_;    // order free, by position: least compute cycles
  std::vector<double> node_share_;    // order free, by position: shares of the kernels' costs; may be empty
  std::vector<double> suffix_share_;
  std::vector<double> reload_;  // physical, by node: cycles that loading it once more costs; may be empty
  std::shared_ptr<const Frontier> frontier_;               // order free
  std::shared_ptr<const Towers> towers_;                   // order free; none: no parts can be exchanged
  std::shared_ptr<const ResidencyBound> residency_bound_;  // physical, fixed order
  // Only where traffic matters. Fixed order, by position: bytes that everything from there moves at least,
  // under `physical` if nothing is resident.
  std::vector<std::int64_t> suffix_traffic_;
};

static_assert(search::HasDominance<WalkProblem>);
static_assert(search::HasNeighbours<WalkProblem>);

}  // namespace fuselage::walk
