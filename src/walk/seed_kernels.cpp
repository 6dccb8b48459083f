// Which kernels a state has under `seed` and `seed_honest`, where a group grows node by node and every prefix
// of it must fit. Why the declared ones suffice: problem.h.

#include <algorithm>
#include <limits>

#include "fuselage/walk/problem.h"
#include "id_list.h"

namespace fuselage::walk {
namespace {

constexpr int most_duplicates = 4096;        // entries of a retain list that forces a fallback
constexpr std::size_t most_candidates = 10;  // retain sets enumerated in full: 2^10

}  // namespace

// The kernels of one state. Positions: the group starts at `first_` (before the state's position if it is
// open).
class SeedKernels {
 public:
  SeedKernels(const WalkProblem& problem, const State& state, std::vector<Kernel>& out)
      : p_(problem),
        s_(state),
        out_(out),
        first_(state.open ? problem.open_.first : state.position),
        capacity_(problem.hardware_.fast_mem_capacity),
        phantoms_(problem.options_.rules == Rules::seed) {}

  bool enumerate() {
    if (s_.open) close_as_is();
    for (const Run& run : p_.runs_.from(first_)) {
      if (run.end() > p_.end_) break;
      if (run.end() <= s_.position) continue;
      checked_ = resident_bytes(run, run.count > 1 ? run.end() - 1 : run.end());
      room_ = capacity_ - checked_ - run.slices[0];
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

 private:
  enum class Kind : std::uint8_t { retain, retain_free, buy_input, buy_output };
  struct Item {
    NodeId id;
    Kind kind;
    std::int64_t bytes;
  };

  bool dies(NodeId x, int before) const {
    const int last = p_.runs_.last_use(x);
    return last >= s_.position && last < before;
  }
  static bool inside(const Run& run, int position) { return position >= run.first && position < run.end(); }
  bool is_resident(NodeId x) const { return std::binary_search(s_.resident.begin(), s_.resident.end(), x); }

  // Residents outside the run once those with a last use before `before` have left.
  std::int64_t resident_bytes(const Run& run, int before) const {
    std::int64_t bytes = 0;
    for (NodeId x : s_.resident)
      if (!dies(x, before) && !inside(run, p_.graph_.position(x))) bytes += p_.bytes(x);
    return bytes;
  }

  void close_as_is() {
    const Run& run = p_.runs_.run(p_.open_.first, p_.open_.count);
    Kernel k{.first = run.first, .count = run.count, .tile = tile_index(p_.open_.tile)};
    k.retain.assign(p_.open_.retain.begin(), p_.open_.retain.end());
    std::int64_t bytes = run.slices[static_cast<std::size_t>(k.tile)] + resident_bytes(run, s_.position);
    for (NodeId x : k.retain)
      if (!is_resident(x)) bytes += p_.bytes(x);
    k.fallback = bytes > capacity_;
    out_.push_back(std::move(k));
  }

  // Lossless retain sets (see problem.h): members that live on or are graph outputs; under seed_honest also
  // inputs that it loads and somebody may still read free; under seed what the kernel before can retain for
  // this one.
  void declare(const Run& run) {
    items_.clear();
    always_.clear();
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
      if (phantoms_ && p_.bytes(x) <= s_.slack) items_.push_back({x, Kind::buy_output, p_.bytes(x)});
    }
    for (NodeId x : p_.runs_.inputs(run)) {
      if (is_resident(x) || p_.runs_.last_use(x) < run.end()) continue;
      if (phantoms_ && p_.bytes(x) <= s_.slack) items_.push_back({x, Kind::buy_input, p_.bytes(x)});
      if (!phantoms_ && p_.uses_from(x, run.end()) >= 2) items_.push_back({x, Kind::retain, p_.bytes(x)});
    }
    // A graph output that is resident before it is made (only a careless policy does that) stays if it is
    // named again.
    for (NodeId x : s_.resident)
      if (p_.runs_.last_use(x) < 0 && p_.graph_.position(x) >= run.end())
        items_.push_back({x, Kind::retain_free, 0});
    limit_items(run);
    retain_.assign(always_.begin(), always_.end());
    bought_.clear();
    choose(run, 0, room_, s_.slack);
  }

  // Beyond 2^10 sets only the tensors that are read soonest have a choice.
  void limit_items(const Run& run) {
    constexpr std::size_t most_items = 10;
    if (items_.size() <= most_items) return;
    complete_ = false;
    std::stable_sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
      return p_.runs_.next_use(a.id, run.end()) < p_.runs_.next_use(b.id, run.end());
    });
    items_.resize(most_items);
  }

  // Depth first over the items: leave out first, so that the empty set is the first kernel.
  void choose(const Run& run, std::size_t item, std::int64_t room, std::int64_t slack) {
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
  // could have bought is dominated by the kernel that buys it.
  bool pays_needlessly(std::int64_t slack) const {
    if (!phantoms_) return false;
    return std::any_of(retain_.begin(), retain_.end(), [&](NodeId x) {
      return p_.bytes(x) <= slack && !is_resident(x) && !holds(bought_, x) && prefixes_fit(x);
    });
  }

  // Cycles of traffic of a kernel with what is retained and bought at present.
  double traffic(const Run& run) const {
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
  // is so.
  double idle_from(const Run& run, double hidden) const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (NodeId x : retain_)
      if (!is_resident(x) && !holds(bought_, x)) least = std::min(least, p_.bytes(x));
    for (NodeId x : bought_)
      if (!inside(run, p_.graph_.position(x))) least = std::min(least, p_.bytes(x));
    const bool none = least == std::numeric_limits<std::int64_t>::max();
    return none ? std::numeric_limits<double>::infinity() : hidden + p_.hardware_.transfer_cycles(least);
  }

  // What was bought, and `more`, is resident while the prefixes are fused.
  bool prefixes_fit(NodeId more = -1) const {
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

  // `room`: bytes left at tile 32.
  void declare_tiles(const Run& run, std::int64_t room) {
    if (!bought_.empty() && !prefixes_fit()) return;
    const double hidden = phantoms_ ? traffic(run) : 0;  // fewer cycles than this are no faster
    const double idle = phantoms_ ? idle_from(run, hidden) : 0;
    int best = -1;
    for (int t = 0; t < 4; ++t) {
      const auto i = static_cast<std::size_t>(t);
      if (run.slices[i] - run.slices[0] > room) break;
      if (best >= 0 &&
          std::max(hidden, run.cycles[i]) >= std::max(hidden, run.cycles[static_cast<std::size_t>(best)]))
        continue;
      best = t;
      if (phantoms_ && run.cycles[i] < idle) push(run, t, room - (run.slices[i] - run.slices[0]));
    }
    if (!phantoms_ && best >= 0) push(run, best, -1);
  }

  void push(const Run& run, int tile, std::int64_t slack) {
    Kernel& k = out_.emplace_back();
    k.first = run.first;
    k.count = run.count;
    k.tile = tile;
    k.retain.assign(retain_.begin(), retain_.end());
    k.bought.assign(bought_.begin(), bought_.end());
    k.slack = slack;
  }

  // Every retain set, for graphs in which the penalty may be a bargain.
  void declare_all(const Run& run) {
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
    if (allowed.size() > most_candidates) {
      complete_ = false;
      if (room_ >= 0) declare(run);
      return;
    }
    std::int64_t final_resident = resident_bytes(run, run.end());
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
          capacity_ - run.slices[0] - std::max(run.count > 1 ? at_check : at_close, at_close);
      if (room < 0) continue;
      int best = -1;
      for (int t = 0; t < 4; ++t) {
        const auto i = static_cast<std::size_t>(t);
        if (run.slices[i] - run.slices[0] > room) break;
        if (best < 0 || run.cycles[i] < run.cycles[static_cast<std::size_t>(best)]) best = t;
      }
      push(run, best, -1);
    }
  }

  bool runs_out_alone(int position, int before) const {
    const Run& alone = p_.runs_.run(position, 1);
    return alone.slices[2] + resident_bytes(alone, before) > capacity_;
  }

  void declare_fallback(const Run& run) {
    retain_.clear();
    bought_.clear();
    if (run.count == 1) {
      if (!runs_out_alone(run.first, run.end())) return;
      // Pointless if some tile fits for less than the penalty.
      if (!p_.enumerates_all_ && room_ >= 0 && cost_alone(run) <= oom_penalty) return;
      push(run, tile_index(default_tile), phantoms_ && !p_.enumerates_all_ ? s_.slack : -1);
      out_.back().fallback = true;
      return;
    }
    const NodeId victim = largest_dying_at(run.end() - 1);
    if (victim < 0) return;
    const int from = std::max(run.first, s_.position);
    bool pays = p_.enumerates_all_ || from > run.first;
    for (int at = from; at < run.end() && !pays; ++at) pays = runs_out_alone(at, at + 1);
    // A phantom that joins the residents may make a member run out, and another one fit in the end.
    if (!pays && !(phantoms_ && s_.slack >= 0)) return;
    const std::int64_t copies =
        (capacity_ - run.slices[0] - resident_bytes(run, run.end())) / p_.bytes(victim) + 1;
    if (copies > most_duplicates) {
      complete_ = false;
      return;
    }
    items_.clear();
    if (phantoms_ && !p_.enumerates_all_) {
      for (const auto ids : {p_.runs_.inputs(run), p_.runs_.outputs(run)})
        for (NodeId x : ids)
          if (!is_resident(x) && p_.runs_.last_use(x) >= run.end() && p_.bytes(x) <= s_.slack)
            items_.push_back({x, Kind::buy_input, p_.bytes(x)});
    }
    limit_items(run);
    victim_ = victim;
    copies_ = std::max<std::int64_t>(1, copies);
    choose_fallback(run, 0, s_.slack);
  }

  void choose_fallback(const Run& run, std::size_t item, std::int64_t slack) {
    if (item < items_.size()) {
      choose_fallback(run, item + 1, slack);
      if (items_[item].bytes > slack) return;
      bought_.push_back(items_[item].id);
      choose_fallback(run, item + 1, slack - items_[item].bytes);
      bought_.pop_back();
      return;
    }
    std::int64_t outside = 0;
    for (NodeId x : bought_)
      if (!inside(run, p_.graph_.position(x))) outside += p_.bytes(x);
    if (outside > room_ || !prefixes_fit()) return;
    retain_.assign(static_cast<std::size_t>(copies_), victim_);
    push(run, 0, phantoms_ && !p_.enumerates_all_ ? slack_after_fallback(run, slack) : -1);
    out_.back().fallback = true;
    retain_.clear();
  }

  // How much more the kernel before could have retained without changing anything in this fallback.
  std::int64_t slack_after_fallback(const Run& run, std::int64_t slack) const {
    for (std::size_t i = 0; i < prefix_.size(); ++i) {
      if (prefix_[i]->count < 2) continue;
      std::int64_t room = prefix_room_[i];
      for (NodeId x : bought_)
        if (!inside(*prefix_[i], p_.graph_.position(x))) room -= p_.bytes(x);
      slack = std::min(slack, room);
    }
    for (int at = run.first; at < run.end(); ++at) {
      const Run& alone = p_.runs_.run(at, 1);
      std::int64_t room = capacity_ - alone.slices[2] - resident_bytes(alone, run.end());
      for (NodeId x : bought_)
        if (p_.graph_.position(x) != at) room -= p_.bytes(x);
      if (room >= 0) slack = std::min(slack, room);
    }
    return std::max<std::int64_t>(-1, slack);
  }

  NodeId largest_dying_at(int position) const {
    NodeId largest = -1;
    for (NodeId x : s_.resident)
      if (p_.runs_.last_use(x) == position && p_.bytes(x) > 0 &&
          (largest < 0 || p_.bytes(x) > p_.bytes(largest)))
        largest = x;
    return largest;
  }

  // What the run costs at its fastest tile that fits, with nothing resident or retained.
  double cost_alone(const Run& run) const {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < 4 && run.slices[t] - run.slices[0] <= room_; ++t)
      best = std::min(best, run.cycles[t]);
    const double memory =
        p_.hardware_.transfer_cycles(run.input_bytes) + p_.hardware_.transfer_cycles(run.output_bytes);
    return std::max(best, memory) + p_.hardware_.kernel_launch_cost;
  }

  const WalkProblem& p_;
  const State& s_;
  std::vector<Kernel>& out_;
  int first_;
  std::int64_t capacity_;
  bool phantoms_;
  bool complete_ = true;
  std::int64_t checked_ = 0;  // bytes of residents outside the run when its last node is fused
  std::int64_t room_ = 0;     // bytes left beside them and the slices at tile 32
  boost::container::small_vector<std::int64_t, 8> prefix_room_;  // room_ of this run and the shorter ones
  boost::container::small_vector<const Run*, 8> prefix_;
  boost::container::small_vector<Item, 12> items_;
  IdList always_;
  IdList retain_;
  IdList bought_;
  NodeId victim_ = -1;
  std::int64_t copies_ = 0;
};

bool WalkProblem::kernels_seed(const State& s, std::vector<Kernel>& out) const {
  return SeedKernels(*this, s, out).enumerate();
}

}  // namespace fuselage::walk
