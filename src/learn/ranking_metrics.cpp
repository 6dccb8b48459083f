#include "fuselage/learn/ranking_metrics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "fuselage/core/error.h"

namespace fuselage::learn {
namespace {

struct Point {
  double x;
  double y;
};

// Pairs of points, by how x and y order them.
struct PairCounts {
  std::int64_t pairs = 0;
  std::int64_t equal_x = 0;
  std::int64_t equal_y = 0;
  std::int64_t equal = 0;  // in both; counted in the two above too
  std::int64_t discordant = 0;
  std::int64_t concordant() const { return pairs - equal_x - equal_y + equal - discordant; }
};

std::int64_t pairs_of(std::ptrdiff_t n) {
  return static_cast<std::int64_t>(n) * (n - 1) / 2;
}

// Pairs within the runs that `same` finds.
template <class Same>
std::int64_t pairs_within(std::span<const Point> points, Same same) {
  std::int64_t pairs = 0;
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end = std::find_if(begin, points.end(), [&](const Point& p) { return !same(*begin, p); });
    pairs += pairs_of(end - begin);
    begin = end;
  }
  return pairs;
}

// Sorts by y and counts the pairs that were the other way round.
std::int64_t sort_and_count(std::span<Point> points, std::span<Point> spare) {
  if (points.size() < 2) return 0;
  const std::size_t half = points.size() / 2;
  std::int64_t count = sort_and_count(points.first(half), spare.first(half)) +
                       sort_and_count(points.subspan(half), spare.subspan(half));
  std::size_t left = 0;
  std::size_t right = half;
  for (Point& to : spare) {
    const bool from_right = left == half || (right < points.size() && points[right].y < points[left].y);
    if (from_right) count += static_cast<std::int64_t>(half - left);
    to = points[from_right ? right++ : left++];
  }
  std::copy(spare.begin(), spare.end(), points.begin());
  return count;
}

PairCounts count_pairs(std::vector<Point> points) {
  const auto same_x = [](const Point& a, const Point& b) { return a.x == b.x; };
  const auto same_y = [](const Point& a, const Point& b) { return a.y == b.y; };
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  PairCounts counts;
  counts.pairs = pairs_of(static_cast<std::ptrdiff_t>(points.size()));
  counts.equal_x = pairs_within(points, same_x);
  counts.equal =
      pairs_within(points, [&](const Point& a, const Point& b) { return same_x(a, b) && same_y(a, b); });
  std::vector<Point> spare(points.size());
  counts.discordant = sort_and_count(points, spare);
  counts.equal_y = pairs_within(points, same_y);
  return counts;
}

// Both factors must be above 0.
double tau_b(const PairCounts& counts) {
  const auto x = static_cast<double>(counts.pairs - counts.equal_x);
  const auto y = static_cast<double>(counts.pairs - counts.equal_y);
  return static_cast<double>(counts.concordant() - counts.discordant) / std::sqrt(x * y);
}

// `index`: of the costs; none for the weight.
void check_positive(double value, std::optional<std::size_t> index) {
  if (value >= least_ranked && value <= most_ranked) return;
  const std::string name = index ? fmt::format("costs[{}]", *index) : "weight";
  if (!(std::isfinite(value) && value > 0))
    fail("{}: {} is out of range; expected a finite number > 0", name, value);
  fail("{}: {} is out of range; expected a number from {} to {}", name, value, least_ranked, most_ranked);
}

void check(const RankedGroup& group) {
  if (group.costs.size() != group.scores.size())
    fail("scores: there are {}; expected {}, one a cost", group.scores.size(), group.costs.size());
  check_positive(group.weight, std::nullopt);
  for (std::size_t i = 0; i < group.costs.size(); ++i) {
    check_positive(group.costs[i], i);
    if (!std::isfinite(group.scores[i]))
      fail("scores[{}]: {} is not finite; expected a number", i, group.scores[i]);
  }
}

// Costs of the `count` rows that score highest, of equal scores the dearer first.
std::vector<double> top_costs(const RankedGroup& group, std::size_t count) {
  std::vector<std::size_t> order(group.costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      if (group.scores[a] != group.scores[b]) return group.scores[a] > group.scores[b];
                      return group.costs[a] > group.costs[b];
                    });
  std::vector<double> costs;
  for (std::size_t i = 0; i < count; ++i) costs.push_back(group.costs[order[i]]);
  return costs;
}

double discounted_gain(std::span<const double> costs, double best) {
  double sum = 0;
  for (std::size_t i = 0; i < costs.size(); ++i)
    sum += best / costs[i] / std::log2(static_cast<double>(i) + 2);
  return sum;
}

}  // namespace

std::optional<double> kendall_tau_b(std::span<const double> x, std::span<const double> y) {
  assert(x.size() == y.size());
  std::vector<Point> points(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) points[i] = {x[i], y[i]};
  const PairCounts counts = count_pairs(std::move(points));
  if (counts.equal_x == counts.pairs || counts.equal_y == counts.pairs) return std::nullopt;
  return tau_b(counts);
}

std::optional<GroupFigures> group_figures(const RankedGroup& group) {
  check(group);
  std::vector<Point> points(group.costs.size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {group.costs[i], -group.scores[i]};
  const PairCounts counts = count_pairs(std::move(points));
  if (counts.equal_x == counts.pairs) return std::nullopt;
  constexpr std::size_t top = 5;
  std::vector<double> ideal(group.costs.begin(), group.costs.end());
  const std::size_t count = std::min(top, ideal.size());
  std::partial_sort(ideal.begin(), ideal.begin() + static_cast<std::ptrdiff_t>(count), ideal.end());
  ideal.resize(count);
  const double best = ideal.front();
  const std::vector<double> picked = top_costs(group, top);
  const auto undecided = static_cast<double>(counts.equal_y - counts.equal);
  return GroupFigures{.pairwise = (static_cast<double>(counts.concordant()) + undecided / 2) /
                                  static_cast<double>(counts.pairs - counts.equal_x),
                      .tau = counts.equal_y == counts.pairs ? 0 : tau_b(counts),
                      .regret = (picked.front() - best) / best,
                      .ndcg_5 = discounted_gain(picked, best) / discounted_gain(ideal, best),
                      .best = group.weight * best,
                      .top_1 = group.weight * picked.front(),
                      .top_5 = group.weight * *std::min_element(picked.begin(), picked.end())};
}

}  // namespace fuselage::learn
