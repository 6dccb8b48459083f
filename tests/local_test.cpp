// Local improvement on a toy: the engine without a family.

#include "fuselage/search/local.h"

#include <gtest/gtest.h>

#include <atomic>

#include "error_of.h"
#include "fuselage/search/exact.h"

namespace fuselage {
namespace {

using search::LocalSearch;
using search::Proof;

// Paint a strip from left to right, one to three columns a kernel, in one of `colours`. What a kernel costs
// hangs on the colour before it; colour 0 can't follow itself.
class Strip {
 public:
  struct State {
    int column = 0;
    int colour = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Kernel {
    int count = 1;
    int colour = 1;
    friend bool operator==(const Kernel&, const Kernel&) = default;
  };

  Strip(int length, int colours, std::uint64_t seed) : length_(length), colours_(colours), seed_(seed) {}

  State initial() const { return {}; }
  int horizon() const { return length_; }
  int progress(const State& s) const { return s.column; }
  bool kernels(const State& s, std::vector<Kernel>& out) const {
    out.clear();
    for (int count = 1; count <= std::min(3, length_ - s.column); ++count)
      for (int colour = 0; colour < colours_; ++colour) out.push_back({count, colour});
    return true;
  }
  double price(const State& s, const Kernel& k) const {
    if (k.colour == 0 && s.colour == 0) return std::numeric_limits<double>::infinity();
    std::uint64_t hash = seed_;
    for (int value : {s.column, s.colour, k.count, k.colour})
      hash = (hash ^ static_cast<std::uint64_t>(value + 1)) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29;
    return static_cast<double>(10 + hash % 90);
  }
  State apply(const State& s, const Kernel& k) const { return {s.column + k.count, k.colour}; }
  double bound(const State& s) const { return 10.0 * ((length_ - s.column + 2) / 3); }
  std::uint64_t key(const State& s) const { return static_cast<std::uint64_t>(s.column * 100 + s.colour); }

  void neighbours(const std::vector<State>&, const std::vector<Kernel>& plan, std::size_t at,
                  std::vector<search::Move<Kernel>>& out) const {
    out.clear();
    const Kernel k = plan[at];
    for (int colour = 0; colour < colours_; ++colour)
      if (colour != k.colour) out.push_back({at, 1, {{k.count, colour}}});
    for (int left = 1; left < k.count; ++left)
      for (int colour = 0; colour < colours_; ++colour)
        out.push_back({at, 1, {{left, k.colour}, {k.count - left, colour}}});
    if (at + 1 == plan.size()) return;
    const Kernel next = plan[at + 1];
    const int both = k.count + next.count;
    for (int colour = 0; colour < colours_ && both <= 3; ++colour) out.push_back({at, 2, {{both, colour}}});
    for (int left = std::max(1, both - 3); left <= std::min(3, both - 1); ++left)
      if (left != k.count) out.push_back({at, 2, {{left, k.colour}, {both - left, next.colour}}});
  }
  std::optional<Kernel> refit(const State& s, const Kernel& k) const {
    if (k.count > length_ - s.column) return std::nullopt;
    return k.colour == 0 && s.colour == 0 ? Kernel{k.count, colours_ > 1 ? 1 : 0} : k;
  }
  std::vector<Kernel> slow_plan() const { return std::vector<Kernel>(static_cast<std::size_t>(length_)); }

 private:
  int length_;
  int colours_;
  std::uint64_t seed_;
};
static_assert(search::HasNeighbours<Strip>);

template <class P>
double full_price(const P& p, const std::vector<typename P::Kernel>& plan) {
  auto s = p.initial();
  double cost = 0;
  for (const auto& k : plan) {
    cost += p.price(s, k);
    s = p.apply(s, k);
  }
  EXPECT_EQ(p.progress(s), p.horizon());
  return cost;
}

TEST(LocalToy, finds_the_optimum) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Strip strip(12, 3, seed);
    const auto outcome = search::local(strip, strip.slow_plan(), {.budget = {.steps = 40'000}, .seed = seed});
    EXPECT_EQ(full_price(strip, outcome.plan), outcome.cost);
    found += outcome.cost == search::exact(strip).cost;
    EXPECT_EQ(outcome.stop, StopReason::steps);
    EXPECT_EQ(outcome.proof, Proof::none);
    EXPECT_EQ(outcome.lower_bound, 40);
  }
  EXPECT_GE(found, 18) << "of 20";
}

// Costs of thirteen digits that differ by as little as those of the strip: the same moves pay.
class DearStrip : public Strip {
 public:
  DearStrip(int length, int colours, std::uint64_t seed) : Strip(length, colours, seed), length_(length) {}
  double price(const State& s, const Kernel& k) const { return Strip::price(s, k) + 1e12 * k.count; }
  double bound(const State& s) const { return Strip::bound(s) + 1e12 * (length_ - s.column); }

 private:
  int length_;
};

TEST(LocalToy, a_move_that_saves_a_cycle_of_many_is_taken) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Strip strip(12, 3, seed);
    const DearStrip dear(12, 3, seed);
    const search::LocalOptions options = {.budget = {.steps = 10'000}, .seed = seed};
    const auto expected = search::local(strip, strip.slow_plan(), options);
    const auto outcome = search::local(dear, dear.slow_plan(), options);
    EXPECT_EQ(outcome.plan, expected.plan) << seed;
    EXPECT_EQ(outcome.cost, expected.cost + 12e12) << seed;
  }
}

TEST(LocalToy, a_long_plan_improves_everywhere) {
  const Strip strip(3000, 4, 1);
  const double optimum = search::exact(strip).cost;
  const auto outcome = search::local(strip, strip.slow_plan(), {.budget = {.steps = 1'000'000}});
  EXPECT_EQ(full_price(strip, outcome.plan), outcome.cost);
  EXPECT_LT(outcome.cost, 1.3 * optimum);
  EXPECT_GE(outcome.cost, optimum);
}

TEST(LocalToy, ends_where_there_is_nothing_to_try) {
  const Strip strip(1, 1, 3);  // one column, one colour
  Meter meter({.steps = 1'000'000});
  LocalSearch<Strip> search(strip, {{1, 0}}, {});
  EXPECT_THROW(search.run(meter), Error);  // colour 0 at the start can't be run

  const Strip empty(0, 3, 3);
  LocalSearch<Strip> done(empty, {}, {});
  EXPECT_TRUE(done.run(meter));
  EXPECT_EQ(done.best().cost, 0);
}

TEST(LocalToy, refuses_what_is_no_complete_plan) {
  const Strip strip(5, 3, 1);
  EXPECT_EQ(error_of([&] {
              search::local(strip, {{1, 1}, {2, 1}});
            }),
            "start plan: it makes 3 of 5 units of progress; expected a complete plan");
  EXPECT_EQ(error_of([&] {
              search::local(strip, {{1, 1}, {1, 0}, {3, 0}});
            }),
            "start plan: kernel 2: it can't be run; expected a legal plan");
}

TEST(LocalToy, a_better_plan_that_is_offered_is_taken) {
  const Strip strip(60, 4, 5);
  const auto optimum = search::exact(strip);
  LocalSearch<Strip> search(strip, strip.slow_plan(), {.seed = 1});
  Meter short_meter({.steps = 500});
  EXPECT_FALSE(search.run(short_meter));
  ASSERT_GT(search.best().cost, optimum.cost);
  search.offer({.cost = search.best().cost * 2, .plan = strip.slow_plan()});
  search.offer({.cost = optimum.cost, .plan = optimum.plan});
  Meter longer({.steps = 50'000});
  search.run(longer);
  EXPECT_EQ(search.best().cost, optimum.cost);
  EXPECT_EQ(search.best().plan, optimum.plan);
}

TEST(LocalToy, stops_when_cancelled_and_tells_the_monitor) {
  const Strip strip(40, 4, 6);
  const std::atomic<bool> cancel = true;
  const auto cancelled = search::local(strip, strip.slow_plan(), {.budget = {.cancel = &cancel}});
  EXPECT_EQ(cancelled.stop, StopReason::cancelled);
  EXPECT_EQ(cancelled.cost, full_price(strip, cancelled.plan));

  double told = std::numeric_limits<double>::infinity();
  search::Monitor monitor([&](const search::Event& event) {
    EXPECT_EQ(event.engine, "local");
    EXPECT_LE(event.cost, told);
    told = event.cost;
  });
  const auto outcome =
      search::local(strip, strip.slow_plan(), {.budget = {.steps = 20'000}, .monitor = &monitor});
  EXPECT_EQ(told, outcome.cost);
}

}  // namespace
}  // namespace fuselage
