// The kernel nearest to a given one that a state can run: the same nodes, what may still be retained, the
// fastest tile that fits. If none fits, the retained tensors that are read latest go first.

#include <algorithm>
#include <limits>

#include "fit.h"
#include "id_list.h"

namespace fuselage::walk {
namespace {

// Every tensor once, sorted.
IdList as_set(const IdList& ids) {
  IdList set = ids;
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

}  // namespace

const Run* SeedFit::run_of(const WalkProblem& p, const State& s, const Kernel& k) {
  const int first = s.open ? p.open_.first : s.position;
  if (k.first != first || k.count < 1 || first >= p.end_) return nullptr;
  if (k.count > p.runs_.longest(first) || first + k.count > p.end_) return nullptr;
  if (first + k.count < s.position) return nullptr;
  const bool is_open_group = s.open && first + k.count == s.position;
  if (k.count > p.most_nodes() && !is_open_group) return nullptr;
  return &p.runs_.run(first, k.count);
}

bool SeedFit::is_legal(int tile) const {
  return tile >= p_.lowest_tile_ && tile <= p_.highest_tile_;
}

int SeedFit::fallback_tile(const WalkProblem& p) {
  return std::clamp(tile_index(default_tile), p.lowest_tile_, p.highest_tile_);
}

bool SeedFit::is_resident(NodeId x) const {
  return std::binary_search(s_.resident.begin(), s_.resident.end(), x);
}

// Of residents that are not members, once those with a last use before `before` have left.
std::int64_t SeedFit::resident_bytes(const Run& run, int before) const {
  std::int64_t bytes = 0;
  for (NodeId x : s_.resident)
    if (!dies(x, before) && !inside(x, run)) bytes += p_.bytes(x);
  return bytes;
}

bool SeedFit::grows(Ids bought) const {
  for (int count = 2; count <= run_.count; ++count) {
    const Run& prefix = p_.runs_.run(run_.first, count);
    if (prefix.end() <= s_.position) continue;
    const std::int64_t slices = prefix.slices[static_cast<std::size_t>(p_.lowest_tile_)];
    std::int64_t room = capacity_ - slices - resident_bytes(prefix, prefix.end() - 1);
    for (NodeId x : bought)
      if (!inside(x, prefix)) room -= p_.bytes(x);
    if (room < 0) return false;
  }
  return true;
}

bool SeedFit::may_name(NodeId x) const {
  if (p_.options_.rules == Rules::seed || inside(x, run_) || holds(p_.runs_.inputs(run_), x)) return true;
  return is_resident(x) && !dies(x, run_.end() - 1);
}

bool SeedFit::pays(NodeId x, Ids bought) const {
  const int last = p_.runs_.last_use(x);
  if (inside(x, run_) && (last < 0 || last >= run_.end())) return true;
  if (holds(bought, x) || (is_resident(x) && last >= run_.end())) return false;
  return p_.graph_.position(x) >= run_.end() || p_.uses_from(x, run_.end()) >= 2;
}

std::int64_t SeedFit::room_at(int before, Ids retain, Ids bought) const {
  std::int64_t room = capacity_ - resident_bytes(run_, before);
  for (NodeId x : bought)
    if (!inside(x, run_)) room -= p_.bytes(x);
  for (NodeId x : retain) {
    const bool there = (is_resident(x) && !dies(x, before)) || holds(bought, x);
    if (!there) room -= p_.bytes(x);
    if (room < 0) return -1;  // many duplicates would overflow
  }
  return room;
}

std::int64_t SeedFit::room_to_join(Ids retain, Ids bought) const {
  return room_at(run_.end() - 1, retain, bought);
}

std::int64_t SeedFit::room_to_close(Ids retain, Ids bought) const {
  return room_at(run_.end(), retain, bought);
}

std::int64_t SeedFit::room(Ids retain, Ids bought) const {
  const std::int64_t at_close = room_to_close(retain, bought);
  return run_.count == 1 ? at_close : std::min(at_close, room_to_join(retain, bought));
}

int SeedFit::fastest_tile(std::int64_t room) const {
  int best = -1;
  for (int t = p_.lowest_tile_; t <= p_.highest_tile_; ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (run_.slices[i] > room) break;
    if (best < 0 || run_.cycles[i] < run_.cycles[static_cast<std::size_t>(best)]) best = t;
  }
  return best;
}

Kernel SeedFit::as_is() const {
  Kernel k{.first = run_.first, .count = run_.count, .tile = tile_index(p_.open_.tile)};
  k.retain.assign(p_.open_.retain.begin(), p_.open_.retain.end());
  k.fallback = run_.slices[static_cast<std::size_t>(k.tile)] > room_to_close(k.retain);
  return k;
}

// A group that is invalid on purpose stays so if the rules still let it join and still refuse it.
bool SeedFit::stays_invalid(const Kernel& k) const {
  if (!k.fallback || !is_legal(k.tile) || (!p_.options_.may_retain && !k.retain.empty())) return false;
  const std::int64_t slices = run_.slices[static_cast<std::size_t>(k.tile)];
  return std::all_of(k.retain.begin(), k.retain.end(), [&](NodeId x) { return may_name(x); }) &&
         (run_.count == 1 || slices <= room_to_join(k.retain)) && slices > room_to_close(k.retain);
}

// What k bought, as far as the unused bytes of the kernel before go.
void SeedFit::buy(const Kernel& k, Kernel& out) const {
  std::int64_t slack = s_.slack;
  for (NodeId x : k.bought) {
    if (is_resident(x) || holds(out.bought, x)) continue;
    if (p_.bytes(x) > slack || !p_.can_buy(s_, x) ||
        (p_.runs_.last_use(x) < run_.end() && p_.graph_.uses(x) > 0))
      continue;
    out.bought.push_back(x);
    if (grows(out.bought) && fastest_tile(room({}, out.bought)) >= 0)
      slack -= p_.bytes(x);
    else
      out.bought.pop_back();
  }
}

// Gives up the retained tensor that takes room and is read latest.
bool SeedFit::drop_one(Kernel& k) const {
  int worst = -1;
  int latest = -1;
  for (std::size_t i = 0; i < k.retain.size(); ++i) {
    const NodeId x = k.retain[i];
    const bool there = (is_resident(x) && !dies(x, run_.end())) || holds(k.bought, x);
    if (there || p_.bytes(x) == 0) continue;
    const int next = p_.runs_.next_use(x, run_.end());
    if (next < latest) continue;
    latest = next;
    worst = static_cast<int>(i);
  }
  if (worst < 0) return false;
  k.retain.erase(k.retain.begin() + worst);
  return true;
}

std::optional<Kernel> SeedFit::refitted(const Kernel& k) const {
  if (closes_as_is()) return as_is();
  if (!grows()) return std::nullopt;
  Kernel out{.first = run_.first, .count = run_.count};
  if (stays_invalid(k)) {
    out = k;
    out.bought.clear();
    out.slack = -1;
    out.owed = 0;
    return out;
  }
  if (p_.options_.rules == Rules::seed && p_.options_.may_retain) buy(k, out);
  for (NodeId x : as_set(k.retain))
    if (p_.options_.may_retain && may_name(x) && pays(x, out.bought)) out.retain.push_back(x);
  std::int64_t left = room(out.retain, out.bought);
  while ((out.tile = fastest_tile(left)) < 0 && drop_one(out)) left = room(out.retain, out.bought);
  if (out.tile < 0) {  // one node that fits nowhere
    out.tile = fallback_tile(p_);
    out.fallback = true;
    out.retain.clear();
    out.bought.clear();
    return out;
  }
  if (k.slack < 0) return out;
  // Its tile is part of what it leaves for the next kernel to buy.
  if (is_legal(k.tile) && run_.slices[static_cast<std::size_t>(k.tile)] <= left) out.tile = k.tile;
  out.slack = left - run_.slices[static_cast<std::size_t>(out.tile)];
  return out;
}

PhysicalFit::PhysicalFit(const WalkProblem& problem, const State& state, const Kernel& k)
    : p_(problem), s_(state), free_(problem.options_.order == Order::free) {
  if (free_) {
    can_run_ = can_run_free(k);
    if (!can_run_) return;
    group_ = make_group(p_.graph_, p_.runs_, k.nodes);
    inputs_ = group_.inputs;
    outputs_ = group_.outputs;
    cycles_ = group_.cycles;
  } else {
    can_run_ = k.first == s_.position && k.count >= 1 && k.first < p_.end_ &&
               k.count <= std::min(p_.most_nodes(), p_.runs_.longest(k.first)) &&
               k.first + k.count <= p_.end_;
    if (!can_run_) return;
    const Run& run = p_.runs_.run(k.first, k.count);
    inputs_ = p_.runs_.inputs(run);
    outputs_ = p_.runs_.outputs(run);
    cycles_ = run.cycles;
  }
  first_ = k.first;
  end_ = k.first + k.count;
  last_ = p_.progress(s_) + k.count == p_.end_;
}

// Sorted nodes that are not done, all other inputs done, every node but one with an input inside.
bool PhysicalFit::can_run_free(const Kernel& k) const {
  if (k.nodes.empty() || static_cast<int>(k.nodes.size()) > p_.most_nodes()) return false;
  int roots = 0;
  for (std::size_t i = 0; i < k.nodes.size(); ++i) {
    const int at = k.nodes[i];
    if (at < 0 || at >= p_.end_ || (i > 0 && k.nodes[i - 1] >= at) || p_.is_done(s_, at)) return false;
    bool root = true;
    for (NodeId x : p_.graph_.inputs(p_.node_at(at))) {
      const int made = p_.graph_.position(x);
      const bool here = std::binary_search(k.nodes.begin(), k.nodes.end(), made);
      if (!here && !p_.is_done(s_, made)) return false;
      root = root && !here;
    }
    roots += root;
  }
  return roots == 1;
}

bool PhysicalFit::has(NodeId x) const {
  const int at = p_.graph_.position(x);
  return free_ ? group_.has(at) : at >= first_ && at < end_;
}

bool PhysicalFit::lives_after(NodeId x) const {
  if (p_.graph_.uses(x) == 0) return has(x) || holds(s_.unwritten, x);
  if (!free_) return p_.runs_.last_use(x) >= end_;
  return next_use(x) < std::numeric_limits<int>::max();
}

bool PhysicalFit::may_retain(NodeId x) const {
  return p_.options_.may_retain && !last_ && lives_after(x) &&
         (has(x) || holds(inputs_, x) || holds(s_.resident, x));
}

int PhysicalFit::next_use(NodeId x) const {
  if (!free_) return p_.runs_.next_use(x, end_);
  int next = std::numeric_limits<int>::max();
  for (NodeId c : p_.graph_.consumers(x)) {
    const int at = p_.graph_.position(c);
    if (at < next && !p_.is_done(s_, at) && !group_.has(at)) next = at;
  }
  return next;
}

int PhysicalFit::fastest_tile(Ids retain) const {
  std::int64_t whole = 0;
  for (NodeId x : s_.resident) whole += p_.bytes(x);
  for (NodeId x : retain)
    if (!holds(s_.resident, x)) whole += p_.bytes(x);
  int best = -1;
  for (int tile = p_.lowest_tile_; tile <= p_.highest_tile_; ++tile) {
    const auto t = static_cast<std::size_t>(tile);
    std::int64_t working_set = whole;
    for (const Ids streamed : {inputs_, outputs_})
      for (NodeId x : streamed)
        if (!holds(s_.resident, x) && !holds(retain, x)) working_set += slice_bytes(p_.bytes(x), tiles[t]);
    if (working_set > p_.hardware_.fast_mem_capacity) break;
    if (best < 0 || cycles_[t] < cycles_[static_cast<std::size_t>(best)]) best = tile;
  }
  return best;
}

// Residents take their room whether they stay or not.
bool PhysicalFit::drop_one(Kernel& k) const {
  int worst = -1;
  int latest = -1;
  for (std::size_t i = 0; i < k.retain.size(); ++i) {
    const NodeId x = k.retain[i];
    const int next = next_use(x);
    if (holds(s_.resident, x) || p_.bytes(x) == 0 || next < latest) continue;
    latest = next;
    worst = static_cast<int>(i);
  }
  if (worst < 0) return false;
  k.retain.erase(k.retain.begin() + worst);
  return true;
}

std::optional<Kernel> PhysicalFit::refitted(const Kernel& k) const {
  if (!can_run_) return std::nullopt;
  Kernel out{.first = k.first, .count = k.count, .nodes = k.nodes};
  for (NodeId x : as_set(k.retain))
    if (may_retain(x)) out.retain.push_back(x);
  while ((out.tile = fastest_tile(out.retain)) < 0)
    if (!drop_one(out)) return std::nullopt;
  return out;
}

std::optional<Kernel> WalkProblem::refit(const State& s, const Kernel& k) const {
  if (options_.rules == Rules::physical) return PhysicalFit(*this, s, k).refitted(k);
  const Run* run = SeedFit::run_of(*this, s, k);
  return run ? SeedFit(*this, s, *run).refitted(k) : std::nullopt;
}

}  // namespace fuselage::walk
