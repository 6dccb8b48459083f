// The filter of a layer alone, against the plain rule: one after the other in order, each against all kept
// before it. Also where dominance isn't transitive, and where a class or a layer is large.

#include "fuselage/search/layer_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fuselage/search/split_mix.h"

namespace fuselage::search {
namespace {

struct Tag {
  std::uint64_t group = 0;
  std::uint64_t name = 0;
  friend bool operator==(const Tag&, const Tag&) = default;
};

std::uint64_t mask_of(const Tag& tag) {
  return tag.name % 8;
}

// Nothing but what a filter asks for: who beats whom is any relation, true for one in `rarity` of the pairs
// whose masks allow it.
class Relation {
 public:
  using State = Tag;
  using Kernel = int;

  explicit Relation(std::uint64_t rarity) : rarity_(rarity) {}
  State initial() const { return {}; }
  int horizon() const { return 1; }
  int progress(const State&) const { return 0; }
  bool kernels(const State&, std::vector<Kernel>&) const { return true; }
  double price(const State&, Kernel) const { return 0; }
  State apply(const State& s, Kernel) const { return s; }
  double bound(const State&) const { return 0; }
  std::uint64_t key(const State& s) const { return s.name % 64; }
  bool dominates(const State& a, double, const State& b, double) const {
    return (mask_of(a) & ~mask_of(b)) == 0 && SplitMix(a.name * 1'000'003 + b.name).next() % rarity_ == 0;
  }
  std::uint64_t dominance_class(const State& s) const { return s.group; }

 private:
  std::uint64_t rarity_;
};
static_assert(HasDominance<Relation>);

// The same without dominance: equal states meet by key.
class Equality {
 public:
  using State = Tag;
  using Kernel = int;
  State initial() const { return {}; }
  int horizon() const { return 1; }
  int progress(const State&) const { return 0; }
  bool kernels(const State&, std::vector<Kernel>&) const { return true; }
  double price(const State&, Kernel) const { return 0; }
  State apply(const State& s, Kernel) const { return s; }
  double bound(const State&) const { return 0; }
  std::uint64_t key(const State& s) const { return s.name % 64; }
};
static_assert(Problem<Equality> && !HasDominance<Equality>);

struct Node {
  Tag state;
  double cost = 0;
};

struct Drawn {
  std::vector<Node> nodes;
  std::vector<Arrival<Node>> arrivals;
};

template <class P>
std::uint64_t class_of(const P& problem, const Tag& tag) {
  if constexpr (HasDominance<P>)
    return problem.dominance_class(tag);
  else
    return problem.key(tag);
}

template <class P>
Drawn draw(const P& problem, std::size_t count, std::uint64_t groups, std::uint64_t names,
           std::uint64_t seed) {
  SplitMix random(seed);
  Drawn drawn;
  for (std::size_t i = 0; i < count; ++i)
    drawn.nodes.push_back(
        {{random.next() % groups, random.next() % names}, static_cast<double>(random.next() % 1000)});
  for (Node& node : drawn.nodes)
    drawn.arrivals.push_back({.entry = &node,
                              .estimate = node.cost + 10,
                              .order = node.cost,
                              .name = class_of(problem, node.state),
                              .mask = HasDominance<P> ? mask_of(node.state) : 0});
  return drawn;
}

struct Expected {
  std::vector<Node*> kept;
  double dropped = infinite_cost;
};

// Of small classes, so that all are compared with.
template <class Beats>
Expected plainly(const std::vector<Arrival<Node>>& arrivals, std::size_t width, double known_cost,
                 const Beats& beats) {
  std::vector<Arrival<Node>> sorted;
  for (const auto& arrival : arrivals)
    if (arrival.estimate < known_cost) sorted.push_back(arrival);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.order < b.order; });
  Expected expected;
  for (const auto& arrival : sorted) {
    const bool beaten = std::any_of(expected.kept.begin(), expected.kept.end(),
                                    [&](const Node* other) { return beats(*other, *arrival.entry); });
    if (expected.kept.size() == width)
      expected.dropped = std::min(expected.dropped, arrival.estimate);
    else if (!beaten)
      expected.kept.push_back(arrival.entry);
  }
  return expected;
}

template <class P, class Beats>
void expect_plain(const P& problem, const Beats& beats) {
  std::size_t beaten = 0;
  std::size_t dropped = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const std::size_t count : {0, 1, 40, 700, 3000})
      for (const std::size_t width : {std::size_t{1}, std::size_t{30}, std::size_t{400}, unlimited})
        for (const std::uint64_t groups : {10, 400}) {
          Drawn drawn = draw(problem, count, groups, 1 << 20, seed);
          const double known = seed % 3 == 0 ? 700 : infinite_cost;
          const Expected expected = plainly(drawn.arrivals, width, known, beats);
          for (const int threads : {1, 2, 4}) {
            LayerFilter<P, Node> filter(problem, width, threads);
            std::vector<Node*> kept;
            const auto result = filter.run(drawn.arrivals, known, kept);
            ASSERT_EQ(kept, expected.kept) << seed << ' ' << count << ' ' << width << ' ' << threads;
            EXPECT_EQ(result.least_estimate, expected.dropped);
            EXPECT_EQ(result.any, expected.dropped < infinite_cost);
          }
          dropped += expected.dropped < infinite_cost;
          beaten += width == unlimited && known == infinite_cost && expected.kept.size() < count;
        }
  EXPECT_GT(dropped, 100U);
  EXPECT_GT(beaten, 10U);
}

TEST(LayerFilter, keeps_what_the_plain_rule_keeps) {
  const Relation problem(8);
  expect_plain(problem, [&](const Node& a, const Node& b) {
    return a.state.group == b.state.group && problem.dominates(a.state, a.cost, b.state, b.cost);
  });
}

TEST(LayerFilter, equal_states_meet_without_dominance) {
  const Equality problem;
  SplitMix random(1);
  for (const std::size_t width : {std::size_t{100}, unlimited}) {
    Drawn drawn = draw(problem, 2000, 1, 500, random.next());
    const Expected expected = plainly(drawn.arrivals, width, infinite_cost,
                                      [](const Node& a, const Node& b) { return a.state == b.state; });
    EXPECT_LE(expected.kept.size(), 500U);
    for (const int threads : {1, 2}) {
      LayerFilter<Equality, Node> filter(problem, width, threads);
      std::vector<Node*> kept;
      filter.run(drawn.arrivals, infinite_cost, kept);
      EXPECT_EQ(kept, expected.kept) << width << ' ' << threads;
    }
  }
}

// A class of more states than are compared with: equal ones still meet, and threads change nothing.
TEST(LayerFilter, of_a_huge_class_equal_states_meet) {
  const Relation problem(3000);
  Drawn drawn = draw(problem, 6000, 1, 3000, 7);
  std::vector<std::vector<Node*>> kept(3);
  for (const int threads : {1, 2, 4}) {
    LayerFilter<Relation, Node> filter(problem, unlimited, threads);
    filter.run(drawn.arrivals, infinite_cost, kept[static_cast<std::size_t>(threads / 2)]);
  }
  EXPECT_EQ(kept[0], kept[1]);
  EXPECT_EQ(kept[0], kept[2]);
  ASSERT_GT(kept[0].size(), 1000U);
  std::vector<std::uint64_t> late;
  for (std::size_t i = 512; i < kept[0].size(); ++i) late.push_back(kept[0][i]->state.name);
  std::sort(late.begin(), late.end());
  EXPECT_EQ(std::adjacent_find(late.begin(), late.end()), late.end());
}

TEST(LayerFilter, ties_are_kept_as_they_arrived) {
  const Equality problem;
  Drawn drawn = draw(problem, 5000, 1, 1 << 30, 3);
  for (auto& arrival : drawn.arrivals) arrival.order = 1;
  for (const int threads : {1, 2}) {
    LayerFilter<Equality, Node> filter(problem, 300, threads);
    std::vector<Node*> kept;
    filter.run(drawn.arrivals, infinite_cost, kept);
    ASSERT_EQ(kept.size(), 300U);
    for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_LT(kept[i - 1], kept[i]);
  }
}

}  // namespace
}  // namespace fuselage::search
