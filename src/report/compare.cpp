#include "fuselage/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

namespace fuselage::report {
namespace {

using Kernels = std::span<const Kernel>;
using Ops = std::vector<OpId>;

// One plan on its way through its kernels.
class Walker {
 public:
  explicit Walker(const Schedule& schedule) : schedule_(schedule) {}

  bool done() const { return next_ == schedule_.kernels.size(); }
  std::size_t next() const { return next_; }
  std::size_t ran() const { return ran_.size(); }
  double now() const { return next_ == 0 ? 0 : schedule_.kernels[next_ - 1].end; }
  bool has(OpId op) const { return ran_.contains(op); }
  Kernels between(KernelRange range) const {
    return Kernels(schedule_.kernels).subspan(range.first, range.count);
  }
  bool next_adds() const {
    const Ops& ops = schedule_.kernels[next_].ops;
    return std::ranges::any_of(ops, [&](OpId op) { return !has(op); });
  }
  // The ops that run for the first time.
  Ops advance() {
    Ops added;
    for (const OpId op : schedule_.kernels[next_++].ops)
      if (ran_.insert(op).second) added.push_back(op);
    return added;
  }

 private:
  const Schedule& schedule_;
  std::set<OpId> ran_;
  std::size_t next_ = 0;
};

bool same_decisions(const Kernel& a, const Kernel& b) {
  return a.ops == b.ops && a.tile == b.tile && a.traversal == b.traversal && a.retain == b.retain;
}

template <class Id>
std::string list_text(const std::vector<Id>& ids) {
  constexpr std::size_t most = 10;
  if (ids.size() <= most) return fmt::format("{}", fmt::join(ids, ", "));
  return fmt::format("{}, ... ({} in all)", fmt::join(ids.begin(), ids.begin() + most, ", "), ids.size());
}

// "{5, 6} and {7}"
std::string groups_text(Kernels kernels) {
  constexpr std::size_t most = 6;
  if (kernels.size() > most) return fmt::format("{} kernels", kernels.size());
  std::string text;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    text += fmt::format("{}{{{}}}",
                        i == 0                    ? ""
                        : i + 1 == kernels.size() ? " and "
                                                  : ", ",
                        list_text(kernels[i].ops));
  return text.empty() ? "nothing" : text;
}

std::multiset<Ops> groups_of(Kernels kernels) {
  std::multiset<Ops> groups;
  for (const Kernel& kernel : kernels) {
    Ops ops = kernel.ops;
    std::ranges::sort(ops);
    groups.insert(std::move(ops));
  }
  return groups;
}

std::set<TensorId> retained_by(Kernels kernels) {
  std::set<TensorId> retained;
  for (const Kernel& kernel : kernels) retained.insert(kernel.retain.begin(), kernel.retain.end());
  return retained;
}

std::vector<TensorId> without(const std::set<TensorId>& from, const std::set<TensorId>& what) {
  std::vector<TensorId> rest;
  std::ranges::set_difference(from, what, std::back_inserter(rest));
  return rest;
}

// Of kernels that run the same ops one by one.
void add_tile_changes(Kernels reference, Kernels plan, std::vector<std::string>& changes) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].tile != reference[i].tile)
      changes.push_back(fmt::format("tile {} instead of {} for {{{}}}", plan[i].tile, reference[i].tile,
                                    list_text(plan[i].ops)));
    if (plan[i].traversal != reference[i].traversal)
      changes.push_back(fmt::format("{} instead of {} for {{{}}}", plan[i].traversal, reference[i].traversal,
                                    list_text(plan[i].ops)));
  }
}

bool same_sequence(Kernels a, Kernels b) {
  return std::ranges::equal(a, b, [](const Kernel& x, const Kernel& y) { return x.ops == y.ops; });
}

std::vector<std::string> changes_between(Kernels reference, Kernels plan) {
  std::vector<std::string> changes;
  if (same_sequence(reference, plan))
    add_tile_changes(reference, plan, changes);
  else if (groups_of(reference) == groups_of(plan))
    changes.push_back(fmt::format("another order of {}", groups_text(plan)));
  else
    changes.push_back(fmt::format("{} instead of {}", groups_text(plan), groups_text(reference)));
  const std::set<TensorId> kept = retained_by(plan);
  const std::set<TensorId> should = retained_by(reference);
  if (const auto missing = without(should, kept); !missing.empty())
    changes.push_back(fmt::format("does not retain {}", list_text(missing)));
  if (const auto extra = without(kept, should); !extra.empty())
    changes.push_back(fmt::format("retains {}", list_text(extra)));
  if (changes.empty()) changes.push_back("the same kernels, with other tensors in fast memory");
  return changes;
}

bool same_segment(Kernels reference, Kernels plan, double worth, double scale) {
  constexpr double tolerance = 1e-12;  // relative: sums of the same terms in another order
  return std::ranges::equal(reference, plan, same_decisions) && std::abs(worth) <= tolerance * scale;
}

}  // namespace

std::vector<Segment> differences(const Schedule& reference, const Schedule& plan) {
  Walker ours(plan);
  Walker theirs(reference);
  std::vector<Segment> segments;
  while (!ours.done() || !theirs.done()) {
    Segment segment = {.kernels = {ours.next(), 0}, .reference_kernels = {theirs.next(), 0}};
    const double before = ours.now() - theirs.now();
    std::set<OpId> apart;  // ops that one of them has run
    const auto step = [&](Walker& walker, const Walker& other) {
      for (const OpId op : walker.advance()) {
        segment.ops.push_back(op);
        if (other.has(op))
          apart.erase(op);
        else
          apart.insert(op);
      }
    };
    do {
      const bool is_ours = theirs.done() || (!ours.done() && ours.ran() <= theirs.ran());
      is_ours ? step(ours, theirs) : step(theirs, ours);
    } while (!apart.empty() && !(ours.done() && theirs.done()));
    while (!ours.done() && !ours.next_adds()) ours.advance();
    while (!theirs.done() && !theirs.next_adds()) theirs.advance();
    segment.kernels.count = ours.next() - segment.kernels.first;
    segment.reference_kernels.count = theirs.next() - segment.reference_kernels.first;
    segment.worth = ours.now() - theirs.now() - before;
    std::ranges::sort(segment.ops);
    segment.ops.erase(std::unique(segment.ops.begin(), segment.ops.end()), segment.ops.end());
    const Kernels here = ours.between(segment.kernels);
    const Kernels there = theirs.between(segment.reference_kernels);
    if (same_segment(there, here, segment.worth, theirs.now())) continue;
    segment.changes = changes_between(there, here);
    segments.push_back(std::move(segment));
  }
  return segments;
}

std::size_t fastest(const std::vector<Schedule>& plans) {
  std::size_t best = plans.size();
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (plans[i].legal() && (best == plans.size() || plans[i].latency < plans[best].latency)) best = i;
  return best;
}

}  // namespace fuselage::report
