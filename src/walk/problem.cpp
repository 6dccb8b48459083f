// What the rule sets share: start states, bounds, keys, and plans from kernels.

#include "fuselage/walk/problem.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "fuselage/core/error.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

std::uint64_t mix(std::uint64_t hash, const IdList& ids) {
  hash = mix(hash, ids.size());
  for (NodeId id : ids) hash = mix(hash, static_cast<std::uint64_t>(id));
  return hash;
}

}  // namespace

WalkProblem::WalkProblem(const Graph& graph, const Hardware& hardware, const RunTable& runs,
                         const ProblemOptions& options)
    : graph_(graph), hardware_(hardware), runs_(runs), options_(options), end_(graph.size()) {
  if (options.order == Order::free && options.rules != Rules::physical)
    fail("order: free exists under the rules physical only, not under {}", name(options.rules));
  prepare();
}

WalkProblem::WalkProblem(const Episode& episode)
    : graph_(episode.context().graph()),
      hardware_(episode.context().hardware()),
      runs_(episode.context().runs()),
      options_{.rules = episode.rules()},
      end_(std::min(graph_.size(), episode.position() + episode.max_steps() - episode.steps())),
      open_(episode.group()) {
  start_.position = episode.done() ? end_ : episode.position();
  start_.open = open_.count > 0;
  const std::vector<NodeId> resident = episode.fast_mem();
  start_.resident.assign(resident.begin(), resident.end());
  prepare();
}

void WalkProblem::prepare() {
  exploitable_ = can_exploit();
  enumerates_all_ = exploitable_ && (options_.rules == Rules::seed_honest || graph_.size() <= 10);
  bound_suffixes();
}

bool WalkProblem::is_done(const State& s, int position) const {
  return position < s.position || std::binary_search(s.ahead.begin(), s.ahead.end(), position);
}

// Running out of memory on purpose is a bargain only for a node that costs more than the penalty, or (seed)
// if what phantoms save while a node is made to run out of memory is worth the penalty. Both are ruled out
// here by the coarsest bounds that do it for graphs of usual sizes.
bool WalkProblem::can_exploit() const {
  if (options_.rules == Rules::physical) return false;
  std::int64_t largest = 0;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const Node& node : graph_.nodes()) {
    largest = std::max(largest, node.output_bytes);
    smallest = std::min(smallest, node.output_bytes);
  }
  std::int64_t at_start = 0;
  for (NodeId x : start_.resident) at_start += bytes(x);
  // A valid kernel streams at least one output, so residents never fill the capacity.
  std::int64_t room =
      std::max<std::int64_t>(0, hardware_.fast_mem_capacity - slice_bytes(smallest, tiles[0]));
  if (largest == smallest && largest > 0) room = room / largest * largest;
  const std::int64_t most_resident = std::max(room, at_start);

  double most_alone = 0;
  for (int at = start_.position; at < end_; ++at) {
    const Run& alone = runs_.run(at, 1);
    const double memory =
        hardware_.transfer_cycles(alone.input_bytes) + hardware_.transfer_cycles(alone.output_bytes);
    const double cost = std::max(alone.cycles[2], memory) + hardware_.kernel_launch_cost;
    const bool may_run_out =
        options_.rules == Rules::seed || most_resident + alone.slices[2] > hardware_.fast_mem_capacity;
    if (may_run_out && cost > oom_penalty) return true;
    most_alone = std::max(most_alone, cost);
  }
  if (options_.rules == Rules::seed_honest) return false;
  return most_phantoms_save() > oom_penalty - most_alone;
}

// What keeping phantoms through a node that runs out of memory can save, at most: for what fits, one store or
// all reads but the last. Otherwise they would be named again right after it.
double WalkProblem::most_phantoms_save() const {
  std::vector<NodeId> ids(static_cast<std::size_t>(graph_.size()));
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](NodeId a, NodeId b) { return graph_.uses(a) > graph_.uses(b); });
  std::int64_t room = hardware_.fast_mem_capacity;
  double saved = 0;
  for (std::size_t i = 0; i < ids.size() && room > 0; ++i) {
    const std::int64_t taken = std::min(room, bytes(ids[i]));
    saved += hardware_.transfer_cycles(taken) * std::max(1, graph_.uses(ids[i]));
    room -= taken;
  }
  return saved;
}

// Least cost of a run whatever is resident: its cycles at the best tile that can fit, against the traffic
// that the seed's accounting always charges (last uses).
double WalkProblem::least_run_cost(const Run& run) const {
  double cycles = infinity;
  for (std::size_t t = 0; t < tiles.size(); ++t)
    if (run.slices[t] <= hardware_.fast_mem_capacity) cycles = std::min(cycles, run.cycles[t]);
  std::int64_t forced = 0;
  if (options_.rules != Rules::physical)
    for (NodeId x : runs_.inputs(run))
      if (runs_.last_use(x) < run.end()) forced += bytes(x);
  const double cost = std::max(cycles, hardware_.transfer_cycles(forced)) + hardware_.kernel_launch_cost;
  const bool may_fall_back = options_.rules != Rules::physical && run.count == 1;
  return may_fall_back ? std::min(cost, oom_penalty) : cost;
}

void WalkProblem::bound_suffixes() {
  suffix_bound_.assign(static_cast<std::size_t>(end_) + 1, 0.0);
  if (options_.order == Order::free) {
    node_bound_.resize(static_cast<std::size_t>(end_));
    for (int at = end_ - 1; at >= 0; --at) {
      const Run& alone = runs_.run(at, 1);
      node_bound_[static_cast<std::size_t>(at)] = *std::min_element(alone.cycles.begin(), alone.cycles.end());
      suffix_bound_[static_cast<std::size_t>(at)] =
          suffix_bound_[static_cast<std::size_t>(at) + 1] + node_bound_[static_cast<std::size_t>(at)];
    }
    return;
  }
  for (int at = end_ - 1; at >= start_.position; --at) {
    double least = infinity;
    for (const Run& run : runs_.from(at)) {
      if (run.end() > end_) break;
      // The seed's rules fuse node by node, so every prefix must fit; physical needs only the whole to fit.
      const bool fits = run.slices[0] <= hardware_.fast_mem_capacity;
      if (!fits && run.count > 1 && options_.rules != Rules::physical) break;
      least = std::min(least, least_run_cost(run) + suffix_bound_[static_cast<std::size_t>(run.end())]);
    }
    suffix_bound_[static_cast<std::size_t>(at)] = least;
  }
}

double WalkProblem::bound(const State& s) const {
  if (options_.order == Order::free) {
    double cycles = suffix_bound_[static_cast<std::size_t>(s.position)];
    for (NodeId at : s.ahead) cycles -= node_bound_[static_cast<std::size_t>(at)];
    const int depth = std::max(1, hardware_.max_fusion_depth);
    const int left = end_ - progress(s);
    return std::max(0.0, cycles) + (left / depth + (left % depth != 0)) * hardware_.kernel_launch_cost;
  }
  if (!s.open) return suffix_bound_[static_cast<std::size_t>(s.position)];
  // The open group may swallow any number of nodes first.
  double least = infinity;
  for (int at = s.position; at <= std::min(end_, open_.first + runs_.longest(open_.first)); ++at)
    least = std::min(least, suffix_bound_[static_cast<std::size_t>(at)]);
  return least;
}

std::uint64_t WalkProblem::key(const State& s) const {
  std::uint64_t hash = mix(dominance_class(s), s.resident);
  hash = mix(hash, s.unwritten);
  return mix(mix(hash, static_cast<std::uint64_t>(s.slack)), s.open ? 1 : 0);
}

std::uint64_t WalkProblem::dominance_class(const State& s) const {
  if (options_.order == Order::fixed) return static_cast<std::uint64_t>(s.position);
  return mix(mix(0, static_cast<std::uint64_t>(s.position)), s.ahead);
}

bool WalkProblem::dominates(const State& a, double cost_a, const State& b, double cost_b) const {
  if (cost_a > cost_b || a.position != b.position || a.open != b.open) return false;
  return options_.rules == Rules::physical ? dominates_physical(a, cost_a, b, cost_b)
                                           : dominates_seed(a, cost_a, b, cost_b);
}

bool WalkProblem::kernels(const State& s, std::vector<Kernel>& out) const {
  out.clear();
  if (progress(s) == end_) return true;
  return options_.rules == Rules::physical ? kernels_physical(s, out) : kernels_seed(s, out);
}

double WalkProblem::price(const State& s, const Kernel& k) const {
  if (options_.rules == Rules::physical) return price_physical(s, k);
  return k.fallback ? price_fallback(s, k) : price_seed(s, k);
}

State WalkProblem::apply(const State& s, const Kernel& k) const {
  return options_.rules == Rules::physical ? apply_physical(s, k) : apply_seed(s, k);
}

Plan WalkProblem::plan_of(const std::vector<Kernel>& kernels) const {
  Plan plan;
  std::size_t last_valid = 0;
  for (const Kernel& k : kernels) {
    PlanKernel out{.nodes = {},
                   .tile = tiles[static_cast<std::size_t>(k.tile)],
                   .retain = {k.retain.begin(), k.retain.end()}};
    if (options_.order == Order::free)
      for (NodeId at : k.nodes) out.nodes.push_back(node_at(at));
    else
      for (int at = k.first; at < k.first + k.count; ++at) out.nodes.push_back(node_at(at));
    if (!k.bought.empty()) {
      std::vector<NodeId>& retain = plan[last_valid].retain;
      for (NodeId x : k.bought)
        if (std::find(retain.begin(), retain.end(), x) == retain.end()) retain.push_back(x);
    }
    plan.push_back(std::move(out));
    if (!k.fallback) last_valid = plan.size() - 1;
  }
  return plan;
}

}  // namespace fuselage::walk
