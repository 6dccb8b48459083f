// Lower bounds of what a state still costs. Under the seed's rules dynamic programming over the runs of the
// order with residency relaxed, but for the loads that the accounting always charges. Under `physical`
// sharper relaxations on top: some residencies tracked (residency_bound.h) in fixed order, shares of the
// kernels' costs (node_shares.h) in free order.

#include <algorithm>
#include <limits>

#include "fuselage/walk/problem.h"
#include "group.h"
#include "node_shares.h"
#include "residency_bound.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

// Least price of a run whatever is resident: its cycles at the best tile that can fit, against the traffic
// that the seed's accounting always charges.
double WalkProblem::least_run_cost(const Run& run) const {
  double cycles = infinity;
  for (int t = lowest_tile_; t <= highest_tile_; ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (run.slices[i] <= hardware_.fast_mem_capacity) cycles = std::min(cycles, run.cycles[i]);
  }
  const std::int64_t forced = forced_bytes(run);
  double latency = std::max(cycles, hardware_.transfer_cycles(forced)) + hardware_.kernel_launch_cost;
  if (options_.rules != Rules::physical && run.count == 1) {
    latency = std::min(latency, oom_penalty);
    if (run.slices[2] <= hardware_.fast_mem_capacity)  // a fallback runs at 128, whatever tile is legal
      latency = std::min(
          latency, std::max(run.cycles[2], hardware_.transfer_cycles(forced)) + hardware_.kernel_launch_cost);
  }
  return latency + options_.price.launch + options_.price.traffic * static_cast<double>(forced);
}

void WalkProblem::bound_suffixes() {
  suffix_bound_.assign(static_cast<std::size_t>(end_) + 1, 0.0);
  if (options_.order == Order::free) {
    node_bound_.resize(static_cast<std::size_t>(end_));
    for (int at = end_ - 1; at >= 0; --at) {
      const auto& cycles = runs_.run(at, 1).cycles;
      node_bound_[static_cast<std::size_t>(at)] =
          *std::min_element(cycles.begin() + lowest_tile_, cycles.begin() + highest_tile_ + 1);
      suffix_bound_[static_cast<std::size_t>(at)] =
          suffix_bound_[static_cast<std::size_t>(at) + 1] + node_bound_[static_cast<std::size_t>(at)];
    }
    return;
  }
  for (int at = end_ - 1; at >= start_.position; --at) {
    double least = infinity;
    for (const Run& run : runs_.from(at)) {
      if (run.end() > end_ || run.count > most_nodes() || !may_grow(run)) break;
      least = std::min(least, least_run_cost(run) + suffix_bound_[static_cast<std::size_t>(run.end())]);
    }
    suffix_bound_[static_cast<std::size_t>(at)] = least;
  }
}

void WalkProblem::bound_tightly() {
  if (options_.order == Order::free) {
    if (!options_.tight_bounds) return;
    NodeShares shares = node_shares(graph_, hardware_, runs_, options_);
    node_share_ = std::move(shares.share);
    reload_ = std::move(shares.reload);
    suffix_share_.assign(static_cast<std::size_t>(end_) + 1, 0.0);
    for (std::size_t at = static_cast<std::size_t>(end_); at-- > 0;)
      suffix_share_[at] = suffix_share_[at + 1] + node_share_[at];
    return;
  }
  const std::int64_t unit = common_bytes(graph_);
  reload_.assign(static_cast<std::size_t>(graph_.size()), 0.0);
  for (int at = 0; at < end_; ++at) {
    if (at % 64 == 0 && options_.set_up.passed()) {
      reload_.clear();  // what isn't known to be hidden isn't
      return;
    }
    for (const Run& run : runs_.from(at)) {
      const auto inputs = runs_.inputs(run);
      const double most = most_load_cost(
          graph_, hardware_, {.inputs = inputs, .outputs = runs_.outputs(run), .cycles = run.cycles}, unit);
      for (NodeId x : inputs) {
        double& reload = reload_[static_cast<std::size_t>(x)];
        reload = std::max(reload, std::min(most, hardware_.transfer_cycles(bytes(x))));
      }
    }
  }
  if (!options_.tight_bounds) return;
  auto bound = std::make_shared<ResidencyBound>(graph_, hardware_, runs_, options_);
  if (bound->finished()) residency_bound_ = std::move(bound);
}

double WalkProblem::bound(const State& s) const {
  double traffic = 0;
  if (traffic_matters_ && !s.open) {
    const std::int64_t least = least_traffic(s);
    if (options_.most_traffic && least > *options_.most_traffic - s.traffic) return infinity;
    // The seed's rules have it in the suffix bounds.
    if (options_.rules == Rules::physical) traffic = options_.price.traffic * static_cast<double>(least);
  }
  if (options_.order == Order::free) {
    double cycles = suffix_bound_[static_cast<std::size_t>(s.position)];
    for (NodeId at : s.ahead) cycles -= node_bound_[static_cast<std::size_t>(at)];
    const int left = end_ - progress(s);
    const int launches = left / most_nodes() + (left % most_nodes() != 0);
    const double simple =
        std::max(0.0, cycles) + launches * (hardware_.kernel_launch_cost + options_.price.launch) + traffic;
    if (node_share_.empty()) return simple;
    double shares = suffix_share_[static_cast<std::size_t>(s.position)];
    for (NodeId at : s.ahead) shares -= node_share_[static_cast<std::size_t>(at)];
    return std::max(simple, shares);
  }
  if (residency_bound_)
    return std::max(suffix_bound_[static_cast<std::size_t>(s.position)] + traffic, (*residency_bound_)(s));
  if (!s.open) return suffix_bound_[static_cast<std::size_t>(s.position)] + traffic;
  // The open group may swallow any number of nodes first.
  double least = infinity;
  for (int at = s.position; at <= std::min(end_, open_.first + runs_.longest(open_.first)); ++at)
    least = std::min(least, suffix_bound_[static_cast<std::size_t>(at)]);
  return least;
}

}  // namespace fuselage::walk
