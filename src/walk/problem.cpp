// What the rule sets share: start states, bounds, keys, and plans from kernels.

#include "fuselage/walk/problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontier.h"
#include "fuselage/core/error.h"
#include "mix.h"
#include "towers.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::uint64_t mix_ids(std::uint64_t hash, const IdList& ids) {
  hash = mix(hash, ids.size());
  for (NodeId id : ids) hash = mix(hash, static_cast<std::uint64_t>(id));
  return hash;
}

}  // namespace

WalkProblem::WalkProblem(const Graph& graph, const Hardware& hardware, const RunTable& runs,
                         const ProblemOptions& options)
    : graph_(graph), hardware_(hardware), runs_(runs), options_(options), end_(graph.size()) {
  check_options();
  prepare();
}

void WalkProblem::check_options() const {
  if (options_.order == Order::free && options_.rules != Rules::physical)
    fail("order: free exists under the rules physical only, not under {}", name(options_.rules));
  if (options_.only_tile && tile_index(*options_.only_tile) < 0)
    fail("only_tile: {} is no tile; expected one of {}", *options_.only_tile, fmt::join(tiles, ", "));
  const auto check = [](std::string_view field, double value) {
    if (!(value >= 0) || value == infinity)
      fail("price.{}: {} can't be a price; expected a finite number of cycles >= 0", field, value);
  };
  check("traffic", options_.price.traffic);
  check("launch", options_.price.launch);
  check("residency", options_.price.residency);
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
  if (options_.only_tile) lowest_tile_ = highest_tile_ = tile_index(*options_.only_tile);
  traffic_matters_ = options_.price.traffic > 0 || options_.most_traffic;
  cycles_per_byte_ = options_.price.traffic;
  if (hardware_.slow_mem_bandwidth > 0) cycles_per_byte_ += 1 / hardware_.slow_mem_bandwidth;
  exploitable_ = can_exploit();
  enumerates_all_ = exploitable_ && (options_.rules == Rules::seed_honest || graph_.size() <= 10);
  passes_phantoms_ = !exploitable_ && options_.rules == Rules::seed && options_.may_retain &&
                     (options_.most_traffic || most_phantoms_save() > oom_penalty - most_alone());
  latency_only_ = options_.price == Price{} && !options_.most_traffic && !passes_phantoms_;
  if (traffic_matters_) bound_traffic();
  bound_suffixes();
  if (options_.order == Order::free) {
    frontier_ = std::make_shared<Frontier>(graph_);
    if (auto towers = std::make_shared<Towers>(graph_, options_.set_up); !towers->empty())
      towers_ = std::move(towers);
  }
  if (options_.rules == Rules::physical) bound_tightly();
}

bool WalkProblem::is_done(const State& s, int position) const {
  return position < s.position || std::binary_search(s.ahead.begin(), s.ahead.end(), position);
}

// Running out of memory on purpose is a bargain only for a node that costs more than the penalty (all else
// that is charged is the same either way), or, under `seed`, for the phantoms that can be kept meanwhile. The
// first is ruled out here by the coarsest bound that does it for graphs of usual sizes; for the second see
// passes_phantoms_. Where nothing is retained, a group is invalid for its own size or not at all, and all
// there is to choose is declared anyway.
bool WalkProblem::can_exploit() const {
  if (options_.rules == Rules::physical || !options_.may_retain) return false;
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

  for (int at = start_.position; at < end_; ++at) {
    const Run& alone = runs_.run(at, 1);
    const bool may_run_out =
        options_.rules == Rules::seed || most_resident + alone.slices[2] > hardware_.fast_mem_capacity;
    if (may_run_out && cost_alone(alone) > oom_penalty) return true;
  }
  return false;
}

// Latency of a node alone at tile 128 with nothing resident.
double WalkProblem::cost_alone(const Run& alone) const {
  const double memory =
      hardware_.transfer_cycles(alone.input_bytes) + hardware_.transfer_cycles(alone.output_bytes);
  return std::max(alone.cycles[2], memory) + hardware_.kernel_launch_cost;
}

double WalkProblem::most_alone() const {
  double most = 0;
  for (int at = start_.position; at < end_; ++at) most = std::max(most, cost_alone(runs_.run(at, 1)));
  return most;
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
    saved += static_cast<double>(taken) * cycles_per_byte_ * std::max(1, graph_.uses(ids[i]));
    room -= taken;
  }
  return saved;
}

std::uint64_t WalkProblem::key(const State& s) const {
  std::uint64_t hash = mix_ids(dominance_class(s), s.resident);
  hash = mix_ids(hash, s.unwritten);
  hash = mix(mix(hash, static_cast<std::uint64_t>(s.slack)), static_cast<std::uint64_t>(s.owed));
  hash = mix(hash, static_cast<std::uint64_t>(s.unsaved));
  hash = mix(hash, static_cast<std::uint64_t>(s.traffic));
  return mix(hash, static_cast<std::uint64_t>(s.held) * 2 + (s.open ? 1 : 0));
}

std::uint64_t WalkProblem::dominance_class(const State& s) const {
  if (options_.order == Order::fixed) return static_cast<std::uint64_t>(s.position);
  return mix_ids(mix(0, static_cast<std::uint64_t>(s.position)), s.ahead);
}

// Who dominates holds nothing that the other doesn't hold, but for outputs (physical) that wait to be
// written.
std::uint64_t WalkProblem::dominance_mask(const State& s) const {
  std::uint64_t mask = 0;
  for (NodeId x : s.resident)
    if (options_.rules != Rules::physical || graph_.uses(x) > 0)
      mask |= std::uint64_t{1} << (static_cast<std::uint32_t>(x) % 64);
  return mask;
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

Plan WalkProblem::plan_of(const std::vector<Kernel>& kernels) const {
  if (options_.order == Order::free) return plan_of_free(kernels);
  Plan plan;
  std::size_t last_valid = 0;
  for (const Kernel& k : kernels) {
    PlanKernel out{.nodes = {},
                   .tile = tiles[static_cast<std::size_t>(k.tile)],
                   .retain = {k.retain.begin(), k.retain.end()}};
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

// Kernels speak of sorted states (towers.h); a plan speaks of the graph.
Plan WalkProblem::plan_of_free(const std::vector<Kernel>& kernels) const {
  Plan plan;
  Labels labels(graph_);
  State state = initial();
  for (const Kernel& k : kernels) {
    std::vector<int> positions;
    for (int at : k.nodes) positions.push_back(labels.actual(at));
    std::sort(positions.begin(), positions.end());
    PlanKernel& out = plan.emplace_back();
    out.tile = tiles[static_cast<std::size_t>(k.tile)];
    for (int at : positions) out.nodes.push_back(node_at(at));
    for (NodeId x : k.retain) out.retain.push_back(labels.actual_id(x));
    std::sort(out.retain.begin(), out.retain.end());
    if (!towers_) continue;
    labels.move(towers_->sorting(move(state, k)));
    state = apply(state, k);
  }
  return plan;
}

}  // namespace fuselage::walk
