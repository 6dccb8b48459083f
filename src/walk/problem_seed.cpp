// The policy of `seed` and `seed_honest`: residents stay until their last use, which is always charged.

#include <algorithm>

#include "fuselage/walk/problem.h"
#include "id_list.h"

namespace fuselage::walk {
WalkProblem::Cost WalkProblem::price_seed(const State& s, const Kernel& k) const {
  const Run& run = runs_.run(k.first, k.count);
  const auto inputs = runs_.inputs(run);
  std::int64_t load = run.input_bytes;
  const auto read_free = [&](const IdList& ids) {
    for (NodeId x : ids)
      if (runs_.last_use(x) >= run.end() && holds(inputs, x)) load -= bytes(x);
  };
  read_free(s.resident);
  read_free(k.bought);
  std::int64_t store = run.output_bytes;
  if (!k.retain.empty())
    for (NodeId x : runs_.outputs(run))
      if (holds(k.retain, x)) store -= bytes(x);
  const double memory = hardware_.transfer_cycles(load) + hardware_.transfer_cycles(store);
  const double cycles = run.cycles[static_cast<std::size_t>(k.tile)];
  return {.latency = std::max(cycles, memory) + hardware_.kernel_launch_cost, .bytes = load + store};
}

// Members alone at tile 128 under what is resident once all their last uses are over, with what is yet to be
// bought for the next kernel. A member that runs out of memory moves what it would have moved.
WalkProblem::Cost WalkProblem::price_fallback(const State& s, const Kernel& k) const {
  const int end = k.first + k.count;
  IdList left;
  for (const IdList* ids : {&s.resident, &k.bought})
    for (NodeId x : *ids)
      if (const int last = runs_.last_use(x); last < s.position || last >= end) left.push_back(x);
  Cost total;
  for (int at = k.first; at < end; ++at) {
    const Run& alone = runs_.run(at, 1);
    std::int64_t working_set = alone.slices[2] + std::max<std::int64_t>(0, k.slack);
    for (NodeId x : left)
      if (graph_.position(x) != at) working_set += bytes(x);
    std::int64_t load = 0;
    for (NodeId x : runs_.inputs(alone))
      if (!holds(left, x)) load += bytes(x);
    total.bytes += load + alone.output_bytes;
    if (working_set > hardware_.fast_mem_capacity) {
      total.latency += oom_penalty;
      continue;
    }
    const double memory = hardware_.transfer_cycles(load) + hardware_.transfer_cycles(alone.output_bytes);
    total.latency += std::max(alone.cycles[2], memory) + hardware_.kernel_launch_cost;
  }
  return total;
}

// A kernel that waits for its computing saves nothing by retaining more, and is not declared with more
// retained: from that one everything can be bought.
int WalkProblem::unsaved_after(const State& s, const Kernel& k) const {
  constexpr double margin = 1 + 1e-12;  // of sums in another order
  constexpr int none = std::numeric_limits<int>::max();
  const Run& run = runs_.run(k.first, k.count);
  int first = none;
  for (NodeId x : runs_.outputs(run))
    if (runs_.last_use(x) >= run.end() && bytes(x) <= k.slack && !holds(k.retain, x) && !holds(s.resident, x))
      first = std::min(first, graph_.position(x));
  if (first == none || traffic_matters_) return first;
  const double busy = run.cycles[static_cast<std::size_t>(k.tile)] + hardware_.kernel_launch_cost;
  return price_seed(s, k).latency > busy * margin ? first : none;
}

State WalkProblem::apply_seed(const State& s, const Kernel& k) const {
  State next;
  next.position = k.first + k.count;
  next.slack = k.slack;
  if (k.slack >= 0) {
    next.held = k.fallback ? s.held + k.count : 1;
    next.owed = k.fallback ? owed_after(s, k) : 0;
    next.unsaved = k.fallback ? s.unsaved : unsaved_after(s, k);
  }
  const auto keep = [&](const IdList& ids) {
    for (NodeId x : ids) {
      const int last = runs_.last_use(x);
      if (last >= next.position || (k.fallback && last < s.position)) next.resident.push_back(x);
    }
  };
  keep(s.resident);
  keep(k.bought);
  if (!k.fallback) next.resident.insert(next.resident.end(), k.retain.begin(), k.retain.end());
  std::sort(next.resident.begin(), next.resident.end());
  next.resident.erase(std::unique(next.resident.begin(), next.resident.end()), next.resident.end());
  return next;
}

// a can do what b does if it has less resident (which only takes room). What b has and a lacks, the kernel
// before a retains for it as far as its unused bytes go (seed); for the rest a pays again what b reads free
// or need not store: one store for a tensor still to be made, one load for every later reader but the last.
bool WalkProblem::dominates_seed(const State& a, double cost_a, const State& b, double cost_b) const {
  if (a.slack < b.slack || a.resident.size() > b.resident.size()) return false;
  if (a.owed > b.owed || (b.slack >= 0 && a.held > b.held)) return false;
  if (enumerates_all_) return a.resident == b.resident && costs_no_more(a, cost_a, 0, b, cost_b);
  if (!std::includes(b.resident.begin(), b.resident.end(), a.resident.begin(), a.resident.end()))
    return false;
  std::int64_t spare = a.slack - std::max<std::int64_t>(0, b.slack);
  double again = 0;    // bytes moved again; many uses of a huge tensor would overflow an integer
  double holding = 0;  // cycles, for what is bought
  auto in_a = a.resident.begin();
  for (NodeId x : b.resident) {
    if (in_a != a.resident.end() && *in_a == x) {
      ++in_a;
      continue;
    }
    const int left = uses_from(x, b.position);
    const int times = graph_.position(x) >= b.position ? std::max(1, left) : std::max(0, left - 1);
    const double moved = static_cast<double>(bytes(x)) * times;
    if (bytes(x) <= spare && can_buy(a, x)) {
      const double held = options_.price.residency * static_cast<double>(bytes(x)) * a.held;
      if (options_.most_traffic || held <= moved * cycles_per_byte_) {
        spare -= bytes(x);
        holding += held;
        continue;
      }
    }
    again += moved;
  }
  return costs_no_more(a, cost_a + holding, again, b, cost_b);
}

}  // namespace fuselage::walk
