// What a kernel costs: its latency, and what an objective charges beside it.

#include <limits>

#include "fuselage/walk/problem.h"
#include "id_list.h"
#include "towers.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

WalkProblem::Cost WalkProblem::cost_of(const State& s, const Kernel& k) const {
  if (options_.rules == Rules::physical) return price_physical(s, k);
  return k.fallback ? price_fallback(s, k) : price_seed(s, k);
}

double WalkProblem::price(const State& s, const Kernel& k) const {
  const Cost cost = cost_of(s, k);
  if (latency_only_) return cost.latency;
  const std::int64_t owed = owed_after(s, k);
  if (owed > 0 && (!k.fallback || k.slack < owed || k.first + k.count == end_)) return infinity;
  if (options_.most_traffic) {
    const std::int64_t left = *options_.most_traffic - s.traffic;
    if (cost.bytes > left || least_traffic(move(s, k)) > left - cost.bytes) return infinity;
  }
  const Price& price = options_.price;
  double total = cost.latency + price.traffic * static_cast<double>(cost.bytes) +
                 price.launch * (k.fallback ? k.count : 1);
  if (price.residency > 0) total += price.residency * byte_kernels(s, k);
  return total;
}

WalkProblem::Charges WalkProblem::charges(const State& s, const Kernel& k) const {
  const Cost cost = cost_of(s, k);
  return {.latency = cost.latency,
          .bytes = cost.bytes,
          .launches = k.fallback ? k.count : 1,
          .byte_kernels = byte_kernels(s, k)};
}

double WalkProblem::byte_kernels(const State& s, const Kernel& k) const {
  double after = 0;
  for (NodeId x : move(s, k).resident) after += static_cast<double>(bytes(x));
  double before = 0;
  for (NodeId x : k.bought) before += static_cast<double>(bytes(x));
  return after * (k.fallback ? k.count : 1) + before * s.held;
}

// What a state owes is paid by what is bought, without tensors that the nodes in between make: a node's own
// output takes none of its room. (Of several such nodes the output of one may take the room of another; the
// kernels that would need that are not declared.)
std::int64_t WalkProblem::owed_after(const State& s, const Kernel& k) const {
  if (s.owed == 0) return k.fallback ? k.owed : 0;
  std::int64_t owed = s.owed;
  for (NodeId x : k.bought)
    if (const int at = graph_.position(x); at >= s.position || at <= s.position - s.held) owed -= bytes(x);
  return k.fallback ? std::max(owed, k.owed) : owed;
}

State WalkProblem::move(const State& s, const Kernel& k) const {
  return options_.rules == Rules::physical ? apply_physical(s, k) : apply_seed(s, k);
}

State WalkProblem::apply(const State& s, const Kernel& k) const {
  State next = move(s, k);
  if (options_.most_traffic) next.traffic = s.traffic + cost_of(s, k).bytes;
  if (!towers_) return next;
  const std::vector<int> to = towers_->sorting(next);
  return to.empty() ? next : towers_->moved(next, to);
}

// The seed's accounting always charges last uses; under `physical` a run may find everything resident.
std::int64_t WalkProblem::forced_bytes(const Run& run) const {
  std::int64_t forced = 0;
  if (options_.rules != Rules::physical)
    for (NodeId x : runs_.inputs(run))
      if (runs_.last_use(x) < run.end()) forced += bytes(x);
  return forced;
}

void WalkProblem::bound_traffic() {
  if (options_.order == Order::free) return;
  suffix_traffic_.assign(static_cast<std::size_t>(end_) + 1, 0);
  const bool physical = options_.rules == Rules::physical;
  for (int at = end_ - 1; at >= start_.position; --at) {
    std::int64_t& least = suffix_traffic_[static_cast<std::size_t>(at)];
    if (physical) {
      least = suffix_traffic_[static_cast<std::size_t>(at) + 1];
      const NodeId made = node_at(at);
      // A graph output is written; what lives after `at` and is not resident there is loaded at least once.
      least += runs_.last_use(made) < 0 ? bytes(made) : -bytes(made);
      IdList dying;
      for (NodeId x : graph_.inputs(made))
        if (runs_.last_use(x) == at && !holds(dying, x)) dying.push_back(x);
      for (NodeId x : dying) least += bytes(x);
      continue;
    }
    least = std::numeric_limits<std::int64_t>::max();
    for (const Run& run : runs_.from(at)) {
      if (run.end() > end_ || run.count > most_nodes() || !may_grow(run)) break;
      least = std::min(least, forced_bytes(run) + suffix_traffic_[static_cast<std::size_t>(run.end())]);
    }
  }
}

// Bytes that completing s moves at least.
std::int64_t WalkProblem::least_traffic(const State& s) const {
  if (options_.order == Order::free) return least_traffic_free(s);
  std::int64_t least = suffix_traffic_[static_cast<std::size_t>(s.position)];
  if (options_.rules != Rules::physical) return least;
  for (NodeId x : s.resident) {
    const int last = runs_.last_use(x);
    if (last >= s.position) least -= bytes(x);
    if (last < 0) least += bytes(x);
  }
  return least;
}

std::int64_t WalkProblem::least_traffic_free(const State& s) const {
  std::int64_t least = 0;
  for (NodeId x : s.unwritten)
    if (graph_.uses(x) == 0) least += bytes(x);
  for (int at = 0; at < end_; ++at) {
    const NodeId x = node_at(at);
    if (!is_done(s, at)) {
      if (graph_.uses(x) == 0) least += bytes(x);
      continue;
    }
    if (holds(s.resident, x)) continue;
    const auto consumers = graph_.consumers(x);
    if (std::any_of(consumers.begin(), consumers.end(),
                    [&](NodeId c) { return !is_done(s, graph_.position(c)); }))
      least += bytes(x);
  }
  return least;
}

}  // namespace fuselage::walk
