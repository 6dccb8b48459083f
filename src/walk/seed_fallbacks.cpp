// Groups of `seed` and `seed_honest` that are invalid when they close, so that their members run alone.

#include <algorithm>
#include <limits>

#include "seed_kernels.h"

namespace fuselage::walk {
namespace {

constexpr std::int64_t most_duplicates = 4096;  // entries of a retain list that forces a fallback
constexpr int fallback_tile = tile_index(default_tile);

}  // namespace

void SeedKernels::declare_fallback(const Run& run) {
  items_.clear();
  retain_.clear();
  bought_.clear();
  if (run.count == 1)
    declare_fallback_of_one(run);
  else
    declare_forced_fallback(run);
}

bool SeedKernels::default_tile_is_legal() const {
  return p_.lowest_tile_ <= fallback_tile && fallback_tile <= p_.highest_tile_;
}

void SeedKernels::declare_fallback_of_one(const Run& run) {
  std::int64_t slack = s_.slack;
  const bool runs_out = runs_out_alone(run.first, run.end());
  // The kernel of the same node that retains nothing and fits: does it leave the fallback no point?
  const bool fits = room_ >= 0;
  if (!p_.enumerates_all_ && !p_.passes_phantoms_ && fits && runs_out && cost_alone(run) <= oom_penalty)
    return;
  if (default_tile_is_legal()) {
    if (!runs_out && !p_.passes_phantoms_) return;
  } else if (fits) {
    const bool faster = run.cycles[lowest_] > run.cycles[fallback_tile];
    const bool leaves_more = phantoms_ && p_.lowest_tile_ > fallback_tile;
    if (!runs_out && !faster && !leaves_more && !p_.passes_phantoms_) return;
    if (!p_.options_.may_retain || !force_alone(run, slack)) return;
  }
  if (!p_.enumerates_all_) list_bargains(run);
  choose_fallback(run, 0, slack);
}

// A group of several nodes fits when its last node joins; what that node reads last, named again and again,
// is resident then, and no longer when the group closes.
void SeedKernels::declare_forced_fallback(const Run& run) {
  const NodeId victim = largest_dying_at(run.end() - 1);
  if (victim < 0 || !p_.options_.may_retain || !can_pay(run) || !force(run, victim)) return;
  if (!p_.enumerates_all_) list_bargains(run);
  choose_fallback(run, 0, s_.slack);
}

// Only what dies early sets the members of a group apart from the same nodes one by one: it may take the room
// of a member, and is charged for. A phantom that joins the residents may make a member run out, and another
// one fit in the end.
bool SeedKernels::can_pay(const Run& run) const {
  const int from = std::max(run.first, s_.position);
  if (p_.enumerates_all_ || from > run.first || (phantoms_ && s_.slack >= 0)) return true;
  if (!default_tile_is_legal()) return true;
  for (int at = from; at < run.end(); ++at)
    if (runs_out_alone(at, at + 1)) return true;
  if (p_.options_.price.residency == 0) return false;
  for (int t = p_.lowest_tile_; t <= p_.highest_tile_; ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (run.slices[i] - run.slices[lowest_] <= room_ && run.cycles[i] <= run.cycles[fallback_tile])
      return false;  // fused it is no slower
  }
  return true;
}

bool SeedKernels::runs_out_alone(int position, int before) const {
  const Run& alone = p_.runs_.run(position, 1);
  return alone.slices[fallback_tile] + resident_bytes(alone, before) > capacity_;
}

// Retains `entry` until the group is invalid when it closes.
bool SeedKernels::force(const Run& run, NodeId entry) {
  const std::int64_t room = capacity_ - run.slices[lowest_] - resident_bytes(run, run.end());
  const std::int64_t copies = std::max<std::int64_t>(1, room / p_.bytes(entry) + 1);
  if (copies + static_cast<std::int64_t>(retain_.size()) > most_duplicates) {
    complete_ = false;
    return false;
  }
  retain_.insert(retain_.end(), static_cast<std::size_t>(copies), entry);
  return true;
}

// A node alone becomes invalid by any tensor that takes room when it is named. One that the kernel before has
// bought takes none, now or for the next kernel: one that nobody reads any more is not bought, and of the
// others so many are named that they can't all be, or else all of them, and `slack` is too little for that.
bool SeedKernels::force_alone(const Run& run, std::int64_t& slack) {
  std::vector<NodeId> ids;
  const auto consider = [&](NodeId x) {
    const bool takes_room = p_.bytes(x) > 0 && (!is_resident(x) || dies(x, run.end()));
    if (takes_room && !holds(ids, x)) ids.push_back(x);
  };
  if (phantoms_) {
    for (NodeId x = 0; x < p_.graph_.size(); ++x) consider(x);
  } else {
    consider(p_.node_at(run.first));
    for (NodeId x : p_.runs_.inputs(run)) consider(x);
  }
  const auto is_dead = [&](NodeId x) {
    const int last = p_.runs_.last_use(x);
    return (last < 0 ? p_.graph_.position(x) : last) < run.end();
  };
  std::stable_sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) {
    return std::pair(is_dead(a), p_.bytes(a)) > std::pair(is_dead(b), p_.bytes(b));
  });
  std::int64_t named = 0;
  for (NodeId x : ids) {
    if (!force(run, x)) return false;
    named += p_.bytes(x);
    if (is_dead(x) || named > slack) return true;
  }
  slack = std::min(slack, named - 1);
  return named > 0;
}

NodeId SeedKernels::largest_dying_at(int position) const {
  NodeId largest = -1;
  for (NodeId x : s_.resident)
    if (p_.runs_.last_use(x) == position && p_.bytes(x) > 0 &&
        (largest < 0 || p_.bytes(x) > p_.bytes(largest)))
      largest = x;
  return largest;
}

// What the run costs at its fastest tile that fits, with nothing resident or retained.
double SeedKernels::cost_alone(const Run& run) const {
  double best = std::numeric_limits<double>::infinity();
  for (int t = p_.lowest_tile_; t <= p_.highest_tile_; ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (run.slices[i] - run.slices[lowest_] <= room_) best = std::min(best, run.cycles[i]);
  }
  const double memory =
      p_.hardware_.transfer_cycles(run.input_bytes) + p_.hardware_.transfer_cycles(run.output_bytes);
  return std::max(best, memory) + p_.hardware_.kernel_launch_cost;
}

// What members may read free if the kernel before retains it.
void SeedKernels::list_bargains(const Run& run) {
  const auto list = [&](std::span<const NodeId> ids) {
    for (NodeId x : ids)
      if (!is_resident(x) && p_.runs_.last_use(x) >= run.end() && can_buy(x))
        items_.push_back({x, Kind::buy_input, p_.bytes(x)});
  };
  list(p_.runs_.inputs(run));
  list(p_.runs_.outputs(run));
  note_unpayable(run);
  limit_items(run);
}

void SeedKernels::choose_fallback(const Run& run, std::size_t item, std::int64_t slack) {
  if (item < items_.size()) {
    choose_fallback(run, item + 1, slack);
    if (items_[item].bytes > slack) return;
    bought_.push_back(items_[item].id);
    choose_fallback(run, item + 1, slack - items_[item].bytes);
    bought_.pop_back();
    return;
  }
  if (run.count > 1) {
    std::int64_t outside = 0;
    for (NodeId x : bought_)
      if (!inside(run, p_.graph_.position(x))) outside += p_.bytes(x);
    if (outside > room_ || !prefixes_fit()) return;
  }
  push_fallbacks(run, slack);
}

// How much more the kernel before may retain for the next one decides which members fit: as much as leaves
// those alone that fit now; or so much (which is owed then) that some of them run out too, where that can
// pay.
void SeedKernels::push_fallbacks(const Run& run, std::int64_t slack) {
  if (!phantoms_ || p_.enumerates_all_) {
    push_fallback(run, -1, 0);
    return;
  }
  for (std::size_t i = 0; i < prefix_.size(); ++i) {
    if (prefix_[i]->count < 2) continue;
    std::int64_t room = prefix_room_[i];
    for (NodeId x : bought_)
      if (!inside(*prefix_[i], p_.graph_.position(x))) room -= p_.bytes(x);
    slack = std::min(slack, room);
  }
  boost::container::small_vector<std::int64_t, 8> rooms;  // of members that fit
  for (int at = run.first; at < run.end(); ++at) {
    const Run& alone = p_.runs_.run(at, 1);
    std::int64_t room = capacity_ - alone.slices[fallback_tile] - resident_bytes(alone, run.end());
    for (NodeId x : bought_)
      if (p_.graph_.position(x) != at) room -= p_.bytes(x);
    if (room >= 0) rooms.push_back(room);
  }
  std::sort(rooms.begin(), rooms.end());
  if (run.count > 1 || rooms.empty() || !default_tile_is_legal())
    push_fallback(run, rooms.empty() ? slack : std::min(slack, rooms.front()), 0);
  if (!p_.passes_phantoms_ || run.end() == p_.end_) return;
  for (std::size_t i = 0; i < rooms.size() && rooms[i] < slack; ++i) {
    const std::int64_t next = i + 1 < rooms.size() ? std::min(slack, rooms[i + 1]) : slack;
    if (next > rooms[i]) push_fallback(run, next, rooms[i] + 1);
  }
}

void SeedKernels::push_fallback(const Run& run, std::int64_t slack, std::int64_t owed) {
  const int tile = run.count == 1 && default_tile_is_legal() ? fallback_tile : p_.lowest_tile_;
  Kernel& k = push(run, tile, std::max<std::int64_t>(-1, slack));
  k.fallback = true;
  k.owed = owed;
}

}  // namespace fuselage::walk
