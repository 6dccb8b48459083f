#include "fuselage/walk/bare_schedule.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_visits = 200'000;  // of ancestors, for all nodes together

int lowest_tile(const ProblemOptions& options) {
  return options.only_tile ? tile_index(*options.only_tile) : 0;
}
int highest_tile(const ProblemOptions& options) {
  return options.only_tile ? tile_index(*options.only_tile) : static_cast<int>(tiles.size()) - 1;
}
int most_nodes(const BareQuestion& q) {
  return q.options.may_fuse ? std::max(1, q.hardware.max_fusion_depth) : 1;
}

// Nothing is resident.
State bare_state(int position) {
  State state;
  state.position = position;
  return state;
}

// The run at the fastest tile that fits; none does: tile -1.
Kernel bare_kernel(const BareQuestion& q, const Run& run) {
  Kernel kernel{.first = run.first, .count = run.count, .tile = -1};
  for (int t = lowest_tile(q.options); t <= highest_tile(q.options); ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (run.slices[i] > q.hardware.fast_mem_capacity) break;
    if (kernel.tile < 0 || run.cycles[i] < run.cycles[static_cast<std::size_t>(kernel.tile)]) kernel.tile = t;
  }
  return kernel;
}

// The cheapest ways to positions of the order.
struct Cuts {
  explicit Cuts(const BareQuestion& q)
      : cost(static_cast<std::size_t>(q.graph.size()) + 1, infinity), last(cost.size()) {
    cost[0] = 0;
    for (int at = 0; at < q.graph.size(); ++at) {
      const double before = cost[static_cast<std::size_t>(at)];
      if (before == infinity) continue;
      farthest = at;
      const State state = bare_state(at);
      for (const Run& run : q.runs.from(at)) {
        if (run.count > most_nodes(q)) break;
        const Kernel kernel = bare_kernel(q, run);
        if (kernel.tile < 0) continue;
        const double after = before + q.problem.price(state, kernel);
        const auto end = static_cast<std::size_t>(run.end());
        if (after >= cost[end]) continue;
        cost[end] = after;
        last[end] = kernel;
      }
    }
    if (cost.back() < infinity) farthest = q.graph.size();
  }

  std::vector<double> cost;  // by position
  std::vector<Kernel> last;  // that leads there
  int farthest = 0;          // position
};

// Free order: nodes that no kernel can ever run. A kernel has one root, from which it reaches all its
// members; so of the inputs of a node only those are fused with it that descend from its kernel's root, fewer
// than the depth. The others take their slices, and what the kernel's last member makes takes one.
class StuckNodes {
 public:
  explicit StuckNodes(const BareQuestion& q)
      : q_(q), tile_(tiles[static_cast<std::size_t>(lowest_tile(q.options))]) {
    seen_.resize(static_cast<std::size_t>(q.graph.size()));
    least_slice_ = std::numeric_limits<std::int64_t>::max();
    for (const Node& node : q.graph.nodes())
      least_slice_ = std::min(least_slice_, slice_bytes(node.output_bytes, tile_));
  }

  // Bytes that every kernel which runs v needs at least; those of v alone if that fits.
  std::int64_t need(NodeId v) {
    const std::int64_t alone =
        q_.runs.run(q_.graph.position(v), 1).slices[static_cast<std::size_t>(lowest_tile(q_.options))];
    const int fused = most_nodes(q_) - 1;
    if (alone <= q_.hardware.fast_mem_capacity || fused == 0) return alone;
    std::vector<NodeId> inputs(q_.graph.inputs(v).begin(), q_.graph.inputs(v).end());
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    std::int64_t all = 0;
    for (NodeId x : inputs) all += slice(x);
    return all - most_fused(inputs, fused) + least_slice_;
  }

 private:
  std::int64_t slice(NodeId x) const { return slice_bytes(q_.graph.bytes(x), tile_); }

  // Bytes of the slices that fusing so many inputs can spare at most.
  std::int64_t most_fused(const std::vector<NodeId>& inputs, int fused) {
    std::map<NodeId, std::vector<std::int64_t>> below;  // by root: slices of the inputs that descend from it
    for (NodeId x : inputs) {
      std::vector<std::pair<NodeId, int>> open = {{x, 1}};  // and how many nodes a kernel has from there to v
      seen_[static_cast<std::size_t>(x)] = ++mark_;
      for (std::size_t i = 0; i < open.size() && visits_ < most_visits; ++i, ++visits_) {
        const auto [root, nodes] = open[i];
        below[root].push_back(slice(x));
        if (nodes == fused || open.size() > most_visits) continue;
        for (NodeId y : q_.graph.inputs(root)) {
          if (std::exchange(seen_[static_cast<std::size_t>(y)], mark_) == mark_) continue;
          open.emplace_back(y, nodes + 1);
        }
      }
    }
    if (visits_ >= most_visits) return std::numeric_limits<std::int64_t>::max() / 2;  // no telling
    std::int64_t most = 0;
    for (auto& [root, slices] : below) {
      std::sort(slices.rbegin(), slices.rend());
      slices.resize(std::min(slices.size(), static_cast<std::size_t>(fused)));
      std::int64_t sum = 0;
      for (std::int64_t bytes : slices) sum += bytes;
      most = std::max(most, sum);
    }
    return most;
  }

  const BareQuestion& q_;
  int tile_;
  std::int64_t least_slice_;
  std::size_t visits_ = 0;
  std::vector<std::size_t> seen_;  // by node: the walk (counted from 1) that met it last
  std::size_t mark_ = 0;
};

}  // namespace

std::optional<std::vector<Kernel>> bare_schedule(const BareQuestion& q) {
  const Cuts cuts(q);
  if (cuts.farthest < q.graph.size()) return std::nullopt;
  std::vector<Kernel> plan;
  for (int at = q.graph.size(); at > 0; at = plan.back().first)
    plan.push_back(cuts.last[static_cast<std::size_t>(at)]);
  std::reverse(plan.begin(), plan.end());
  return plan;
}

std::optional<WalkProblem::Infeasible> why_no_schedule(const BareQuestion& q) {
  const std::int64_t capacity = q.hardware.fast_mem_capacity;
  if (q.options.order == Order::fixed) {
    const int farthest = Cuts(q).farthest;
    if (farthest == q.graph.size()) return std::nullopt;
    return q.problem.explain_infeasible({bare_state(farthest)});
  }
  // What can run node by node, and what waits for a stuck node.
  StuckNodes stuck(q);
  const auto n = static_cast<std::size_t>(q.graph.size());
  std::vector<bool> done(n);
  std::vector<bool> waits(n);
  std::optional<WalkProblem::Infeasible> reason;
  bool rest_can_run = true;
  for (std::size_t at = 0; at < n; ++at) {
    const NodeId v = q.graph.order()[at];
    done[at] = true;
    for (NodeId x : q.graph.inputs(v)) {
      const auto made = static_cast<std::size_t>(q.graph.position(x));
      waits[at] = waits[at] || waits[made];
      done[at] = done[at] && done[made];
    }
    if (waits[at]) continue;
    const std::int64_t need = stuck.need(v);
    waits[at] = need > capacity;
    if (waits[at] && !reason) reason = {.node = v, .capacity = capacity, .smallest_working_set = need};
    const Run& alone = q.runs.run(static_cast<int>(at), 1);
    done[at] = done[at] && alone.slices[static_cast<std::size_t>(lowest_tile(q.options))] <= capacity;
    rest_can_run = rest_can_run && (done[at] || waits[at]);
  }
  if (!reason || !rest_can_run) return reason;
  // Everything else can run: the largest set of done nodes, from which the rules say what is missing.
  State state;
  while (done[static_cast<std::size_t>(state.position)] && !waits[static_cast<std::size_t>(state.position)])
    ++state.position;
  for (std::size_t at = static_cast<std::size_t>(state.position); at < n; ++at)
    if (done[at] && !waits[at]) state.ahead.push_back(static_cast<NodeId>(at));
  return q.problem.explain_infeasible({state});
}

}  // namespace fuselage::walk
