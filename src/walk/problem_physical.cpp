// The policy of `physical`: tensors move between slow and fast memory only as a machine could move them.

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_set>

#include "frontier.h"
#include "fuselage/walk/problem.h"
#include "group.h"
#include "id_list.h"
#include "towers.h"

namespace fuselage::walk {
namespace {

// Tensors of one kernel to keep or drop: at most 2^10 sets. Beyond that the ones that are read soonest have a
// choice.
constexpr std::size_t most_choices = 10;
// Free order: sets of nodes that start with one root, and kernels of one state. Only stars of hundreds of
// nodes have more.
constexpr int most_groups = 1024;
constexpr std::size_t most_kernels = 1 << 15;

// Keeps the first of each, in order.
void drop_repeats(IdList& ids) {
  constexpr std::size_t few = 32;
  auto kept = ids.begin();
  if (ids.size() <= few) {
    for (auto at = ids.begin(); at != ids.end(); ++at)
      if (std::find(ids.begin(), kept, *at) == kept) *kept++ = *at;
  } else {
    std::unordered_set<NodeId> seen;
    for (auto at = ids.begin(); at != ids.end(); ++at)
      if (seen.insert(*at).second) *kept++ = *at;
  }
  ids.erase(kept, ids.end());
}

}  // namespace

bool Group::has(int position) const {
  return std::binary_search(positions.begin(), positions.end(), position);
}

std::int64_t common_bytes(const Graph& graph) {
  const std::int64_t first = graph.bytes(0);
  const bool same = std::all_of(graph.nodes().begin(), graph.nodes().end(),
                                [&](const Node& node) { return node.output_bytes == first; });
  return same && first > 0 ? first : 1;
}

Group make_group(const Graph& graph, const RunTable& runs, IdList positions) {
  Group group{.positions = std::move(positions), .inputs = {}, .outputs = {}};
  for (int at : group.positions) {
    const NodeId v = graph.order()[static_cast<std::size_t>(at)];
    for (NodeId x : graph.inputs(v))
      if (!group.has(graph.position(x))) group.inputs.push_back(x);
    const auto consumers = graph.consumers(v);
    const bool outside = std::any_of(consumers.begin(), consumers.end(),
                                     [&](NodeId c) { return !group.has(graph.position(c)); });
    if (consumers.empty() || outside) group.outputs.push_back(v);
    for (std::size_t t = 0; t < tiles.size(); ++t) group.cycles[t] += runs.cycles(v)[t];
  }
  drop_repeats(group.inputs);
  return group;
}

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
    if (p_.options_.order == Order::free) {
      for (int at : ready()) {
        groups_ = 0;
        grow({at}, {});
      }
      return complete_;
    }
    for (const Run& run : p_.runs_.from(s_.position)) {
      if (run.end() > p_.end_ || run.count > p_.most_nodes()) break;
      group_.inputs.assign(p_.runs_.inputs(run).begin(), p_.runs_.inputs(run).end());
      group_.outputs.assign(p_.runs_.outputs(run).begin(), p_.runs_.outputs(run).end());
      group_.cycles = run.cycles;
      group_.positions.clear();
      for (int at = run.first; at < run.end(); ++at) group_.positions.push_back(at);
      declare();
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

  // Free order. Each set with the root `members.front()` is reached once: a node left out stays out below.
  void grow(const IdList& members, IdList excluded) {
    if (++groups_ > most_groups || out_.size() > most_kernels) {
      complete_ = false;
      return;
    }
    IdList sorted = members;
    std::sort(sorted.begin(), sorted.end());
    group_ = make_group(p_.graph_, p_.runs_, sorted);
    declare();
    if (static_cast<int>(members.size()) >= p_.most_nodes()) return;
    IdList next;
    for (int at : sorted)
      for (NodeId c : p_.graph_.consumers(p_.node_at(at))) {
        const int position = p_.graph_.position(c);
        if (!holds(sorted, position) && !holds(excluded, position) && !holds(next, position) &&
            fits_after(c, sorted))
          next.push_back(position);
      }
    std::sort(next.begin(), next.end());
    for (int at : next) {
      IdList larger = members;
      larger.push_back(at);
      grow(larger, excluded);
      excluded.push_back(at);
    }
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
    if (choices <= most_choices) return;
    complete_ = false;
    const int end = group_.positions.back() + 1;
    std::stable_sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
      return p_.runs_.next_use(a.id, end) < p_.runs_.next_use(b.id, end);
    });
    items_.resize(most_choices);
    for (Item& it : items_) it.twin = false;
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
  int groups_ = 0;  // of the present root
  Group group_;
  IdList streamed_;
  std::array<std::int64_t, 4> slices_ = {};  // by tile, residents included
  boost::container::small_vector<Item, 12> items_;
  IdList retain_;
  std::int64_t* smallest_ = nullptr;  // set: only measure
};

bool WalkProblem::kernels_physical(const State& s, std::vector<Kernel>& out) const {
  return PhysicalKernels(*this, s, out).enumerate();
}

std::int64_t WalkProblem::working_set(const State& s, const Kernel& k) const {
  IdList positions = k.nodes;
  if (options_.order == Order::fixed)
    for (int at = k.first; at < k.first + k.count; ++at) positions.push_back(at);
  const Group group = make_group(graph_, runs_, positions);
  const int tile = tiles[static_cast<std::size_t>(k.tile)];
  std::int64_t total = 0;
  for (NodeId x : s.resident) total += bytes(x);
  for (NodeId x : k.retain)
    if (!holds(s.resident, x)) total += bytes(x);
  for (const IdList* streamed : {&group.inputs, &group.outputs})
    for (NodeId x : *streamed)
      if (!holds(s.resident, x) && !holds(k.retain, x)) total += slice_bytes(bytes(x), tile);
  return total;
}

WalkProblem::Cost WalkProblem::price_physical(const State& s, const Kernel& k) const {
  Group group;
  std::span<const NodeId> inputs;
  std::span<const NodeId> outputs;
  std::array<double, 4> cycles;
  if (options_.order == Order::free) {
    group = make_group(graph_, runs_, k.nodes);
    inputs = group.inputs;
    outputs = group.outputs;
    cycles = group.cycles;
  } else {
    const Run& run = runs_.run(k.first, k.count);
    inputs = runs_.inputs(run);
    outputs = runs_.outputs(run);
    cycles = run.cycles;
  }
  std::int64_t loads = 0;
  for (NodeId x : inputs)
    if (!holds(s.resident, x)) loads += bytes(x);
  const bool last = progress(s) + k.count == end_;
  std::int64_t writes = 0;
  for (NodeId x : outputs)
    if (!holds(k.retain, x) || (last && graph_.uses(x) == 0)) writes += bytes(x);
  for (NodeId x : s.unwritten) {
    const bool graph_output = graph_.uses(x) == 0;
    if (holds(k.retain, x) && !(last && graph_output)) continue;
    const auto consumers = graph_.consumers(x);
    const bool lives = options_.order == Order::fixed
                           ? runs_.last_use(x) >= k.first + k.count
                           : std::any_of(consumers.begin(), consumers.end(), [&](NodeId c) {
                               const int at = graph_.position(c);
                               return !is_done(s, at) && !group.has(at);
                             });
    if (lives || graph_output) writes += bytes(x);
  }
  const double memory = hardware_.transfer_cycles(loads) + hardware_.transfer_cycles(writes);
  return {
      .latency = std::max(cycles[static_cast<std::size_t>(k.tile)], memory) + hardware_.kernel_launch_cost,
      .bytes = loads + writes};
}

State WalkProblem::apply_physical(const State& s, const Kernel& k) const {
  State next;
  next.position = s.position;
  if (options_.order == Order::fixed) {
    next.position = k.first + k.count;
  } else {
    next.ahead.resize(s.ahead.size() + k.nodes.size());
    std::merge(s.ahead.begin(), s.ahead.end(), k.nodes.begin(), k.nodes.end(), next.ahead.begin());
    std::size_t done = 0;
    while (done < next.ahead.size() && next.ahead[done] == next.position) {
      ++done;
      ++next.position;
    }
    next.ahead.erase(next.ahead.begin(), next.ahead.begin() + static_cast<std::ptrdiff_t>(done));
  }
  next.resident = k.retain;
  for (NodeId x : k.retain) {
    const bool made_here =
        options_.order == Order::free ? holds(k.nodes, graph_.position(x)) : graph_.position(x) >= k.first;
    if (made_here || holds(s.unwritten, x)) next.unwritten.push_back(x);
  }
  return next;
}

// a can do what b does if it has less resident: it loads a missing tensor once, at its next reader, and can
// keep it from there on; kernels that compute long enough hide the load. What is resident in both but
// unwritten in a alone may have to be written back. Graph outputs that wait for their write differ in nothing
// but their size.
bool WalkProblem::dominates_physical(const State& a, double cost_a, const State& b, double cost_b) const {
  if (a.ahead != b.ahead || a.resident.size() > b.resident.size()) return false;
  boost::container::small_vector<std::int64_t, 8> waiting_a;
  boost::container::small_vector<std::int64_t, 8> waiting_b;
  double again = 0;   // bytes
  double longer = 0;  // cycles
  auto in_a = a.resident.begin();
  const auto skip_outputs = [&] {
    for (; in_a != a.resident.end() && graph_.uses(*in_a) == 0; ++in_a) waiting_a.push_back(bytes(*in_a));
  };
  for (NodeId x : b.resident) {
    skip_outputs();
    if (graph_.uses(x) == 0) {
      waiting_b.push_back(bytes(x));
    } else if (in_a != a.resident.end() && *in_a == x) {
      ++in_a;
      if (holds(a.unwritten, x) && !holds(b.unwritten, x)) {
        again += static_cast<double>(bytes(x));
        longer += hardware_.transfer_cycles(bytes(x));
      }
    } else {
      again += static_cast<double>(bytes(x));
      longer += reload(x);
    }
  }
  skip_outputs();
  if (in_a != a.resident.end()) return false;
  std::sort(waiting_a.begin(), waiting_a.end());
  std::sort(waiting_b.begin(), waiting_b.end());
  if (!std::includes(waiting_b.begin(), waiting_b.end(), waiting_a.begin(), waiting_a.end())) return false;
  if (options_.most_traffic && again > static_cast<double>(b.traffic - a.traffic)) return false;
  return cost_a + longer + again * options_.price.traffic <= cost_b;
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
