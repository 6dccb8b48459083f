// Groups of `seed` and `seed_honest` that fit.

#include "seed_kernels.h"

#include <algorithm>
#include <limits>

namespace fuselage::walk {
namespace {

constexpr std::size_t most_candidates = 10;  // retain sets enumerated in full: 2^10

}  // namespace

SeedKernels::SeedKernels(const WalkProblem& problem, const State& state, std::vector<Kernel>& out)
    : p_(problem),
      s_(state),
      out_(out),
      first_(state.open ? problem.open_.first : state.position),
      capacity_(problem.hardware_.fast_mem_capacity),
      phantoms_(problem.options_.rules == Rules::seed && problem.options_.may_retain),
      lowest_(static_cast<std::size_t>(problem.lowest_tile_)) {}

bool SeedKernels::enumerate() {
  if (s_.open) close_as_is();
  for (const Run& run : p_.runs_.from(first_)) {
    if (run.end() > p_.end_ || (run.count > 1 && !p_.options_.may_fuse)) break;
    if (run.end() <= s_.position) continue;
    checked_ = resident_bytes(run, run.count > 1 ? run.end() - 1 : run.end());
    room_ = capacity_ - checked_ - run.slices[lowest_];
    if (run.count > 1 && room_ < 0) break;  // cannot be fused, and nothing longer can
    prefix_room_.push_back(room_);
    prefix_.push_back(&run);
    if (p_.enumerates_all_)
      declare_all(run);
    else if (room_ >= 0)
      declare(run);
    declare_fallback(run);
  }
  return complete_ && (!p_.exploitable_ || p_.enumerates_all_);
}

// Residents outside the run once those with a last use before `before` have left.
std::int64_t SeedKernels::resident_bytes(const Run& run, int before) const {
  std::int64_t bytes = 0;
  for (NodeId x : s_.resident)
    if (!dies(x, before) && !inside(run, p_.graph_.position(x))) bytes += p_.bytes(x);
  return bytes;
}

void SeedKernels::close_as_is() {
  const Run& run = p_.runs_.run(p_.open_.first, p_.open_.count);
  Kernel k{.first = run.first, .count = run.count, .tile = tile_index(p_.open_.tile)};
  k.retain.assign(p_.open_.retain.begin(), p_.open_.retain.end());
  std::int64_t bytes = run.slices[static_cast<std::size_t>(k.tile)] + resident_bytes(run, s_.position);
  for (NodeId x : k.retain)
    if (!is_resident(x)) bytes += p_.bytes(x);
  k.fallback = bytes > capacity_;
  out_.push_back(std::move(k));
}

void SeedKernels::declare(const Run& run) {
  items_.clear();
  always_.clear();
  if (p_.options_.may_retain) list_items(run);
  limit_items(run);
  retain_.assign(always_.begin(), always_.end());
  bought_.clear();
  choose(run, 0, room_, s_.slack);
}

// Lossless retain sets (see problem.h): members that live on or are graph outputs; under seed_honest also
// inputs that it loads and somebody may still read free; under seed what the kernel before can retain for
// this one.
void SeedKernels::list_items(const Run& run) {
  for (NodeId x : p_.runs_.outputs(run)) {
    const bool lives = p_.runs_.last_use(x) >= run.end();
    const bool graph_output = p_.runs_.last_use(x) < 0;
    if (!lives && !graph_output) continue;
    if (is_resident(x)) {
      if (lives)
        always_.push_back(x);
      else
        items_.push_back({x, Kind::retain_free, 0});
      continue;
    }
    items_.push_back({x, Kind::retain, p_.bytes(x)});
    if (can_buy(x)) items_.push_back({x, Kind::buy_output, p_.bytes(x)});
  }
  for (NodeId x : p_.runs_.inputs(run)) {
    if (is_resident(x) || p_.runs_.last_use(x) < run.end()) continue;
    if (can_buy(x)) items_.push_back({x, Kind::buy_input, p_.bytes(x)});
    if (p_.options_.rules == Rules::seed_honest && p_.uses_from(x, run.end()) >= 2)
      items_.push_back({x, Kind::retain, p_.bytes(x)});
  }
  // A graph output that is resident before it is made (only a careless policy does that) stays if it is
  // named again.
  for (NodeId x : s_.resident)
    if (p_.runs_.last_use(x) < 0 && p_.graph_.position(x) >= run.end())
      items_.push_back({x, Kind::retain_free, 0});
  note_unpayable(run);
}

// See WalkProblem::owed_after.
void SeedKernels::note_unpayable(const Run& run) {
  if (s_.owed == 0 || s_.held <= 2) return;
  for (NodeId x : p_.runs_.inputs(run)) {
    const int at = p_.graph_.position(x);
    const bool between = at < s_.position && at > s_.position - s_.held;
    if (between && !is_resident(x) && p_.runs_.last_use(x) >= run.end() && can_buy(x)) complete_ = false;
  }
}

// Beyond 2^10 sets only the tensors that are read soonest have a choice.
void SeedKernels::limit_items(const Run& run) {
  constexpr std::size_t most_items = 10;
  if (items_.size() <= most_items) return;
  complete_ = false;
  std::stable_sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
    return p_.runs_.next_use(a.id, run.end()) < p_.runs_.next_use(b.id, run.end());
  });
  items_.resize(most_items);
}

// Depth first over the items: leave out first, so that the empty set is the first kernel.
void SeedKernels::choose(const Run& run, std::size_t item, std::int64_t room, std::int64_t slack) {
  if (item == items_.size()) {
    if (!pays_needlessly(slack)) declare_tiles(run, room);
    return;
  }
  choose(run, item + 1, room, slack);
  const Item it = items_[item];
  const bool buys = it.kind == Kind::buy_input || it.kind == Kind::buy_output;
  const std::int64_t taken = it.kind == Kind::retain || it.kind == Kind::buy_input ? it.bytes : 0;
  if (taken > room || (buys && it.bytes > slack)) return;
  if (it.kind == Kind::buy_output && holds(retain_, it.id)) return;  // retained already, at its own price
  if (it.kind != Kind::buy_input) retain_.push_back(it.id);
  if (buys) bought_.push_back(it.id);
  choose(run, item + 1, room - taken, buys ? slack - it.bytes : slack);
  if (it.kind != Kind::buy_input) retain_.pop_back();
  if (buys) bought_.pop_back();
}

// Bytes that the kernel before leaves unused are worth nothing later: whoever retains a member that they
// could have bought is dominated by the kernel that buys it, unless holding it meanwhile is charged.
bool SeedKernels::pays_needlessly(std::int64_t slack) const {
  if (!phantoms_ || p_.options_.price.residency > 0) return false;
  return std::any_of(retain_.begin(), retain_.end(), [&](NodeId x) {
    return p_.bytes(x) <= slack && !is_resident(x) && !holds(bought_, x) && can_buy(x) && prefixes_fit(x);
  });
}

// Cycles of traffic of a kernel with what is retained and bought at present.
double SeedKernels::traffic(const Run& run) const {
  std::int64_t load = run.input_bytes;
  for (NodeId x : p_.runs_.inputs(run))
    if (p_.runs_.last_use(x) >= run.end() && (is_resident(x) || holds(bought_, x))) load -= p_.bytes(x);
  std::int64_t store = run.output_bytes;
  for (NodeId x : p_.runs_.outputs(run))
    if (holds(retain_, x)) store -= p_.bytes(x);
  return p_.hardware_.transfer_cycles(load) + p_.hardware_.transfer_cycles(store);
}

// Seed: a kernel so busy computing that one of its residencies hides nothing is dominated by the one
// without it, which leaves the bytes unused for the next kernel to buy. Returns the cycles from which that
// is so: never, if traffic costs more than time, or if something has to be bought.
double SeedKernels::idle_from(const Run& run, double hidden) const {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (p_.traffic_matters_ || s_.owed > 0) return never;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (NodeId x : retain_)
    if (!is_resident(x) && !holds(bought_, x)) least = std::min(least, p_.bytes(x));
  for (NodeId x : bought_)
    if (!inside(run, p_.graph_.position(x))) least = std::min(least, p_.bytes(x));
  const bool none = least == std::numeric_limits<std::int64_t>::max();
  return none ? never : hidden + p_.hardware_.transfer_cycles(least);
}

// What was bought, and `more`, is resident while the prefixes are fused.
bool SeedKernels::prefixes_fit(NodeId more) const {
  for (std::size_t i = 0; i + 1 < prefix_.size(); ++i) {
    if (prefix_[i]->count < 2) continue;
    std::int64_t room = prefix_room_[i];
    for (NodeId x : bought_)
      if (!inside(*prefix_[i], p_.graph_.position(x))) room -= p_.bytes(x);
    if (more >= 0 && !inside(*prefix_[i], p_.graph_.position(more))) room -= p_.bytes(more);
    if (room < 0) return false;
  }
  return true;
}

// `room`: bytes left at the smallest legal tile.
void SeedKernels::declare_tiles(const Run& run, std::int64_t room) {
  if (!bought_.empty() && !prefixes_fit()) return;
  const double hidden = phantoms_ ? traffic(run) : 0;  // fewer cycles than this are no faster
  const double idle = phantoms_ ? idle_from(run, hidden) : 0;
  int best = -1;
  for (int t = p_.lowest_tile_; t <= p_.highest_tile_; ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (run.slices[i] - run.slices[lowest_] > room) break;
    if (best >= 0 &&
        std::max(hidden, run.cycles[i]) >= std::max(hidden, run.cycles[static_cast<std::size_t>(best)]))
      continue;
    best = t;
    if (phantoms_ && run.cycles[i] < idle) push(run, t, room - (run.slices[i] - run.slices[lowest_]));
  }
  if (!phantoms_ && best >= 0) push(run, best, -1);
}

Kernel& SeedKernels::push(const Run& run, int tile, std::int64_t slack) {
  Kernel& k = out_.emplace_back();
  k.first = run.first;
  k.count = run.count;
  k.tile = tile;
  k.retain.assign(retain_.begin(), retain_.end());
  k.bought.assign(bought_.begin(), bought_.end());
  k.slack = slack;
  return k;
}

// Every retain set, for graphs in which the penalty may be a bargain.
void SeedKernels::declare_all(const Run& run) {
  std::vector<NodeId> allowed;
  const auto allow = [&](NodeId x) {
    const bool stays = is_resident(x) && p_.runs_.last_use(x) >= run.end();
    if (!stays && !holds(allowed, x)) allowed.push_back(x);
  };
  if (phantoms_) {
    for (NodeId x = 0; x < p_.graph_.size(); ++x) allow(x);
  } else {
    for (int at = run.first; at < run.end(); ++at) {
      allow(p_.node_at(at));
      for (NodeId x : p_.graph_.inputs(p_.node_at(at))) allow(x);
    }
    for (NodeId x : s_.resident)
      if (!dies(x, run.end() - 1)) allow(x);
  }
  if (allowed.size() <= most_candidates) {
    declare_every_set(run, allowed);
    return;
  }
  complete_ = false;
  if (room_ >= 0) declare(run);
}

void SeedKernels::declare_every_set(const Run& run, const std::vector<NodeId>& allowed) {
  const std::int64_t final_resident = resident_bytes(run, run.end());
  always_.clear();
  for (NodeId x : p_.runs_.outputs(run))
    if (is_resident(x) && p_.runs_.last_use(x) >= run.end()) always_.push_back(x);
  bought_.clear();
  for (std::size_t set = 0; set < (std::size_t{1} << allowed.size()); ++set) {
    std::int64_t at_check = checked_;
    std::int64_t at_close = final_resident;
    retain_.assign(always_.begin(), always_.end());
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (!(set >> i & 1)) continue;
      const NodeId x = allowed[i];
      retain_.push_back(x);
      if (!is_resident(x) || dies(x, run.end() - 1)) at_check += p_.bytes(x);
      if (!is_resident(x) || dies(x, run.end())) at_close += p_.bytes(x);
    }
    const std::int64_t room =
        capacity_ - run.slices[lowest_] - std::max(run.count > 1 ? at_check : at_close, at_close);
    if (room < 0) continue;
    int best = -1;
    for (int t = p_.lowest_tile_; t <= p_.highest_tile_; ++t) {
      const auto i = static_cast<std::size_t>(t);
      if (run.slices[i] - run.slices[lowest_] > room) break;
      if (best < 0 || run.cycles[i] < run.cycles[static_cast<std::size_t>(best)]) best = t;
    }
    push(run, best, -1);
  }
}

bool WalkProblem::kernels_seed(const State& s, std::vector<Kernel>& out) const {
  return SeedKernels(*this, s, out).enumerate();
}

}  // namespace fuselage::walk
