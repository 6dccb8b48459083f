// Time limits and Ctrl-C hold for all that a search does. What is counted is work, not seconds: how much of
// it is done after somebody has cancelled.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/mcts.h"
#include "fuselage/search/portfolio.h"
#include "fuselage/walk/problem.h"
#include "random_graphs.h"
#include "toy.h"
#include "wide_graphs.h"

namespace fuselage {
namespace {

// A problem that cancels its search after so much work, and counts what is done from there on.
template <search::Problem P>
class Cancelling {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;

  Cancelling(const P& problem, std::uint64_t at) : problem_(problem), at_(at) {}

  State initial() const { return problem_.initial(); }
  int horizon() const { return problem_.horizon(); }
  int progress(const State& s) const { return problem_.progress(s); }
  bool kernels(const State& s, std::vector<Kernel>& out) const {
    const bool complete = problem_.kernels(s, out);
    work(out.size() + 1);
    return complete;
  }
  double price(const State& s, const Kernel& k) const { return work(1), problem_.price(s, k); }
  State apply(const State& s, const Kernel& k) const { return work(1), problem_.apply(s, k); }
  double bound(const State&) const { return work(1), 0.0; }  // so that no search is done at once
  std::uint64_t key(const State& s) const { return problem_.key(s); }

  const std::atomic<bool>* cancel() const { return &cancelled_; }
  std::uint64_t done() const { return done_; }
  std::uint64_t done_after() const { return done_ - std::min<std::uint64_t>(done_, at_); }

 private:
  void work(std::uint64_t units) const {
    if ((done_ += units) >= at_) cancelled_ = true;
  }

  const P& problem_;
  std::uint64_t at_;
  mutable std::atomic<std::uint64_t> done_ = 0;
  mutable std::atomic<bool> cancelled_ = false;
};

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

template <class P>
using Search = std::function<double(const Cancelling<P>&, const Budget&, int threads)>;  // the plan's cost

template <class P>
std::vector<std::pair<std::string, Search<P>>> searches() {
  using C = Cancelling<P>;
  return {{"beam",
           [](const C& p, const Budget& budget, int threads) {
             return search::beam(p, {.budget = budget, .width = search::unlimited, .threads = threads}).cost;
           }},
          {"exact",
           [](const C& p, const Budget& budget, int threads) {
             return search::exact(p, {.budget = budget, .wide_layer = 16, .threads = threads}).cost;
           }},
          {"mcts", [](const C& p, const Budget& budget,
                      int threads) { return search::mcts(p, {.budget = budget, .threads = threads}).cost; }},
          {"auto", [](const C& p, const Budget& budget, int threads) {
             search::KeepAll guide;
             return search::Portfolio(
                        p, guide,
                        {.budget = budget, .threads = threads, .first_steps = 1000, .round_steps = 1000},
                        p.initial())
                 .run()
                 .cost;
           }}};
}

// Cancels each search at several moments after its first plan. `most`: work that may follow, a thread.
template <class P>
void check_all(const P& problem, std::uint64_t steps, std::uint64_t most) {
  for (const auto& [name, run] : searches<P>())
    for (const int threads : {1, 2}) {
      const Cancelling<P> whole(problem, never);
      const double cost = run(whole, {.steps = steps}, threads);
      ASSERT_LT(cost, search::infinite_cost) << name;
      for (const double share : {0.6, 0.8, 0.95}) {
        const auto at = static_cast<std::uint64_t>(share * static_cast<double>(whole.done()));
        const Cancelling<P> cancelled(problem, at);
        const double early = run(cancelled, {.steps = steps, .cancel = cancelled.cancel()}, threads);
        EXPECT_LE(cancelled.done_after(), most * static_cast<std::uint64_t>(threads))
            << name << ", " << threads << " threads, cancelled after " << at << " of " << whole.done();
        EXPECT_GE(early, cost) << name;
      }
    }
}

// One state has 8,000 kernels: a search that looks at the budget between two states would go on for long.
TEST(Deadline, EnginesStopWithinAState) {
  constexpr int rows = 4'000;
  const search::ToyProblem problem(12, rows, 3);
  check_all(problem, 400'000, 4 * 2 * rows + 4 * 4096);
}

TEST(Deadline, EnginesStopWithinAStateOfAWideGraph) {
  const Workload fan = fan_in(24, 1.2);
  const walk::RunTable runs(fan.graph, fan.hardware);
  const walk::WalkProblem problem(
      fan.graph, fan.hardware, runs,
      {.rules = walk::Rules::physical, .order = walk::Order::free, .tight_bounds = false});
  check_all(problem, 20'000, 6 * (1 << 15));
}

Budget no_time() {
  return {.wall_seconds = 0};
}

// Bounds that were given up are weaker, and still bounds.
TEST(Deadline, SetUpThatIsCutShortProvesNothingWrong) {
  Dice dice(5);
  for (int i = 0; i < 60; ++i) {
    const Workload workload = wide_workload(dice, dice.between(3, 7));
    const walk::RunTable runs(workload.graph, workload.hardware);
    for (const walk::Order order : {walk::Order::fixed, walk::Order::free}) {
      walk::ProblemOptions options = {.rules = walk::Rules::physical, .order = order};
      const walk::WalkProblem whole(workload.graph, workload.hardware, runs, options);
      options.set_up = Deadline(no_time());
      const walk::WalkProblem hasty(workload.graph, workload.hardware, runs, options);
      const auto expected = search::exact(whole);
      const auto found = search::exact(hasty);
      ASSERT_EQ(found.found, expected.found);
      if (!found.found) continue;
      EXPECT_DOUBLE_EQ(found.cost, expected.cost);
      EXPECT_LE(hasty.bound(hasty.initial()), expected.cost * (1 + 1e-12));
    }
  }
}

// Whoever has no time at all gets a plan: of greedy, or of the fixed order.
TEST(Deadline, ThereIsAPlanWithoutTime) {
  const Workload fan = fan_in(120, 0.9);
  const std::atomic<bool> cancelled = true;
  for (const oracle::Engine engine : {oracle::Engine::automatic, oracle::Engine::exact, oracle::Engine::beam,
                                      oracle::Engine::mcts, oracle::Engine::local})
    for (const walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest, walk::Rules::physical})
      for (const walk::Order order : {walk::Order::fixed, walk::Order::free}) {
        if (order == walk::Order::free && rules != walk::Rules::physical) continue;
        for (const bool by_key : {false, true}) {
          oracle::SolveOptions options = {.rules = rules, .order = order, .engine = engine};
          if (by_key)
            options.budget.cancel = &cancelled;
          else
            options.budget = no_time();
          const oracle::Solution solution = oracle::solve(fan, options);
          ASSERT_TRUE(solution.found) << oracle::name(engine) << " " << walk::name(rules);
          EXPECT_FALSE(
              oracle::simulate(fan.graph, fan.hardware, solution.plan, {.rules = rules, .order = order})
                  .fault);
        }
      }
}

TEST(Deadline, PassesForTimeAndForWhoCancels) {
  std::atomic<bool> cancel = false;
  const Deadline deadline({.cancel = &cancel});
  EXPECT_FALSE(deadline.passed());
  EXPECT_FALSE(deadline.share(0.001).passed());
  cancel = true;
  EXPECT_TRUE(deadline.passed());
  EXPECT_TRUE(deadline.share(0.5).passed());
  EXPECT_TRUE(Deadline(no_time()).passed());
  EXPECT_FALSE(Deadline().passed());
  EXPECT_FALSE(Deadline({.wall_seconds = 1e300}).passed());
}

// A budget of steps doesn't hurry anybody.
TEST(Deadline, StepsEndASearchBetweenStates) {
  Meter meter({.steps = 10});
  meter.charge(10);
  EXPECT_TRUE(meter.spent());
  EXPECT_FALSE(meter.hurried());
  EXPECT_EQ(meter.reason(), StopReason::steps);
}

TEST(Deadline, TheClockIsReadAfterWork) {
  Meter meter(no_time());
  meter.charge(1000);
  EXPECT_TRUE(meter.spent());
  EXPECT_EQ(meter.reason(), StopReason::time);
}

TEST(Deadline, MemoryIsThatOfTheProcess) {
  ASSERT_GT(resident_bytes(), std::uint64_t{1} << 20);
  Meter meter({.process_bytes = 1 << 20});
  meter.charge(1000);
  EXPECT_TRUE(meter.spent());
  EXPECT_EQ(meter.reason(), StopReason::memory);
}

}  // namespace
}  // namespace fuselage
