// What a kernel may retain in a given state, and which tile it fits with: what turns a kernel that was meant
// for another state into one that this state can run, and what a plan is read by.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fuselage/walk/problem.h"
#include "group.h"

namespace fuselage::walk {

using Ids = std::span<const NodeId>;

// One run of nodes under `seed` or `seed_honest`, where a group grows node by node.
class SeedFit {
 public:
  SeedFit(const WalkProblem& problem, const State& state, const Run& run)
      : p_(problem), s_(state), run_(run), capacity_(problem.hardware_.fast_mem_capacity) {}

  // The run that starts in s and has the nodes of k; none if there is none.
  static const Run* run_of(const WalkProblem& problem, const State& s, const Kernel& k);
  // Is the run the group that an episode left open, as it is?
  bool closes_as_is() const { return s_.open && run_.end() == s_.position; }

  bool is_legal(int tile) const;
  // The tile that a group is given which is to be invalid: 128, at which its members run, if that is legal.
  static int fallback_tile(const WalkProblem& problem);
  // Does every prefix fit, at the smallest legal tile with nothing retained, and the whole too?
  bool grows(Ids bought = {}) const;
  // May the kernel name x in its retain list? (seed_honest; under seed it may name anything)
  bool may_name(NodeId x) const;
  // Does naming x change what follows, or save its store?
  bool pays(NodeId x, Ids bought = {}) const;
  bool is_resident(NodeId x) const;

  // Bytes left for slices when the last node joins and when the group closes; negative if there is no room.
  // Every entry of `retain` counts.
  std::int64_t room_to_join(Ids retain, Ids bought = {}) const;
  std::int64_t room_to_close(Ids retain, Ids bought = {}) const;
  std::int64_t room(Ids retain, Ids bought = {}) const;
  // The tile of fewest cycles whose slices take at most `room`; -1 if none does.
  int fastest_tile(std::int64_t room) const;

  // What refit makes of k; see search/problem.h.
  std::optional<Kernel> refitted(const Kernel& k) const;

 private:
  bool inside(NodeId x, const Run& run) const {
    return p_.graph_.position(x) >= run.first && p_.graph_.position(x) < run.end();
  }
  bool dies(NodeId x, int before) const {
    const int last = p_.runs_.last_use(x);
    return last >= s_.position && last < before;
  }
  std::int64_t resident_bytes(const Run& run, int before) const;
  std::int64_t room_at(int before, Ids retain, Ids bought) const;
  bool stays_invalid(const Kernel& k) const;
  void buy(const Kernel& k, Kernel& out) const;
  bool drop_one(Kernel& k) const;
  Kernel as_is() const;

  const WalkProblem& p_;
  const State& s_;
  const Run& run_;
  std::int64_t capacity_;
};

// One set of nodes under `physical`, either order.
class PhysicalFit {
 public:
  // `k` need not be a kernel that s can run: see can_run.
  PhysicalFit(const WalkProblem& problem, const State& state, const Kernel& k);
  PhysicalFit(const PhysicalFit&) = delete;  // its lists may be its own group's
  PhysicalFit& operator=(const PhysicalFit&) = delete;

  bool can_run() const { return can_run_; }
  bool is_last() const { return last_; }
  Ids inputs() const { return inputs_; }
  Ids outputs() const { return outputs_; }
  const std::array<double, 4>& cycles() const { return cycles_; }
  bool has(NodeId x) const;

  // Is x still wanted after the kernel, by a reader or as a graph output without a slow copy?
  bool lives_after(NodeId x) const;
  // May the kernel retain x, and is x not dead then?
  bool may_retain(NodeId x) const;
  // Position of the next reader after the kernel; the largest integer if there is none.
  int next_use(NodeId x) const;
  // The tile of fewest cycles that fits; -1 if none does.
  int fastest_tile(Ids retain) const;

  std::optional<Kernel> refitted(const Kernel& k) const;

 private:
  bool can_run_free(const Kernel& k) const;
  bool drop_one(Kernel& k) const;

  const WalkProblem& p_;
  const State& s_;
  bool free_;
  bool can_run_ = false;
  bool last_ = false;
  int first_ = 0;
  int end_ = 0;
  Group group_;
  Ids inputs_;
  Ids outputs_;
  std::array<double, 4> cycles_ = {};
};

}  // namespace fuselage::walk
