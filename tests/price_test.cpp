// Objectives with a price, limits on traffic and restricted spaces: the engine's optimum against brute force,
// and its claims against what the independent check charges the plan.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "brute_physical.h"
#include "brute_plans.h"
#include "error_of.h"
#include "fuselage/oracle/objective.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/problem.h"
#include "laws.h"
#include "random_graphs.h"

namespace fuselage::walk {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Variant {
  Rules rules;
  Order order = Order::fixed;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << name(variant.rules) << ", " << name(variant.order);
}

void expect_close(double got, double want, const std::string& what) {
  if (got == want) return;
  EXPECT_LE(std::abs(got - want), 1e-9 * std::max(1.0, std::abs(want)))
      << what << ": got " << got << ", expected " << want;
}

Price random_price(Dice& dice) {
  return {.traffic = dice.pick({0.0, 0.01, 0.3, 20.0}),
          .launch = dice.pick({0.0, 700.0, 2e6}),
          .residency = dice.pick({0.0, 0.0, 1e-3, 0.1, 5.0})};
}

Space random_space(Dice& dice) {
  Space space{.price = random_price(dice)};
  if (dice.chance(15)) space.may_fuse = false;
  if (dice.chance(15)) space.may_retain = false;
  if (dice.chance(30)) space.only_tile = dice.pick({32, 64, 128, 256});
  return space;
}

ProblemOptions options_of(const Variant& variant, const Space& space) {
  return {.rules = variant.rules,
          .order = variant.order,
          .price = space.price,
          .most_traffic = {},
          .may_fuse = space.may_fuse,
          .may_retain = space.may_retain,
          .only_tile = space.only_tile};
}

std::string described(const Workload& w, const Space& space, const std::string& name) {
  return fmt::format("{} ({} nodes; traffic {}, launch {}, residency {}; fuse {}, retain {}, tile {})", name,
                     w.graph.size(), space.price.traffic, space.price.launch, space.price.residency,
                     space.may_fuse, space.may_retain, space.only_tile.value_or(0));
}

// Does the plan keep to the space, and cost what the search says?
void check_plan(const Workload& w, const ProblemOptions& options, const Plan& plan, double claimed,
                const std::string& name) {
  const auto checked =
      oracle::simulate(w.graph, w.hardware, plan, {.rules = options.rules, .order = options.order});
  ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
  const auto charges = oracle::charges(w.graph, checked);
  expect_close(oracle::objective(charges, options.price), claimed, name + " simulated");
  EXPECT_LE(charges.bytes_moved, options.most_traffic.value_or(charges.bytes_moved)) << name;
  for (const PlanKernel& kernel : plan) {
    EXPECT_TRUE(options.may_fuse || kernel.nodes.size() == 1) << name;
    EXPECT_TRUE(options.may_retain || kernel.retain.empty()) << name;
    EXPECT_EQ(kernel.tile, options.only_tile.value_or(kernel.tile)) << name;
  }
}

class Priced {
 public:
  Priced(const Variant& variant, std::uint64_t seed) : variant_(variant), dice_(seed) {}

  void compare(int graphs, int nodes, bool costly = false) {
    for (int i = 0; i < graphs && !::testing::Test::HasFailure(); ++i) {
      const Workload w = random_workload(dice_, {.nodes = nodes, .costly = costly});
      const Space space = random_space(dice_);
      compare_one(w, space, fmt::format("graph {}", i));
    }
  }
  int proven = 0;
  int unproven = 0;

 private:
  Front brute(const Workload& w, const Space& space) const {
    if (variant_.rules == Rules::physical) return BrutePhysical(w, variant_.order, space).front();
    return BrutePlans(w, variant_.rules, space).front();
  }

  void compare_one(const Workload& w, const Space& space, const std::string& graph) {
    const std::string name = described(w, space, graph);
    const RunTable runs(w.graph, w.hardware);
    const Front front = brute(w, space);
    ProblemOptions options = options_of(variant_, space);
    solve(w, runs, options, front.least(), name);
    if (front.points().empty()) return;
    for (int i = 0; i < 3; ++i) {
      const auto& points = front.points();
      const auto& point = points[static_cast<std::size_t>(dice_.below(static_cast<int>(points.size())))];
      options.most_traffic = point.bytes - dice_.below(3) / 2;
      solve(w, runs, options, front.least(*options.most_traffic),
            fmt::format("{} limited to {}", name, *options.most_traffic));
    }
    options.most_traffic = points_end(front) - 1;
    solve(w, runs, options, infinity, name + " limited too far");
  }
  static std::int64_t points_end(const Front& front) { return front.points().back().bytes; }

  void solve(const Workload& w, const RunTable& runs, const ProblemOptions& options, double want,
             const std::string& name) {
    const WalkProblem problem(w.graph, w.hardware, runs, options);
    const auto outcome = search::exact(problem);
    if (want == infinity) {
      EXPECT_FALSE(outcome.found) << name;
      EXPECT_TRUE(outcome.infeasible) << name;
      return;
    }
    ASSERT_TRUE(outcome.found) << name;
    EXPECT_LE(problem.bound(problem.initial()), want * (1 + 1e-9) + 1e-6) << name;
    (outcome.proof == search::Proof::optimal ? proven : unproven) += 1;
    if (outcome.proof == search::Proof::optimal) expect_close(outcome.cost, want, name);
    EXPECT_GE(outcome.cost, want * (1 - 1e-9) - 1e-6) << name;
    check_plan(w, options, problem.plan_of(outcome.plan), outcome.cost, name);
  }

  Variant variant_;
  Dice dice_;
};

class BruteForcePriced : public ::testing::TestWithParam<Variant> {};

TEST_P(BruteForcePriced, optima_are_equal) {
  Priced priced(GetParam(), 61);
  for (int nodes = 1; nodes <= 4; ++nodes) priced.compare(150, nodes);
  priced.compare(40, 5);
  if (GetParam().rules != Rules::physical) priced.compare(60, 3, true);
  EXPECT_GT(priced.proven, 1000);
  EXPECT_LE(priced.unproven, 1);  // seed: see WalkProblem::owed_after
}

// Found at random: memory is tight in just the way that matters.
TEST_P(BruteForcePriced, optima_are_equal_where_memory_is_tight) {
  Priced priced(GetParam(), 2004);
  for (int nodes = 2; nodes <= 4; ++nodes) priced.compare(150, nodes);
  priced.compare(30, 5);
}

// A random walk through declared kernels, whatever they cost.
struct Stroll {
  std::vector<Kernel> plan;
  double cost = 0;
  WalkProblem::Charges sum = {};
  State end;
};
std::optional<Stroll> stroll(const WalkProblem& problem, Dice& dice) {
  Stroll walk{.plan = {}, .end = problem.initial()};
  std::vector<Kernel> kernels;
  while (problem.progress(walk.end) < problem.horizon()) {
    problem.kernels(walk.end, kernels);
    if (kernels.empty()) return std::nullopt;
    const Kernel& k = kernels[static_cast<std::size_t>(dice.below(static_cast<int>(kernels.size())))];
    walk.cost += problem.price(walk.end, k);
    if (walk.cost == infinity) return std::nullopt;
    const auto part = problem.charges(walk.end, k);
    walk.sum.latency += part.latency;
    walk.sum.bytes += part.bytes;
    walk.sum.launches += part.launches;
    walk.sum.byte_kernels += part.byte_kernels;
    walk.end = problem.apply(walk.end, k);
    walk.plan.push_back(k);
  }
  return walk;
}

// Any kernels in a row, not only optimal ones, cost what the check charges their plan. Under `seed` it may be
// less: a kernel that stores what the next one buys from it stores nothing in the plan. (The same kernel with
// that tensor retained is declared too, at the right price.)
TEST_P(BruteForcePriced, every_plan_is_charged_what_the_check_charges) {
  Dice dice(7);
  int complete = 0;
  int exact = 0;
  for (int i = 0; i < 800 && !HasFailure(); ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(2, 9)});
    const RunTable runs(w.graph, w.hardware);
    ProblemOptions options = options_of(GetParam(), random_space(dice));
    if (dice.chance(30)) options.most_traffic = std::int64_t{1} << 40;
    const WalkProblem problem(w.graph, w.hardware, runs, options);
    const auto walk = stroll(problem, dice);
    if (!walk) continue;
    ++complete;
    const std::string name = fmt::format("graph {}", i);
    const auto checked = oracle::simulate(w.graph, w.hardware, problem.plan_of(walk->plan),
                                          {.rules = options.rules, .order = options.order});
    ASSERT_TRUE(checked.legal()) << name << ": " << checked.fault->message;
    const auto charges = oracle::charges(w.graph, checked);
    const double objective = oracle::objective(charges, options.price);
    EXPECT_EQ(walk->sum.launches, charges.launches) << name;
    EXPECT_EQ(walk->sum.byte_kernels, charges.byte_kernels) << name;
    EXPECT_EQ(walk->end.traffic, options.most_traffic ? walk->sum.bytes : 0) << name;
    if (GetParam().rules == Rules::seed && walk->sum.bytes > charges.bytes_moved) {
      EXPECT_LE(objective, walk->cost * (1 + 1e-9)) << name;
      continue;
    }
    ++exact;
    EXPECT_EQ(walk->sum.bytes, charges.bytes_moved) << name;
    expect_close(walk->sum.latency, charges.latency, name + " latency");
    expect_close(walk->cost, objective, name);
  }
  EXPECT_GT(complete, 400);
  EXPECT_GT(exact, complete / 2);
}

TEST_P(BruteForcePriced, laws_hold) {
  Dice dice(43);
  for (int i = 0; i < 25; ++i) {
    const Workload w = random_workload(dice, {.nodes = dice.between(1, 6)});
    const RunTable runs(w.graph, w.hardware);
    const WalkProblem problem(w.graph, w.hardware, runs, options_of(GetParam(), random_space(dice)));
    search::check_laws(problem, dice, fmt::format("graph {}", i));
  }
}

INSTANTIATE_TEST_SUITE_P(rules, BruteForcePriced,
                         ::testing::Values(Variant{Rules::seed}, Variant{Rules::seed_honest},
                                           Variant{Rules::physical}, Variant{Rules::physical, Order::free}));

// A group that falls back rids memory of what dies inside it, which singles hold meanwhile. That matters for
// one graph in half a million; this batch ends with it.
TEST(Price, residency_can_make_a_fallback_pay) {
  Priced priced({Rules::seed_honest}, 3449);
  priced.compare(150, 2);
  priced.compare(150, 3);
  priced.compare(6, 4);
}

TEST(Price, charges_are_weighed) {
  const oracle::Charges charges{.latency = 100, .bytes_moved = 10, .launches = 3, .byte_kernels = 50};
  EXPECT_EQ(oracle::objective(charges, {}), 100);
  EXPECT_EQ(oracle::objective(charges, {.traffic = 2, .launch = 7, .residency = 0.5}), 100 + 20 + 21 + 25);
}

TEST(Price, a_member_that_runs_out_of_memory_moves_what_it_would_have_moved) {
  std::vector<Node> nodes(2);
  nodes[0] = {.op = Op::relu, .height = 32, .width = 32, .inputs = {}, .flops = 10, .output_bytes = 4096};
  nodes[1] = {.op = Op::relu, .height = 64, .width = 64, .inputs = {0}, .flops = 10, .output_bytes = 16384};
  const Graph graph(nodes);
  const Hardware hardware{
      .fast_mem_capacity = 8000, .slow_mem_bandwidth = 1, .kernel_launch_cost = 0, .max_fusion_depth = 1};
  const Plan plan = {{.nodes = {0}, .tile = 128, .retain = {}}, {.nodes = {1}, .tile = 128, .retain = {}}};
  const auto checked = oracle::simulate(graph, hardware, plan, {.rules = Rules::seed_honest});
  ASSERT_TRUE(checked.legal());
  EXPECT_EQ(checked.kernels[1].latency, oom_penalty);
  EXPECT_EQ(checked.kernels[1].bytes_moved, 4096 + 16384);
  EXPECT_EQ(oracle::charges(graph, checked).bytes_moved, 4096 + 4096 + 16384);
}

TEST(Price, options_that_make_no_sense_are_refused) {
  Dice dice(2);
  const Workload w = random_workload(dice, {});
  const RunTable runs(w.graph, w.hardware);
  const auto error_with = [&](ProblemOptions options) {
    return error_of([&] { WalkProblem(w.graph, w.hardware, runs, options); });
  };
  ProblemOptions options;
  options.only_tile = 48;
  EXPECT_EQ(error_with(options), "only_tile: 48 is no tile; expected one of 32, 64, 128, 256");
  options = {.price = {.traffic = -1}};
  EXPECT_EQ(error_with(options),
            "price.traffic: -1 can't be a price; expected a finite number of cycles >= 0");
  options = {.price = {.residency = std::nan("")}};
  EXPECT_EQ(error_with(options),
            "price.residency: nan can't be a price; expected a finite number of cycles >= 0");
}

// The only kernel of the node at the one legal tile is too large, and so says the explanation.
TEST(Price, an_infeasible_space_is_explained_with_its_own_tile) {
  std::vector<Node> nodes(1);
  nodes[0] = derived_node(Op::relu, 256, 256, {});
  const Graph graph(nodes);
  const Hardware hardware{
      .fast_mem_capacity = 5000, .slow_mem_bandwidth = 1, .kernel_launch_cost = 0, .max_fusion_depth = 1};
  const RunTable runs(graph, hardware);
  ProblemOptions options{.rules = Rules::physical};
  EXPECT_TRUE(search::exact(WalkProblem(graph, hardware, runs, options)).found);
  options.only_tile = 64;
  const WalkProblem problem(graph, hardware, runs, options);
  const auto outcome = search::exact(problem);
  ASSERT_TRUE(outcome.infeasible);
  EXPECT_EQ(problem.explain_infeasible(outcome.deepest).smallest_working_set, 4 * 64 * 64);
}

}  // namespace
}  // namespace fuselage::walk
