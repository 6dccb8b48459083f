#include "residency_bound.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "id_list.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int longest_life = 2048;  // positions; longer lives are not tracked, which keeps the table linear

}  // namespace

// What a run does to the slots. Masks have one bit a slot.
struct ResidencyBound::Step {
  const Run* run = nullptr;
  const std::array<double, codes>* after = nullptr;
  Tracked old = {};                 // tracked before the run
  Tracked now = {};                 // tracked after it
  unsigned reads = 0;               // an old one is an input
  unsigned lives_on = 0;            // an old one is still tracked after the run
  unsigned made = 0;                // a new one is a member
  unsigned stored = 0;              // a new one is a boundary output
  std::int64_t always_written = 0;  // bytes: graph outputs of the last run
  std::array<std::array<std::int64_t, 4>, slots> old_slices = {};  // of boundary tensors only
  std::array<std::array<std::int64_t, 4>, slots> now_slices = {};
};

ResidencyBound::ResidencyBound(const Graph& graph, const Hardware& hardware, const RunTable& runs,
                               const ProblemOptions& options)
    : graph_(graph), hardware_(hardware), runs_(runs), options_(options) {
  if (!assign_slots()) return;
  to_go_.resize(static_cast<std::size_t>(graph.size()) + 1);
  for (auto& row : to_go_) row.fill(infinity);
  to_go_.back().fill(0.0);
  for (int at = graph.size() - 1; at >= 0; --at) {
    if (at % 16 == 0 && options.set_up.passed()) return;
    fill(at);
  }
  finished_ = true;
}

// False if time is up before.
bool ResidencyBound::assign_slots() {
  tracked_.assign(static_cast<std::size_t>(graph_.size()) + 1, {-1, -1, -1});
  std::vector<NodeId> by_traffic;
  for (NodeId x = 0; x < graph_.size(); ++x)
    if (graph_.uses(x) > 0 && graph_.bytes(x) > 0) by_traffic.push_back(x);
  const auto traffic = [&](NodeId x) {
    return static_cast<double>(graph_.bytes(x)) * (1.0 + graph_.uses(x));
  };
  std::sort(by_traffic.begin(), by_traffic.end(), [&](NodeId a, NodeId b) {
    return traffic(a) != traffic(b) ? traffic(a) > traffic(b) : graph_.position(a) < graph_.position(b);
  });
  for (std::size_t i = 0; i < by_traffic.size(); ++i) {
    if (i % 64 == 0 && options_.set_up.passed()) return false;
    const NodeId x = by_traffic[i];
    const int first = graph_.position(x) + 1;
    const int last = runs_.last_use(x);
    if (last - first > longest_life) continue;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      bool is_free = true;
      for (int at = first; at <= last && is_free; ++at)
        is_free = tracked_[static_cast<std::size_t>(at)][slot] < 0;
      if (!is_free) continue;
      for (int at = first; at <= last; ++at) tracked_[static_cast<std::size_t>(at)][slot] = x;
      break;
    }
  }
  return true;
}

std::size_t ResidencyBound::code(const Residency& residency) {
  return static_cast<std::size_t>(residency[0] + 3 * residency[1] + 9 * residency[2]);
}

void ResidencyBound::fill(int position) {
  std::array<double, codes>& row = to_go_[static_cast<std::size_t>(position)];
  const Tracked& here = tracked_[static_cast<std::size_t>(position)];
  for (const Run& run : runs_.from(position)) {
    if (run.count > 1 && !options_.may_fuse) break;
    Step step{.run = &run,
              .after = &to_go_[static_cast<std::size_t>(run.end())],
              .old = here,
              .now = tracked_[static_cast<std::size_t>(run.end())]};
    const auto inputs = runs_.inputs(run);
    const auto outputs = runs_.outputs(run);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const NodeId old = step.old[slot];
      const NodeId now = step.now[slot];
      const unsigned bit = 1U << slot;
      if (old >= 0 && holds(inputs, old)) {
        step.reads |= bit;
        for (std::size_t t = 0; t < 4; ++t)
          step.old_slices[slot][t] = slice_bytes(graph_.bytes(old), tiles[t]);
      }
      if (old >= 0 && old == now) step.lives_on |= bit;
      if (now >= 0 && graph_.position(now) >= run.first) {
        step.made |= bit;
        step.stored |= bit;  // it is read after the run
        for (std::size_t t = 0; t < 4; ++t)
          step.now_slices[slot][t] = slice_bytes(graph_.bytes(now), tiles[t]);
      }
    }
    if (run.end() == graph_.size())
      for (NodeId x : outputs)
        if (graph_.uses(x) == 0) step.always_written += graph_.bytes(x);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        for (int c = 0; c < 3; ++c) {
          const Residency before = {a, b, c};
          bool exists = true;
          for (std::size_t slot = 0; slot < slots; ++slot)
            exists = exists && (here[slot] >= 0 || before[slot] == out);
          if (exists) row[code(before)] = std::min(row[code(before)], least(step, before));
        }
  }
}

// Over what is kept of the tracked tensors.
double ResidencyBound::least(const Step& step, const Residency& before) const {
  unsigned can_stay = step.made;
  for (std::size_t slot = 0; slot < slots; ++slot)
    if ((step.lives_on >> slot & 1U) && (before[slot] != out || (step.reads >> slot & 1U)))
      can_stay |= 1U << slot;
  if (!options_.may_retain) can_stay = 0;
  double best = infinity;
  for (unsigned kept = can_stay;; kept = (kept - 1) & can_stay) {
    Residency after = {};
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (!(kept >> slot & 1U)) continue;
      const bool is_new = step.made >> slot & 1U;
      after[slot] = is_new || before[slot] == unwritten ? unwritten : written;
    }
    best = std::min(best, price(step, before, kept) + (*step.after)[code(after)]);
    if (kept == 0) break;
  }
  return best;
}

double ResidencyBound::price(const Step& step, const Residency& before, unsigned kept) const {
  std::array<std::int64_t, 4> room = step.run->slices;
  std::int64_t loads = 0;
  std::int64_t writes = step.always_written;
  std::int64_t resident_after = 0;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const bool keeps = kept >> slot & 1U;
    const bool lives_on = step.lives_on >> slot & 1U;
    const bool was_in = before[slot] != out;
    if (step.old[slot] >= 0) {
      const std::int64_t bytes = graph_.bytes(step.old[slot]);
      if ((step.reads >> slot & 1U) && !was_in) loads += bytes;
      if (before[slot] == unwritten && lives_on && !keeps) writes += bytes;
      if (was_in || (keeps && lives_on))
        for (std::size_t t = 0; t < 4; ++t) room[t] += bytes - step.old_slices[slot][t];
    }
    if (step.made >> slot & 1U) {
      const std::int64_t bytes = graph_.bytes(step.now[slot]);
      if (!keeps) writes += bytes;
      if (keeps)
        for (std::size_t t = 0; t < 4; ++t) room[t] += bytes - step.now_slices[slot][t];
    }
    if (keeps) resident_after += graph_.bytes(step.now[slot]);
  }
  double cycles = infinity;
  for (std::size_t t = 0; t < 4; ++t)
    if (room[t] <= hardware_.fast_mem_capacity && (!options_.only_tile || tiles[t] == *options_.only_tile))
      cycles = std::min(cycles, step.run->cycles[t]);
  const double memory = hardware_.transfer_cycles(loads) + hardware_.transfer_cycles(writes);
  return std::max(cycles, memory) + hardware_.kernel_launch_cost + options_.price.launch +
         options_.price.traffic * static_cast<double>(loads + writes) +
         options_.price.residency * static_cast<double>(resident_after);
}

double ResidencyBound::operator()(const State& state) const {
  const auto at = static_cast<std::size_t>(state.position);
  Residency residency = {};
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const NodeId x = tracked_[at][slot];
    if (x < 0 || !std::binary_search(state.resident.begin(), state.resident.end(), x)) continue;
    residency[slot] = holds(state.unwritten, x) ? unwritten : written;
  }
  return to_go_[at][code(residency)];
}

}  // namespace fuselage::walk
