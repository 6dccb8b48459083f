#include "fuselage/oracle/habits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fuselage/oracle/play_answers.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;

bool could_fuse(const Episode& episode, Episode& scratch) {
  const walk::OpenGroup& group = episode.group();
  if (group.count == 0 || episode.context().runs().longest(group.first) <= group.count) return false;
  scratch = episode;
  scratch.step(walk::ActionView(true, walk::tiles.front(), {}));
  return scratch.error().kind == walk::StepError::Kind::none;
}

// The choices that closing the open kernel of `before` makes, which `after` is the state after.
class Closing {
 public:
  Closing(const Episode& before, const Episode& after)
      : graph_(before.context().graph()),
        hardware_(before.context().hardware()),
        before_(before),
        after_(after),
        run_(before.context().runs().run(before.group().first, before.group().count)) {
    for (NodeId id : before.resident()) resident_ += graph_.bytes(id);
    for (NodeId id : before.resident()) outside_ += is_member(id) ? 0 : graph_.bytes(id);
  }

  void count(Habits& habits) const {
    for (int i = 0; i < run_.count; ++i)
      count(graph_.order()[static_cast<std::size_t>(run_.first + i)], habits);
    for (NodeId id : before_.context().runs().inputs(run_)) count(id, habits);
  }

 private:
  bool is_member(NodeId id) const {
    return graph_.position(id) >= run_.first && graph_.position(id) < run_.end();
  }

  void count(NodeId id, Habits& habits) const {
    if (before_.remaining_uses(id) <= 0 || before_.is_resident(id) || !fits(id)) return;
    const int next = before_.context().runs().next_use(id, run_.end());
    const auto near = distance_bucket(next - (run_.end() - 1));
    Rate& rate = habits.retention_cells[near][pressure_bucket(pressure())];
    ++rate.could;
    rate.done += after_.is_resident(id);
  }

  bool fits(NodeId id) const {
    const auto tile = static_cast<std::size_t>(walk::tile_index(before_.group().tile));
    return run_.slices[tile] + outside_ + graph_.bytes(id) <= hardware_.fast_mem_capacity;
  }
  double pressure() const {
    if (resident_ == 0) return 0;
    if (hardware_.fast_mem_capacity <= 0) return 1;
    return static_cast<double>(resident_) / static_cast<double>(hardware_.fast_mem_capacity);
  }

  const Graph& graph_;
  const Hardware& hardware_;
  const Episode& before_;
  const Episode& after_;
  const walk::Run& run_;
  std::int64_t resident_ = 0;  // bytes
  std::int64_t outside_ = 0;   // of those that the kernel doesn't make itself
};

double entropy(double share) {
  const auto part = [](double p) { return p > 0 ? -p * std::log(p) : 0.0; };
  return part(share) + part(1 - share);
}

// Mean entropy within a cell of `size`, times size, if `all.done` of `all.could` are spread by lot: the
// number that falls into the cell is hypergeometric.
double mean_entropy_by_lot(const Rate& all, std::int64_t size) {
  const auto log_choose = [](std::int64_t n, std::int64_t k) {
    const auto gamma = [](std::int64_t x) { return std::lgamma(static_cast<double>(x) + 1); };
    return gamma(n) - gamma(k) - gamma(n - k);
  };
  double mean = 0;
  const std::int64_t least = std::max<std::int64_t>(0, size - (all.could - all.done));
  for (std::int64_t x = least; x <= std::min(size, all.done); ++x) {
    const double chance = std::exp(log_choose(all.done, x) + log_choose(all.could - all.done, size - x) -
                                   log_choose(all.could, size));
    mean += chance * entropy(static_cast<double>(x) / static_cast<double>(size));
  }
  return mean * static_cast<double>(size);
}

// Buckets in the order of preference.
std::optional<double> area(std::span<const Rate> buckets) {
  double done = 0, left = 0, won = 0;
  for (const Rate& bucket : buckets) {
    const auto here = static_cast<double>(bucket.done);
    const auto dropped = static_cast<double>(bucket.could - bucket.done);
    won += (done + here / 2) * dropped;
    done += here;
    left += dropped;
  }
  if (done == 0 || left == 0) return std::nullopt;
  return won / (done * left);
}

}  // namespace

std::size_t distance_bucket(int nodes) {
  return nodes <= 1 ? 0 : nodes <= 3 ? 1 : nodes <= 7 ? 2 : 3;
}

std::size_t pressure_bucket(double fraction) {
  return fraction < 0.25 ? 0 : fraction < 0.5 ? 1 : fraction < 0.75 ? 2 : 3;
}

std::optional<double> Rate::value() const {
  return could > 0 ? std::optional(static_cast<double>(done) / static_cast<double>(could)) : std::nullopt;
}

Rate& Rate::operator+=(const Rate& other) {
  done += other.done;
  could += other.could;
  return *this;
}

Habits& Habits::operator+=(const Habits& other) {
  fusion += other.fusion;
  for (std::size_t d = 0; d < retention_cells.size(); ++d)
    for (std::size_t p = 0; p < retention_cells[d].size(); ++p)
      retention_cells[d][p] += other.retention_cells[d][p];
  return *this;
}

Rate Habits::retention_at_distance(std::size_t bucket) const {
  Rate sum;
  for (const Rate& cell : retention_cells[bucket]) sum += cell;
  return sum;
}

Rate Habits::retention_at_pressure(std::size_t bucket) const {
  Rate sum;
  for (const auto& row : retention_cells) sum += row[bucket];
  return sum;
}

Rate Habits::retention() const {
  Rate sum;
  for (std::size_t d = 0; d < retention_cells.size(); ++d) sum += retention_at_distance(d);
  return sum;
}

std::optional<double> Habits::dependence() const {
  const Rate all = retention();
  if (all.done == 0 || all.done == all.could) return std::nullopt;
  const auto total = static_cast<double>(all.could);
  double within = 0, by_lot = 0;
  for (const auto& row : retention_cells) {
    for (const Rate& cell : row) {
      if (cell.could == 0) continue;
      within += static_cast<double>(cell.could) / total * entropy(*cell.value());
      by_lot += mean_entropy_by_lot(all, cell.could) / total;
    }
  }
  // H - H(choice | cell) - E[I] over H - E[I], where E[I] = H - by_lot.
  if (by_lot <= 1e-12) return std::nullopt;
  return (by_lot - within) / by_lot;
}

std::optional<double> Habits::prefers_near() const {
  std::array<Rate, 4> buckets;
  for (std::size_t d = 0; d < buckets.size(); ++d) buckets[d] = retention_at_distance(d);
  return area(buckets);
}

std::optional<double> Habits::prefers_room() const {
  std::array<Rate, 4> buckets;
  for (std::size_t p = 0; p < buckets.size(); ++p) buckets[p] = retention_at_pressure(p);
  return area(buckets);
}

Habits habits_of(const walk::EpisodeContext& context, walk::Rules rules,
                 std::span<const std::string> answers) {
  Episode episode(context, {.rules = rules});
  Episode before = episode;
  Episode scratch = episode;
  Habits habits;
  play_answers(episode, answers, [&](const Action& action) {
    before = episode;
    const bool could = could_fuse(before, scratch);
    const walk::StepResult result = episode.step(action);
    const bool grew = before.group().count > 0 && episode.error().kind == walk::StepError::Kind::none &&
                      action.fuse_with_prev;
    habits.fusion += {.done = grew, .could = could || grew};
    if (before.group().count == 0 || grew) return result;
    scratch = before;
    scratch.close_group();
    Closing(before, scratch).count(habits);
    return result;
  });
  return habits;
}

}  // namespace fuselage::oracle
