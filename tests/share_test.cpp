// Shares of a layer against one thread that looks at all arrivals in order: the same are admitted, in the
// same order, also where dominance isn't transitive and where plans got known in between.

#include "fuselage/search/share.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fuselage/search/split_mix.h"

namespace fuselage::search {
namespace {

// Who beats whom is any relation, true for one in `rarity` pairs.
class Chance {
 public:
  using State = std::uint64_t;
  using Kernel = int;

  explicit Chance(std::uint64_t rarity) : rarity_(rarity) {}
  State initial() const { return {}; }
  int horizon() const { return 1; }
  int progress(const State&) const { return 0; }
  bool kernels(const State&, std::vector<Kernel>&) const { return true; }
  double price(const State&, Kernel) const { return 0; }
  State apply(const State& s, Kernel) const { return s; }
  double bound(const State&) const { return 0; }
  std::uint64_t key(const State& s) const { return s; }
  bool dominates(const State& a, double, const State& b, double) const {
    return SplitMix(a * 1'000'003 + b).next() % rarity_ == 0;
  }
  std::uint64_t dominance_class(const State&) const { return 0; }

 private:
  std::uint64_t rarity_;
};
static_assert(HasDominance<Chance>);

struct Node {
  std::uint64_t state = 0;
  double cost = 0;
  double estimate = 0;
  std::uint64_t name = 0;  // of its class
  std::uint64_t mask = 0;
  std::unique_ptr<int> witness = {};  // that it was moved, not left
};

struct Led {
  std::size_t layer = 0;
  std::uint64_t name = 0;
  double estimate = 0;
};
struct Parent {
  bool gone = false;  // can't matter any more when its arrivals are admitted
  std::vector<Led> to = {};
};

constexpr std::size_t layer_count = 3;

Node node_of(const Led& led) {
  return {.state = led.name, .cost = 0, .estimate = led.estimate, .witness = std::make_unique<int>(1)};
}

std::vector<Parent> draw(std::size_t count, SplitMix& random) {
  std::vector<Parent> parents(count);
  for (Parent& parent : parents) {
    parent.gone = random.below(20) == 0;
    const std::size_t arrivals = random.below(12);
    for (std::size_t i = 0; i < arrivals; ++i)
      parent.to.push_back({random.below(layer_count), random.next(), 100 * random.unit()});
  }
  return parents;
}

using Layers = std::vector<Layer<Node>>;

std::size_t one_by_one(const Chance& problem, const std::vector<Parent>& parents, double known_cost,
                       Layers& layers, BlockPool<Node>& pool) {
  std::size_t beaten = 0;
  for (const Parent& parent : parents)
    for (const Led& led : parent.to) {
      if (parent.gone || is_hopeless(led.estimate, known_cost)) continue;
      Node node = node_of(led);
      if (beaten_by_last(problem, layers[led.layer], node)) {
        ++beaten;
        continue;
      }
      Node* place = layers[led.layer].put(std::move(node), pool);
      layers[led.layer].arrivals.push_back({place, led.estimate, led.estimate});
    }
  return beaten;
}

std::size_t in_shares(const Chance& problem, const std::vector<Parent>& parents, double known_cost,
                      std::size_t share_size, Layers& layers, BlockPool<Node>& pool) {
  std::vector<Share<Chance, Node>> shares(3);
  std::size_t admitted = 0;
  for (std::size_t begin = 0; begin < parents.size();) {  // as many at once as there are shares
    const std::size_t end = std::min(parents.size(), begin + shares.size() * share_size);
    for (std::size_t i = begin; i < end; ++i) {
      Share<Chance, Node>& share = shares[(i - begin) / share_size];
      if ((i - begin) % share_size == 0) share.begin(0, pool);
      for (const Led& led : parents[i].to) share.put(problem, led.layer, node_of(led), led.estimate);
      share.end_state(parents[i].to.size(), i % 3 > 0);
    }
    for (std::size_t i = begin; i < end; ++i) {
      Share<Chance, Node>& share = shares[(i - begin) / share_size];
      const std::size_t state = (i - begin) % share_size;
      EXPECT_EQ(share.expanded(state).priced, parents[i].to.size());
      EXPECT_EQ(share.expanded(state).complete, i % 3 > 0);
      admitted += share.admit(problem, state, parents[i].gone ? -infinite_cost : known_cost, layers);
    }
    begin = end;
  }
  return admitted;
}

TEST(Share, admits_what_one_thread_keeps) {
  std::size_t beaten = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const std::uint64_t rarity : {3, 10, 60})
      for (const std::size_t share_size : {1, 3, 8})
        for (const double known_cost : {80.0, infinite_cost}) {
          const Chance problem(rarity);
          SplitMix random(seed);
          const std::vector<Parent> parents = draw(100, random);
          BlockPool<Node> pool;
          Layers expected(layer_count);
          Layers layers(layer_count);
          beaten += one_by_one(problem, parents, known_cost, expected, pool);
          const std::size_t admitted = in_shares(problem, parents, known_cost, share_size, layers, pool);
          std::size_t total = 0;
          for (std::size_t at = 0; at < layer_count; ++at) {
            const auto& arrivals = layers[at].arrivals;
            total += arrivals.size();
            ASSERT_EQ(arrivals.size(), expected[at].arrivals.size()) << seed << ' ' << rarity << ' ' << at;
            for (std::size_t i = 0; i < arrivals.size(); ++i) {
              EXPECT_EQ(arrivals[i].entry->state, expected[at].arrivals[i].entry->state);
              EXPECT_EQ(arrivals[i].estimate, arrivals[i].entry->estimate);
              EXPECT_TRUE(arrivals[i].entry->witness);
            }
          }
          EXPECT_EQ(admitted, total);
        }
  EXPECT_GT(beaten, 10'000U);
}

}  // namespace
}  // namespace fuselage::search
