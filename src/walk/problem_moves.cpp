// The moves that change one kernel of a plan: what it retains, and under the fixed order where it is cut.

#include <algorithm>
#include <limits>

#include "fit.h"
#include "id_list.h"
#include "moves.h"

namespace fuselage::walk {
namespace {

constexpr std::size_t most_swaps = 8;  // of one tensor for others

void leave_out(IdList& retain, NodeId id) {
  retain.erase(std::remove(retain.begin(), retain.end(), id), retain.end());
}

}  // namespace

void join(IdList& retain, const IdList& more) {
  for (NodeId x : more)
    if (!holds(retain, x)) retain.push_back(x);
}

RetainMoves::RetainMoves(const Neighbourhood& at) : n_(at), p_(at.problem), k_(at.plan[at.at]) {
  if (!p_.options_.may_retain) return;
  if (p_.options_.rules == Rules::physical)
    list_physical();
  else
    list_seed();
}

// A tensor that finds no room beside the retained ones can only replace one.
void RetainMoves::add() {
  for (const Change& drop : drops_) emit({}, drop);
  for (const Change& add : adds_) {
    IdList retain = k_.retain;
    retain.push_back(add.id);
    if (fits(retain))
      emit(add, {});
    else
      for (std::size_t i = 0; i < std::min(drops_.size(), most_swaps); ++i) emit(add, drops_[i]);
  }
}

// At some tile?
bool RetainMoves::fits(const IdList& retain) const {
  const State& s = n_.trail[n_.at];
  if (p_.options_.rules == Rules::physical) return PhysicalFit(p_, s, k_).fastest_tile(retain) >= 0;
  const SeedFit fit(p_, s, *SeedFit::run_of(p_, s, k_));
  return fit.fastest_tile(fit.room(retain, k_.bought)) >= 0;
}

void RetainMoves::want(NodeId id, std::size_t until) {
  if (!holds(k_.retain, id) && until <= n_.plan.size()) adds_.push_back({id, until});
}

bool RetainMoves::reads(const Kernel& k, NodeId id) const {
  const auto consumers = p_.graph_.consumers(id);
  return std::any_of(consumers.begin(), consumers.end(), [&](NodeId c) {
    const int at = p_.graph_.position(c);
    return p_.options_.order == Order::free ? holds(k.nodes, at) : at >= k.first && at < k.first + k.count;
  });
}

// The first kernel after `at` that reads the tensor; the end of the plan if none within reach does.
std::size_t RetainMoves::next_reader(NodeId id) const {
  const std::size_t end = std::min(n_.plan.size(), n_.at + moves_reach);
  for (std::size_t i = n_.at + 1; i < end; ++i)
    if (reads(n_.plan[i], id)) return i;
  return n_.plan.size();
}

void RetainMoves::list_physical() {
  const PhysicalFit fit(p_, n_.trail[n_.at], k_);
  if (!fit.can_run() || fit.is_last()) return;
  for (NodeId x : k_.retain) {
    std::size_t until = n_.at + 1;
    while (until < n_.plan.size() && holds(n_.plan[until].retain, x)) ++until;
    drops_.push_back({x, until});
    const std::size_t reader = next_reader(x);
    if (reader < until) drops_.push_back({x, reader});
  }
  const IdList& resident = n_.trail[n_.at].resident;
  for (const Ids ids : {fit.outputs(), fit.inputs(), Ids(resident)}) {
    for (NodeId x : ids) {
      if (!fit.may_retain(x)) continue;
      if (&ids[0] != resident.data() && holds(resident, x)) continue;
      if (p_.graph_.uses(x) == 0) {  // its write waits
        for (const std::size_t kernels : {1, 2, 4}) want(x, n_.at + kernels);
      } else if (const std::size_t reader = next_reader(x); reader < n_.plan.size()) {
        want(x, reader);
      }
    }
  }
}

void RetainMoves::list_seed() {
  const State& s = n_.trail[n_.at];
  const Run* run = SeedFit::run_of(p_, s, k_);
  if (!run) return;
  const SeedFit fit(p_, s, *run);
  for (NodeId x : k_.retain)
    if (drops_.empty() || drops_.back().id != x) drops_.push_back({x, n_.at + 1});
  for (const Ids ids : {p_.runs_.outputs(*run), p_.runs_.inputs(*run)})
    for (NodeId x : ids)
      if (fit.pays(x)) want(x, n_.at + 1);
  if (p_.options_.rules != Rules::seed || n_.at + 1 >= n_.plan.size()) return;
  const Kernel& next = n_.plan[n_.at + 1];
  const Run& reader = p_.runs_.run(next.first, next.count);
  const IdList& resident = n_.trail[n_.at + 1].resident;
  for (NodeId x : p_.runs_.inputs(reader))
    if (p_.runs_.last_use(x) >= reader.end() && !holds(resident, x) && p_.graph_.position(x) < run->first &&
        !holds(p_.runs_.inputs(*run), x))
      want(x, n_.at + 1);
  for (NodeId x : p_.runs_.outputs(reader))
    if (!holds(resident, x)) want(x, n_.at + 2);
}

void RetainMoves::emit(const Change& added, const Change& dropped) {
  Move& move = n_.out.emplace_back();
  move.first = n_.at;
  move.removed = std::max(added.until, dropped.until) - n_.at;
  move.added.assign(n_.plan.begin() + static_cast<std::ptrdiff_t>(n_.at),
                    n_.plan.begin() + static_cast<std::ptrdiff_t>(n_.at + move.removed));
  for (std::size_t i = 0; i < move.removed; ++i) {
    IdList& retain = move.added[i].retain;
    if (n_.at + i < dropped.until) leave_out(retain, dropped.id);
    if (n_.at + i < added.until && !holds(retain, added.id)) retain.push_back(added.id);
    move.added[i].fallback = false;
  }
}

void FixedMoves::add() {
  const std::size_t left = n_.plan.size() - n_.at;
  const Kernel& k = n_.plan[n_.at];
  const int end = k.first + k.count;
  if (k.fallback || p_.exploitable_) add_fallback();
  if (left > 1) {
    const int pair_end = end + n_.plan[n_.at + 1].count;
    recut(2, pair_end);
    for (int cut = k.first + 1; cut < pair_end; ++cut)
      if (cut != end) recut(2, cut);
  }
  for (int cut = k.first + 1; cut < end; ++cut) recut(1, cut);
  if (left > 2)
    for (int cut = end + 1; cut < end + n_.plan[n_.at + 1].count; ++cut) recut(3, cut);
}

// A fallback becomes a kernel, a node alone may run out of memory on purpose.
void FixedMoves::add_fallback() {
  Kernel k = n_.plan[n_.at];
  if (!k.fallback && k.count > 1) return;
  k.tile = SeedFit::fallback_tile(p_);
  k.retain.clear();
  k.fallback = !k.fallback;
  n_.out.push_back({.first = n_.at, .removed = 1, .added = {std::move(k)}});
}

Kernel FixedMoves::piece(int first, int end) const {
  const auto& cycles = p_.runs_.run(first, end - first).cycles;
  Kernel k{.first = first, .count = end - first, .tile = p_.lowest_tile_};
  for (int t = k.tile + 1; t <= p_.highest_tile_; ++t)
    if (cycles[static_cast<std::size_t>(t)] < cycles[static_cast<std::size_t>(k.tile)]) k.tile = t;
  return k;
}

// `from` retains what `to` reads of it too. False if it did already.
bool FixedMoves::link(Kernel& from, const Kernel& to) const {
  const std::size_t before = from.retain.size();
  const auto inputs = p_.runs_.inputs(p_.runs_.run(from.first, from.count));
  for (NodeId x : p_.runs_.inputs(p_.runs_.run(to.first, to.count)))
    if ((p_.graph_.position(x) >= from.first || holds(inputs, x)) && !holds(from.retain, x))
      from.retain.push_back(x);
  return from.retain.size() > before;
}

// The nodes of the next `removed` kernels as two kernels, or as one if `cut` is their end. Both want what any
// of the old ones retained; under `physical` the second only what the last one did, since the rest has left.
void FixedMoves::recut(std::size_t removed, int cut) {
  const Kernel& k = n_.plan[n_.at];
  const Kernel& last = n_.plan[n_.at + removed - 1];
  const int end = last.first + last.count;
  if (std::max(cut - k.first, end - cut) > p_.most_nodes()) return;
  if (cut - k.first > p_.runs_.longest(k.first)) return;
  if (cut < end && end - cut > p_.runs_.longest(cut)) return;
  const bool physical = p_.options_.rules == Rules::physical;
  IdList wanted;
  bool leaves_room = false;  // seed: does the next kernel buy, or may it?
  for (std::size_t i = n_.at; i < n_.at + removed; ++i) {
    if (!n_.plan[i].fallback) join(wanted, n_.plan[i].retain);
    leaves_room = leaves_room || n_.plan[i].slack >= 0;
  }
  Move move{.first = n_.at, .removed = removed, .added = {}};
  Kernel one = piece(k.first, cut);
  one.bought = k.bought;
  one.slack = leaves_room ? 0 : -1;
  if (cut == end) {
    one.retain = physical ? last.retain : wanted;
    move.added.push_back(std::move(one));
    n_.out.push_back(std::move(move));
    return;
  }
  Kernel two = piece(cut, end);
  two.slack = one.slack;
  two.retain = physical ? last.retain : wanted;
  for (NodeId x : wanted)
    if (const int made = p_.graph_.position(x); made < cut || made >= end) one.retain.push_back(x);
  move.added = {std::move(one), std::move(two)};
  const bool more = link(move.added[0], move.added[1]);
  if (more) {
    Move& bare = n_.out.emplace_back(move);
    bare.added[0].retain.clear();
    for (NodeId x : wanted)
      if (const int made = p_.graph_.position(x); made < cut || made >= end)
        bare.added[0].retain.push_back(x);
  }
  n_.out.push_back(std::move(move));
}

void WalkProblem::neighbours(const std::vector<State>& trail, const std::vector<Kernel>& plan, std::size_t at,
                             std::vector<search::Move<Kernel>>& out) const {
  out.clear();
  const Neighbourhood here{.problem = *this, .trail = trail, .plan = plan, .at = at, .out = out};
  if (options_.order == Order::free)
    FreeMoves(here).add();
  else
    FixedMoves(here).add();
  RetainMoves(here).add();
}

}  // namespace fuselage::walk
