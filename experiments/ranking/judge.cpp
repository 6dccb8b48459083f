#include "judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuselage::experiments {
namespace {

using learn::GroupFigures;

constexpr double near = 1.1;  // times the best

std::vector<std::optional<GroupFigures>> figures_of(const learn::Schedules& set,
                                                    const std::vector<float>& scores, Filter filter) {
  std::vector<std::optional<GroupFigures>> figures;
  std::vector<double> costs, of_group;
  for (std::size_t g = 0; g < set.groups(); ++g) {
    const std::size_t first = set.first_schedule[g];
    const std::size_t last = set.first_schedule[g + 1];
    const double best = *std::min_element(set.costs.begin() + static_cast<std::ptrdiff_t>(first),
                                          set.costs.begin() + static_cast<std::ptrdiff_t>(last));
    costs.clear();
    of_group.clear();
    for (std::size_t i = first; i < last; ++i) {
      if (filter == Filter::near_best && set.costs[i] > near * best) continue;
      costs.push_back(set.costs[i]);
      of_group.push_back(static_cast<double>(scores[i]));
    }
    figures.push_back(learn::group_figures({.costs = costs, .scores = of_group, .weight = 1 / best}));
  }
  return figures;
}

// Adds a part of one training's figures.
void add(const GroupFigures& figures, double part, GroupFigures& sum) {
  sum.pairwise += part * figures.pairwise;
  sum.tau += part * figures.tau;
  sum.regret += part * figures.regret;
  sum.ndcg_5 += part * figures.ndcg_5;
  sum.best += part * figures.best;
  sum.top_1 += part * figures.top_1;
  sum.top_5 += part * figures.top_5;
}

}  // namespace

std::string name(Filter filter) {
  return filter == Filter::all ? "all" : "within 10 %";
}

double Judged::spread(learn::RankMetric metric) const {
  double least = 0, most = 0;
  for (const auto& figures : of_seeds) {
    const double value = figures[static_cast<std::size_t>(metric)];
    least = &figures == &of_seeds.front() ? value : std::min(least, value);
    most = &figures == &of_seeds.front() ? value : std::max(most, value);
  }
  return most - least;
}

Judged judge(const learn::Schedules& set, const std::vector<std::vector<float>>& scores, Filter filter) {
  Judged judged;
  for (const std::vector<float>& of_seed : scores) {
    std::vector<GroupFigures> groups;
    for (const auto& figures : figures_of(set, of_seed, filter))
      if (figures) groups.push_back(*figures);
    judged.groups.resize(groups.size());
    if (groups.empty()) continue;
    for (std::size_t g = 0; g < groups.size(); ++g)
      add(groups[g], 1 / static_cast<double>(scores.size()), judged.groups[g]);
    judged.of_seeds.push_back(learn::rank_figures(groups));
  }
  if (!judged.groups.empty()) judged.mean = learn::bootstrap(judged.groups);
  return judged;
}

std::string cell(const learn::Estimate& estimate, int decimals) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", estimate.value, decimals, estimate.low, decimals,
                     estimate.high, decimals);
}

}  // namespace fuselage::experiments
