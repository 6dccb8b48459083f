// Which kernels a state has under `physical`, in fixed and in free order.

#include <algorithm>
#include <limits>
#include <tuple>

#include "frontier.h"
#include "fuselage/walk/problem.h"
#include "group.h"
#include "id_list.h"
#include "towers.h"

namespace fuselage::walk {
namespace {

// Tensors of one kernel to keep or drop: at most 2^10 sets. Beyond that the ones that are read soonest have a
// choice; of the later ones so many that are read next are kept with all of those: any number up to
// short_tails, longer tails in steps of a quarter. What is listed must not depend on the capacity, but for
// what fits: more room never takes a kernel away.
constexpr std::size_t most_choices = 10;
constexpr std::size_t short_tails = 64;
// Free order: sets of nodes that start with one root, and kernels of one state. Where there are more (stars)
// sets are listed by their size, smaller ones first, so that a larger depth takes no set away; a state's
// later ones keep few tensors of choice.
constexpr int most_groups = 1024;
constexpr std::size_t most_kernels = 1 << 15;
constexpr std::size_t few_choices = 2;
constexpr std::size_t most_poor_groups = 1 << 9;
// Free order: what growing the sets of one state may take in all, in tensors and readers looked at; 20 ms or
// so. Only stars of thousands of nodes take more.
constexpr std::size_t most_work = 1 << 21;

}  // namespace

// The kernels of one state, fixed or free order.
class PhysicalKernels {
 public:
  PhysicalKernels(const WalkProblem& problem, const State& state, std::vector<Kernel>& out)
      : p_(problem),
        s_(state),
        out_(out),
        capacity_(problem.hardware_.fast_mem_capacity),
        lowest_(static_cast<std::size_t>(problem.lowest_tile_)) {
    for (NodeId x : s_.resident) resident_bytes_ += p_.bytes(x);
  }

  bool enumerate() {
    if (p_.options_.order == Order::fixed) {
      declare_runs();
      return complete_;
    }
    work_ = 0;
    // To be measured are kernels that run the node at `position`: nothing in them is read by it.
    const auto roots = smallest_ ? boost::container::small_vector<int, 32>{s_.position} : ready();
    for (int at : roots) {
      groups_ = 0;
      if (!grow({at}, {})) return enumerate_by_size(roots);
    }
    return complete_;
  }

  // The least working set of the kernels that run the first node of the order that is not done, fitting or
  // not.
  std::int64_t smallest_working_set() {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    smallest_ = &smallest;
    enumerate();
    return smallest;
  }

 private:
  struct Item {
    NodeId id;
    std::int64_t bytes;   // 0 for a resident: it takes its room whether it stays or not
    bool output = false;  // a graph output that waits for its write
    bool twin = false;    // as good as the item before it
    int next_use = 0;     // where not all have a choice
  };

  // Positions that can start a kernel, in order: what waits for the done prefix alone, and for done nodes
  // ahead.
  boost::container::small_vector<int, 32> ready() const {
    boost::container::small_vector<int, 32> found;
    p_.frontier_->each(s_.position, [&](int at) {
      if (!p_.is_done(s_, at)) found.push_back(at);
    });
    for (int ahead : s_.ahead)
      for (NodeId c : p_.graph_.consumers(p_.node_at(ahead)))
        if (const int at = p_.graph_.position(c); is_ready(at)) found.push_back(at);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  bool is_ready(int at) const {
    if (p_.is_done(s_, at)) return false;
    const auto inputs = p_.graph_.inputs(p_.node_at(at));
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](NodeId x) { return p_.is_done(s_, p_.graph_.position(x)); });
  }

  // The kernels of the fixed order, from the first node that isn't done.
  void declare_runs() {
    for (const Run& run : p_.runs_.from(s_.position)) {
      if (run.end() > p_.end_ || run.count > p_.most_nodes()) break;
      group_.inputs.assign(p_.runs_.inputs(run).begin(), p_.runs_.inputs(run).end());
      group_.outputs.assign(p_.runs_.outputs(run).begin(), p_.runs_.outputs(run).end());
      group_.cycles = run.cycles;
      group_.positions.clear();
      for (int at = run.first; at < run.end(); ++at) group_.positions.push_back(at);
      declare();
    }
  }

  // Free order, too many sets or kernels to list all: those of the fixed order, then set by set, smaller ones
  // first, until the retain sets that they could have are too many; after that some with few.
  bool enumerate_by_size(const boost::container::small_vector<int, 32>& roots) {
    complete_ = false;
    out_.clear();
    if (s_.ahead.empty()) declare_runs();
    potential_ = poor_groups_ = 0;
    bool any = true;
    work_ = 0;
    for (size_ = 1; any && work_ <= most_work && size_ <= static_cast<std::size_t>(p_.most_nodes());
         ++size_) {
      any = false;
      for (int at : roots) {
        groups_ = 0;
        grow({at}, {});
        any = any || groups_ > 0;
      }
    }
    return false;
  }

  // Free order. Each set with the root `members.front()` is reached once: a node left out stays out below.
  // False if there are too many.
  bool grow(const IdList& members, IdList excluded) {
    IdList sorted = members;
    std::sort(sorted.begin(), sorted.end());
    if (size_ == 0 || members.size() == size_) {
      if (work_ > most_work || ++groups_ > most_groups ||
          (size_ == 0 ? out_.size() > most_kernels : poor_groups_ > most_poor_groups))
        return false;
      group_ = make_group(p_.graph_, p_.runs_, sorted);
      work_ += group_.inputs.size() + s_.resident.size() + excluded.size() / 8;
      if (size_ == 0 || !is_run_of_fixed_order(sorted)) declare();
      if (size_ > 0) return true;
    }
    if (static_cast<int>(members.size()) >= p_.most_nodes()) return true;
    for (int at : next_members(sorted, excluded)) {
      IdList larger = members;
      larger.push_back(at);
      if (!grow(larger, excluded)) return false;
      excluded.insert(std::lower_bound(excluded.begin(), excluded.end(), at), at);
    }
    return true;
  }

  bool is_run_of_fixed_order(const IdList& sorted) const {
    const auto count = static_cast<int>(sorted.size());
    return s_.ahead.empty() && sorted.front() == s_.position && sorted.back() - sorted.front() + 1 == count &&
           count <= p_.runs_.longest(s_.position);
  }

  // Readers of members whose other inputs are done, or members; both lists are sorted.
  IdList next_members(const IdList& sorted, const IdList& excluded) {
    IdList next;
    for (int at : sorted) {
      const auto readers = p_.graph_.consumers(p_.node_at(at));
      work_ += readers.size();
      for (NodeId c : readers) {
        const int position = p_.graph_.position(c);
        if (!holds(sorted, position) && !std::binary_search(excluded.begin(), excluded.end(), position) &&
            fits_after(c, sorted))
          next.push_back(position);
      }
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    return next;
  }

  bool fits_after(NodeId node, const IdList& sorted) const {
    const auto inputs = p_.graph_.inputs(node);
    return std::all_of(inputs.begin(), inputs.end(), [&](NodeId x) {
      const int at = p_.graph_.position(x);
      return p_.is_done(s_, at) || std::binary_search(sorted.begin(), sorted.end(), at);
    });
  }

  void declare() {
    const bool last = p_.progress(s_) + static_cast<int>(group_.positions.size()) == p_.end_;
    const bool may_keep = !last && p_.options_.may_retain;
    items_.clear();
    streamed_.clear();
    for (NodeId x : group_.inputs) {
      if (holds(s_.resident, x)) continue;
      streamed_.push_back(x);
      if (may_keep && lives_after(x)) items_.push_back({x, p_.bytes(x)});
    }
    for (NodeId x : group_.outputs) {
      streamed_.push_back(x);
      if (may_keep) items_.push_back({x, p_.bytes(x)});
    }
    for (NodeId x : s_.resident)
      if (may_keep && (lives_after(x) || is_unwritten_output(x))) items_.push_back({x, 0});
    prepare_items();
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      slices_[t] = resident_bytes_;
      for (NodeId x : streamed_) slices_[t] += slice_bytes(p_.bytes(x), tiles[t]);
    }
    if (smallest_) {
      if (group_.has(s_.position)) *smallest_ = std::min(*smallest_, slices_[lowest_]);
      return;
    }
    retain_.clear();
    choose(0, slices_[lowest_]);
    keep_tails();
  }

  // Graph outputs of equal size that wait for their write are as good as each other: items next to each other
  // are chosen from the front.
  void prepare_items() {
    for (Item& it : items_) it.output = p_.graph_.uses(it.id) == 0;
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return std::tie(a.output, a.bytes) < std::tie(b.output, b.bytes);
    });
    std::size_t choices = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].twin = i > 0 && items_[i].output && items_[i - 1].output &&
                       items_[i].bytes == items_[i - 1].bytes &&
                       p_.bytes(items_[i].id) == p_.bytes(items_[i - 1].id);
      choices += !items_[i].twin;
    }
    tail_.clear();
    const std::size_t most = choices_left();
    potential_ += std::size_t{1} << std::min(choices, most);
    if (choices <= most) return;
    complete_ = false;
    for (Item& it : items_) {
      it.twin = false;
      it.next_use = next_use(it.id);
    }
    std::stable_sort(items_.begin(), items_.end(),
                     [](const Item& a, const Item& b) { return a.next_use < b.next_use; });
    tail_.assign(items_.begin() + static_cast<std::ptrdiff_t>(most), items_.end());
    items_.resize(most);
  }

  // Of one kernel; counts the groups that get few.
  std::size_t choices_left() {
    if (size_ == 0 || potential_ <= most_kernels) return most_choices;
    ++poor_groups_;
    return few_choices;
  }

  // Everything that has a choice, and more and more of the rest.
  void keep_tails() {
    if (tail_.empty()) return;
    std::int64_t working_set = slices_[lowest_];
    const std::size_t short_ones = items_.size() < most_choices ? 0 : short_tails;
    const auto keep = [&](const Item& it) {
      retain_.push_back(it.id);
      if (it.bytes > 0) working_set += it.bytes - slice_bytes(it.bytes, tiles[lowest_]);
    };
    for (const Item& it : items_) keep(it);
    std::size_t listed = 0;
    for (std::size_t kept = 1; kept <= tail_.size(); ++kept) {
      keep(tail_[kept - 1]);
      if (working_set > capacity_) break;
      const bool is_listed = kept <= short_ones || kept == tail_.size() || kept * 4 >= listed * 5;
      if (!is_listed) continue;
      listed = kept;
      declare_tile();
    }
    retain_.clear();
  }

  // Position of the first node that isn't done, nor a member, and reads x; the largest integer if none does.
  int next_use(NodeId x) const {
    if (p_.options_.order == Order::fixed) return p_.runs_.next_use(x, group_.positions.back() + 1);
    int next = std::numeric_limits<int>::max();
    for (NodeId c : p_.graph_.consumers(x)) {
      const int at = p_.graph_.position(c);
      if (at < next && !p_.is_done(s_, at) && !group_.has(at)) next = at;
    }
    return next;
  }

  bool lives_after(NodeId x) const {
    if (p_.options_.order == Order::fixed) return p_.runs_.last_use(x) > group_.positions.back();
    const auto consumers = p_.graph_.consumers(x);
    return std::any_of(consumers.begin(), consumers.end(), [&](NodeId c) {
      const int at = p_.graph_.position(c);
      return !p_.is_done(s_, at) && !group_.has(at);
    });
  }
  bool is_unwritten_output(NodeId x) const { return p_.graph_.uses(x) == 0 && holds(s_.unwritten, x); }

  // `working_set` is the one at the smallest tile with what is retained so far.
  void choose(std::size_t item, std::int64_t working_set, bool took_last = true) {
    if (working_set > capacity_) return;
    if (item == items_.size()) {
      declare_tile();
      return;
    }
    const Item it = items_[item];
    choose(item + 1, working_set, false);
    if (it.twin && !took_last) return;
    retain_.push_back(it.id);
    choose(item + 1,
           it.bytes == 0 ? working_set : working_set + it.bytes - slice_bytes(it.bytes, tiles[lowest_]));
    retain_.pop_back();
  }

  // The tile does not change what follows: the fastest that fits.
  void declare_tile() {
    int best = -1;
    for (int t = p_.lowest_tile_; t <= p_.highest_tile_; ++t) {
      const auto i = static_cast<std::size_t>(t);
      std::int64_t working_set = slices_[i];
      for (NodeId x : retain_)
        if (!holds(s_.resident, x)) working_set += p_.bytes(x) - slice_bytes(p_.bytes(x), tiles[i]);
      if (working_set > capacity_) break;
      if (best < 0 || group_.cycles[i] < group_.cycles[static_cast<std::size_t>(best)]) best = t;
    }
    Kernel& k = out_.emplace_back();
    k.first = group_.positions.front();
    k.count = static_cast<int>(group_.positions.size());
    k.tile = best;
    if (p_.options_.order == Order::free) k.nodes = group_.positions;
    k.retain = retain_;
    std::sort(k.retain.begin(), k.retain.end());
  }

  const WalkProblem& p_;
  const State& s_;
  std::vector<Kernel>& out_;
  std::int64_t capacity_;
  std::size_t lowest_;  // index of the smallest legal tile
  std::int64_t resident_bytes_ = 0;
  bool complete_ = true;
  int groups_ = 0;               // of the present root
  std::size_t size_ = 0;         // of the sets listed now, where there are too many; 0: all sizes
  std::size_t potential_ = 0;    // retain sets so far, fitting or not
  std::size_t work_ = 0;         // of growing sets so far
  std::size_t poor_groups_ = 0;  // sets of nodes so far that got few choices
  Group group_;
  IdList streamed_;
  std::array<std::int64_t, 4> slices_ = {};         // by tile, residents included
  boost::container::small_vector<Item, 12> items_;  // that have a choice
  boost::container::small_vector<Item, 12> tail_;   // that have none, those that are read soonest first
  IdList retain_;
  std::int64_t* smallest_ = nullptr;  // set: only measure
};

bool WalkProblem::kernels_physical(const State& s, std::vector<Kernel>& out) const {
  return PhysicalKernels(*this, s, out).enumerate();
}

WalkProblem::Infeasible WalkProblem::explain_infeasible(const std::vector<State>& deepest) const {
  const auto done = [&](const State& s) {
    std::vector<int> positions;
    for (int at = 0; at < end_; ++at)
      if (is_done(s, at)) positions.push_back(at);
    return positions;
  };
  // A state also stands for those in which like parts have changed places (towers.h).
  State bare;
  for (const State& s : deepest) {
    State candidate{.position = s.position, .ahead = s.ahead, .resident = {}, .unwritten = {}};
    if (towers_) candidate = towers_->moved(candidate, towers_->earliest(candidate));
    if (&s == &deepest.front() || done(candidate) < done(bare)) bare = std::move(candidate);
  }
  std::vector<Kernel> none;
  return {.node = node_at(bare.position),
          .capacity = hardware_.fast_mem_capacity,
          .smallest_working_set = PhysicalKernels(*this, bare, none).smallest_working_set()};
}

}  // namespace fuselage::walk
