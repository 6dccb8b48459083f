// Local improvement: what a move is said to cost is what the whole plan costs, a larger budget never ends
// worse, and on small graphs the optimum is found.

#include "fuselage/search/local.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "error_of.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"

namespace fuselage {
namespace {

using search::Incumbent;
using search::LocalSearch;
using search::Proof;
using walk::Order;
using walk::Plan;
using walk::Rules;
using walk::WalkProblem;

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

struct Variant {
  Rules rules;
  Order order = Order::fixed;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << walk::name(variant.rules) << ", " << walk::name(variant.order);
}

class LocalWalk : public ::testing::TestWithParam<Variant> {
 protected:
  Rules rules() const { return GetParam().rules; }
  Order order() const { return GetParam().order; }
  walk::ProblemOptions problem() const { return {.rules = rules(), .order = order()}; }

  void expect_priced(const Workload& w, const WalkProblem& p, const std::vector<walk::Kernel>& plan,
                     double cost, const std::string& name) const {
    const auto checked =
        oracle::simulate(w.graph, w.hardware, p.plan_of(plan), {.rules = rules(), .order = order()});
    ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
    ASSERT_LE(std::abs(checked.latency - cost), 1e-9 * cost) << name << ": claimed " << cost;
  }
  std::optional<Plan> played(const Workload& w, oracle::Engine engine) const {
    const auto solution = oracle::solve(w, {.rules = rules(), .order = order(), .engine = engine});
    return solution.found ? std::optional(solution.plan) : std::nullopt;
  }
};

INSTANTIATE_TEST_SUITE_P(rules, LocalWalk,
                         ::testing::Values(Variant{Rules::seed}, Variant{Rules::seed_honest},
                                           Variant{Rules::physical}, Variant{Rules::physical, Order::free}));

bool something_fits(const Workload& w, const walk::RunTable& runs) {
  for (int at = 0; at < w.graph.size(); ++at)
    for (const walk::Run& run : runs.from(at))
      if (run.slices[0] <= w.hardware.fast_mem_capacity) return true;
  return false;
}

// A plan in which one move was made and everything behind it refitted, or nothing.
std::vector<walk::Kernel> moved(const WalkProblem& p, const std::vector<walk::Kernel>& plan,
                                const search::Move<walk::Kernel>& move) {
  std::vector<walk::Kernel> wanted(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(move.first));
  wanted.insert(wanted.end(), move.added.begin(), move.added.end());
  wanted.insert(wanted.end(), plan.begin() + static_cast<std::ptrdiff_t>(move.first + move.removed),
                plan.end());
  std::vector<walk::Kernel> result;
  auto s = p.initial();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto fitted = i < move.first ? std::optional(wanted[i]) : p.refit(s, wanted[i]);
    if (!fitted) return {};
    result.push_back(*fitted);
    s = p.apply(s, *fitted);
  }
  return result;
}

// Random moves from the exact engine's own kernels (under seed with what they buy) and from played plans.
TEST_P(LocalWalk, moves_cost_what_the_check_says) {
  Dice dice(51);
  int made = 0;
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 12), .costly = dice.chance(10)});
    const walk::RunTable runs(w.graph, w.hardware);
    if (!something_fits(w, runs)) continue;
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    const auto optimum = search::exact(p, {.budget = {.steps = 20'000}});
    if (!optimum.found) continue;
    std::vector<walk::Kernel> plan = optimum.plan;
    std::vector<search::Move<walk::Kernel>> moves;
    for (int round = 0; round < 60; ++round) {
      std::vector<walk::State> trail = {p.initial()};
      for (const walk::Kernel& k : plan) trail.push_back(p.apply(trail.back(), k));
      const int at = dice.below(static_cast<int>(plan.size()));
      p.neighbours(trail, plan, static_cast<std::size_t>(at), moves);
      if (moves.empty()) continue;
      const auto& move = moves[static_cast<std::size_t>(dice.below(static_cast<int>(moves.size())))];
      EXPECT_GE(move.first, static_cast<std::size_t>(at));
      EXPECT_LE(move.first + move.removed, plan.size());
      auto next = moved(p, plan, move);
      if (next.empty()) continue;
      ++made;
      plan = std::move(next);
      expect_priced(w, p, plan, full_price(p, plan), fmt::format("graph {} round {}", i, round));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(made, 1000);
}

TEST_P(LocalWalk, refitting_twice_changes_nothing) {
  Dice dice(52);
  for (int i = 0; i < 60; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 10)});
    const walk::RunTable runs(w.graph, w.hardware);
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    auto s = p.initial();
    std::vector<walk::Kernel> kernels;
    while (p.progress(s) < p.horizon()) {
      p.kernels(s, kernels);
      if (kernels.empty()) break;
      const auto& k = kernels[static_cast<std::size_t>(dice.below(static_cast<int>(kernels.size())))];
      const auto once = p.refit(s, k);
      ASSERT_TRUE(once) << i;
      const auto twice = p.refit(s, *once);
      ASSERT_TRUE(twice) << i;
      EXPECT_EQ(p.price(s, *once), p.price(s, *twice)) << i;
      EXPECT_TRUE(p.apply(s, *once) == p.apply(s, *twice)) << i;
      if (!k.fallback) {
        EXPECT_LE(p.price(s, *once), p.price(s, k) * (1 + 1e-12)) << i;
      }
      s = p.apply(s, *once);
    }
  }
}

// The search stops every few steps; what it holds then is priced anew.
TEST_P(LocalWalk, cost_is_that_of_the_plan) {
  Dice dice(53);
  for (int i = 0; i < 25; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 40), .costly = dice.chance(10)});
    const walk::RunTable runs(w.graph, w.hardware);
    if (!something_fits(w, runs)) continue;
    const auto start = played(w, oracle::Engine::greedy);
    if (!start) continue;
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    LocalSearch<WalkProblem> search(p, p.kernels_of(*start),
                                    {.seed = static_cast<std::uint64_t>(i), .stretch = 6});
    double before = std::numeric_limits<double>::infinity();
    for (std::uint64_t steps : {1, 30, 100, 300, 1000, 2000}) {
      Meter meter({.steps = steps});
      search.run(meter);
      EXPECT_LE(search.best().cost, before);
      before = search.best().cost;
      expect_priced(w, p, search.best().plan, before, fmt::format("graph {} at {}", i, steps));
      if (HasFatalFailure()) return;
    }
  }
}

// One trajectory, stopped at 20 places: costs never rise, and a search that goes on is where one that never
// stopped is.
TEST_P(LocalWalk, a_larger_budget_goes_on) {
  const Workload w = walk::generate_seeded({.num_ops = 40, .difficulty = walk::Difficulty::expert}, "7");
  const walk::RunTable runs(w.graph, w.hardware);
  const WalkProblem p(w.graph, w.hardware, runs, problem());
  const auto start = p.kernels_of(*played(w, oracle::Engine::naive));
  LocalSearch<WalkProblem> resumed(p, start, {.seed = 3});
  Meter meter(Budget{});
  double before = full_price(p, start);
  for (std::uint64_t steps = 100; steps <= 2000; steps += 100) {
    const auto outcome = search::local(p, start, {.budget = {.steps = steps}, .seed = 3});
    EXPECT_LE(outcome.cost, before) << steps;
    EXPECT_GE(outcome.steps, steps);
    before = outcome.cost;
    Meter slice({.steps = steps - std::min(steps, meter.steps())});
    resumed.run(slice);
    meter.charge(slice.steps());
    EXPECT_EQ(meter.steps(), outcome.steps);
    EXPECT_EQ(resumed.best().cost, outcome.cost) << steps;
    EXPECT_EQ(p.plan_of(resumed.best().plan), p.plan_of(outcome.plan)) << steps;
  }
  EXPECT_LT(before, 0.95 * full_price(p, start));
}

TEST_P(LocalWalk, small_graphs_are_solved) {
  Dice dice(54);
  int graphs = 0;
  int solved = 0;
  for (int i = 0; i < 60; ++i) {
    Workload w = random_workload(dice, {.nodes = dice.between(3, 8)});
    w.hardware.fast_mem_capacity += 20'000;
    const walk::RunTable runs(w.graph, w.hardware);
    const WalkProblem p(w.graph, w.hardware, runs, problem());
    for (const auto engine : {oracle::Engine::naive, oracle::Engine::greedy}) {
      const auto start = played(w, engine);
      if (!start) continue;
      const auto outcome = search::local(p, p.kernels_of(*start), {.budget = {.steps = 5000}, .seed = 1});
      const double optimum = search::exact(p).cost;
      EXPECT_GE(outcome.cost, optimum * (1 - 1e-9)) << i;
      ++graphs;
      solved += outcome.cost <= optimum * (1 + 1e-9);
    }
  }
  RecordProperty("graphs", graphs);
  RecordProperty("solved", solved);
  EXPECT_GE(solved * 100, graphs * 90) << solved << " of " << graphs;
}

}  // namespace
}  // namespace fuselage
