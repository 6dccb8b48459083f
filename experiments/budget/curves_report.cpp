#include <fmt/format.h>

#include <array>
#include <optional>

#include "curves.h"

namespace fuselage::experiments {
namespace {

constexpr std::array<std::size_t, 4> points = {16, 64, 256, 1024};
constexpr double most_gap_at_64 = 0.008;
constexpr double least_ratio = 10;

double mean_at(const Curves& curves, FilterKind filter, std::size_t n) {
  return interval_of(curves.gaps_at(filter, n)).mean;
}

double plain_mean_at(const Curves& curves, FilterKind filter, std::size_t n) {
  double sum = 0;
  const std::vector<double> gaps = curves.gaps_at(filter, n);
  for (double gap : gaps) sum += gap;
  return sum / static_cast<double>(gaps.size());
}

// The first trial at which the mean gap is as low; none: it never is.
std::optional<std::size_t> trials_for(const Curves& curves, FilterKind filter, double gap) {
  std::size_t low = 1, high = curves.trials(filter);
  if (plain_mean_at(curves, filter, high) > gap) return std::nullopt;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (plain_mean_at(curves, filter, middle) <= gap)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

Titled gaps(const Curves& curves) {
  Table table({"filter", "after 16 trials", "64", "256", "1024"});
  for (std::size_t f = 0; f < filter_names.size(); ++f) {
    const auto filter = static_cast<FilterKind>(f);
    std::vector<std::string> cells = {std::string(filter_names[f])};
    for (std::size_t n : points)
      cells.push_back(n <= curves.trials(filter) ? interval_of(curves.gaps_at(filter, n)).percent() : "-");
    table.add(std::move(cells));
  }
  return {fmt::format("{}: gap to the proven optimum, %, mean over {} graphs [95 % interval]", curves.kind,
                      curves.graphs.size()),
          std::move(table)};
}

Titled differences(const Curves& curves) {
  Table table({"difference", "after 16 trials", "64", "256"});
  const auto add = [&](FilterKind a, FilterKind b) {
    std::vector<std::string> cells = {fmt::format("{} - {}", filter_names[static_cast<std::size_t>(a)],
                                                  filter_names[static_cast<std::size_t>(b)])};
    for (std::size_t n : {points[0], points[1], points[2]})
      cells.push_back(
          n <= curves.trials(a) ? difference_of(curves.gaps_at(a, n), curves.gaps_at(b, n)).percent() : "-");
    table.add(std::move(cells));
  };
  add(FilterKind::recurrent, FilterKind::bag);
  add(FilterKind::refit, FilterKind::bag);
  add(FilterKind::refit, FilterKind::recurrent);
  add(FilterKind::recurrent, FilterKind::exact);
  return {curves.kind + ": paired differences of gaps, percentage points (below 0: the first is better)",
          std::move(table)};
}

std::string count_or_more(const std::optional<std::size_t>& count, std::size_t all) {
  return count ? std::to_string(*count) : fmt::format("> {}", all);
}

Titled savings(const Curves& curves) {
  Table table({"filter", "trials", "gap %", "trials without a filter for it", "ratio"});
  for (const FilterKind filter :
       {FilterKind::bag, FilterKind::recurrent, FilterKind::refit, FilterKind::exact})
    for (std::size_t n : {points[0], points[1]}) {
      const double gap = mean_at(curves, filter, n);
      const auto needed = trials_for(curves, FilterKind::none, gap);
      const std::size_t all = curves.trials(FilterKind::none);
      table.add({std::string(filter_names[static_cast<std::size_t>(filter)]), std::to_string(n),
                 percent(gap, 2), count_or_more(needed, all),
                 fmt::format("{}{:.1f}", needed ? "" : "> ",
                             static_cast<double>(needed.value_or(all)) / static_cast<double>(n))});
    }
  return {curves.kind + ": how many trials a filter saves", std::move(table)};
}

Titled reference(const Curves& curves) {
  const std::size_t all = curves.trials(FilterKind::none);
  const double gap = mean_at(curves, FilterKind::none, all);
  Table table({"filter", fmt::format("trials to match {} without a filter", all)});
  for (const FilterKind filter :
       {FilterKind::bag, FilterKind::recurrent, FilterKind::refit, FilterKind::exact})
    table.add({std::string(filter_names[static_cast<std::size_t>(filter)]),
               count_or_more(trials_for(curves, filter, gap), curves.trials(filter))});
  return {fmt::format("{}: {} trials without a filter leave {} %", curves.kind, all, percent(gap, 2)),
          std::move(table)};
}

void add_bars(const Curves& curves, Table& table) {
  const auto bar = [&](const std::string& name, const std::string& asked, const std::string& measured,
                       bool met) {
    table.add({curves.kind + ": " + name, asked, measured, yes_no(met)});
  };
  if (curves.kind != oracle::name(oracle::GraphKind::mixed)) {
    const Interval difference =
        difference_of(curves.gaps_at(FilterKind::recurrent, 64), curves.gaps_at(FilterKind::bag, 64));
    bar("recurrent against action bag at 64, points", "below 0", difference.percent(), difference.high < 0);
    return;
  }
  const double gap = mean_at(curves, FilterKind::recurrent, 64);
  bar("gap at 64, recurrent, %", percent(most_gap_at_64, 1), percent(gap, 2), gap <= most_gap_at_64);
  for (std::size_t n : {points[0], points[1]}) {
    const auto needed = trials_for(curves, FilterKind::none, mean_at(curves, FilterKind::recurrent, n));
    const double ratio =
        static_cast<double>(needed.value_or(curves.trials(FilterKind::none))) / static_cast<double>(n);
    bar(fmt::format("times fewer trials at {}, recurrent", n), fmt::format("{:.0f}", least_ratio),
        fmt::format("{}{:.1f}", needed ? "" : "> ", ratio), ratio >= least_ratio);
  }
}

void add_rows(const Curves& curves, Table& rows) {
  for (std::size_t f = 0; f < filter_names.size(); ++f)
    for (std::size_t seed = 0; seed < curves.gaps[f].size(); ++seed)
      for (std::size_t g = 0; g < curves.graphs.size(); ++g) {
        const std::vector<float>& gaps = curves.gaps[f][seed][g];
        std::vector<std::string> cells = {curves.kind, curves.graphs[g], std::string(filter_names[f]),
                                          std::to_string(seed), fixed(curves.optima[g], 2)};
        for (std::size_t n : points)
          cells.push_back(n <= gaps.size() ? fixed(100 * static_cast<double>(gaps[n - 1]), 4) : "");
        cells.push_back(fixed(100 * static_cast<double>(gaps.back()), 4));
        rows.add(std::move(cells));
      }
}

}  // namespace

Report report_of(const std::vector<Curves>& all) {
  Report report;
  report.rows = Table({"kind", "graph", "filter", "seed", "optimum", "gap_16_percent", "gap_64_percent",
                       "gap_256_percent", "gap_1024_percent", "gap_last_percent"});
  Table bars({"figure", "bar", "measured", "met"});
  for (const Curves& curves : all) add_bars(curves, bars);
  report.summary.push_back({"Bars", std::move(bars)});
  for (const Curves& curves : all) {
    add_rows(curves, report.rows);
    for (Titled& titled :
         std::vector<Titled>{gaps(curves), differences(curves), savings(curves), reference(curves)})
      report.summary.push_back(std::move(titled));
  }
  return report;
}

}  // namespace fuselage::experiments
