#include "trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "fuselage/learn/ranker.h"

namespace fuselage::experiments {
namespace {

constexpr int all_rounds = 200;
constexpr std::array levels = {1.01, 1.05, 1.15, 1.4};  // times the best

std::vector<float> negated_costs(const learn::Schedules& set) {
  std::vector<float> labels;
  for (std::size_t g = 0; g < set.groups(); ++g) {
    // In float, costs that are nearly the same would be equal: places among the group's are exact.
    std::vector<double> sorted(set.costs.begin() + static_cast<std::ptrdiff_t>(set.first_schedule[g]),
                               set.costs.begin() + static_cast<std::ptrdiff_t>(set.first_schedule[g + 1]));
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = set.first_schedule[g]; i < set.first_schedule[g + 1]; ++i)
      labels.push_back(
          static_cast<float>(sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), set.costs[i])));
  }
  return labels;
}

std::vector<float> relevance(const learn::Schedules& set) {
  std::vector<float> labels;
  for (std::size_t g = 0; g < set.groups(); ++g) {
    const auto first = set.costs.begin() + static_cast<std::ptrdiff_t>(set.first_schedule[g]);
    const auto last = set.costs.begin() + static_cast<std::ptrdiff_t>(set.first_schedule[g + 1]);
    const double best = *std::min_element(first, last);
    for (auto cost = first; cost != last; ++cost)
      labels.push_back(static_cast<float>(
          std::count_if(levels.begin(), levels.end(), [&](double times) { return *cost <= times * best; })));
  }
  return labels;
}

Scores scores_of(std::shared_ptr<const learn::FlatTrees> trees, const Rows& rows) {
  return [trees, rows](const Set& set) {
    const std::vector<float> numbers = rows(set);
    const std::size_t count = set.schedules.schedules();
    std::vector<float> scores(count);
    learn::FlatTreesScratch scratch;
    const Eigen::Map<const learn::Matrix<float>> matrix(numbers.data(), trees->features(),
                                                        static_cast<learn::Index>(count));
    trees->score(matrix, scores, scratch);
    return scores;
  };
}

}  // namespace

std::vector<std::uint32_t> group_sizes(const learn::Schedules& set) {
  std::vector<std::uint32_t> sizes;
  for (std::size_t g = 0; g < set.groups(); ++g)
    sizes.push_back(static_cast<std::uint32_t>(set.first_schedule[g + 1] - set.first_schedule[g]));
  return sizes;
}

std::vector<Trained> train_trees(const std::string& name, const Rows& rows, const Set& train,
                                 const Recipe& recipe) {
  const std::vector<float> numbers = rows(train);
  const auto count = static_cast<learn::Index>(train.schedules.schedules());
  const Eigen::Map<const learn::Matrix<float>> matrix(
      numbers.data(), static_cast<learn::Index>(numbers.size()) / count, count);
  const std::vector<std::uint32_t> sizes = group_sizes(train.schedules);
  std::vector<Trained> trained;
  for (const auto objective : {learn::RankObjective::pairwise, learn::RankObjective::ndcg}) {
    const bool pairwise = objective == learn::RankObjective::pairwise;
    const std::vector<float> labels = pairwise ? negated_costs(train.schedules) : relevance(train.schedules);
    const std::string json =
        learn::train_ranker({.rows = matrix, .labels = labels, .groups = sizes},
                            {.objective = objective,
                             .rounds = std::max(1, static_cast<int>(std::lround(all_rounds * recipe.effort))),
                             .row_share = 0.8,
                             .feature_share = 0.8,
                             .seed = static_cast<std::int64_t>(recipe.seed)});
    trained.push_back({pairwise ? name : name + ", ndcg",
                       scores_of(std::make_shared<const learn::FlatTrees>(json, name), rows)});
  }
  return trained;
}

}  // namespace fuselage::experiments
