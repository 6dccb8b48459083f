#include <fmt/format.h>

#include <algorithm>

#include "reports.h"

namespace fuselage::experiments {
namespace {

// Of one order of a group's schedules to another.
struct Shift {
  double tau = 0;
  double flipped = 0;    // of the pairs that the first tells apart, the part that the second has otherwise
  double moved_top = 0;  // does another schedule come first?
  int groups = 0;

  void add(const Shift& other) {
    tau += other.tau;
    flipped += other.flipped;
    moved_top += other.moved_top;
    groups += other.groups;
  }
};

std::size_t first_of(const std::vector<double>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

Shift shift_of_group(const std::vector<double>& before, const std::vector<double>& after) {
  const auto tau = learn::kendall_tau_b(before, after);
  if (!tau) return {};
  double pairs = 0, flipped = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::size_t j = 0; j < before.size(); ++j) {
      if (!(before[i] > before[j])) continue;
      pairs += 1;
      flipped += after[i] < after[j] ? 1 : after[i] == after[j] ? 0.5 : 0;
    }
  return {.tau = *tau,
          .flipped = flipped / pairs,
          // Whoever came first before, may share the first place with others now.
          .moved_top = after[first_of(before)] < after[first_of(after)] ? 1.0 : 0.0,
          .groups = 1};
}

template <class Value>
Shift shift(const learn::Schedules& set, Value before_of, Value after_of) {
  Shift sum;
  for (std::size_t g = 0; g < set.groups(); ++g) {
    std::vector<double> before, after;
    for (std::size_t i = set.first_schedule[g]; i < set.first_schedule[g + 1]; ++i) {
      before.push_back(before_of(i));
      after.push_back(after_of(i));
    }
    sum.add(shift_of_group(before, after));
  }
  return sum;
}

using Read = std::function<double(std::size_t)>;

void add_row(const std::string& variant, const std::string& ranker, const Shift& sum, Table& rows) {
  const double n = std::max(1, sum.groups);
  rows.add({variant, ranker, std::to_string(sum.groups), fixed(sum.tau / n, 5), percent(sum.flipped / n),
            percent(sum.moved_top / n, 2)});
}

}  // namespace

Report noise_report(const Contest& contest, std::size_t first, const std::vector<Variant>& variants) {
  Report report = {
      .rows = Table({"change", "ranker", "graphs x seeds", "tau", "pairs flipped %", "top changed %"}),
      .summary = {}};
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const learn::Schedules& before = variants[v].before.schedules;
    const learn::Schedules& after = variants[v].after.schedules;
    add_row(variants[v].name, "the costs themselves",
            shift<Read>(
                before, [&](std::size_t i) { return -before.costs[i]; },
                [&](std::size_t i) { return -after.costs[i]; }),
            report.rows);
    for (const std::string& name : contest.names) {
      const auto& scores_before = contest.scores[first + 2 * v].at(name);
      const auto& scores_after = contest.scores[first + 2 * v + 1].at(name);
      Shift sum;
      for (std::size_t seed = 0; seed < scores_before.size(); ++seed)
        sum.add(shift<Read>(
            before, [&](std::size_t i) { return scores_before[seed][i]; },
            [&](std::size_t i) { return scores_after[seed][i]; }));
      if (sum.groups > 0) add_row(variants[v].name, name, sum, report.rows);
    }
  }
  report.summary = {{"The order before against the order after, of the same schedules", report.rows}};
  return report;
}

}  // namespace fuselage::experiments
