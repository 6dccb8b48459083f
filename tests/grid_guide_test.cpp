// Decisions of the grid family to learn from, and searches that a ranker of them guides.
#include "fuselage/oracle/grid_guide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "error_of.h"
#include "fuselage/grid/generator.h"
#include "fuselage/oracle/grid_decisions.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/search/exact.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;
using grid::GridProblem;
using grid::State;

grid::Instance small_problem(std::uint64_t seed, int ops = 9) {
  return grid::generate({.network = grid::Network::mixed, .ops = ops, .seed = seed});
}

GridTrainingOptions tiny_training() {
  return {.seed = 3, .problems = 16, .max_ops = 12, .ranker = {.rounds = 20, .depth = 4, .eta = 0.3}};
}

const GridTraining& trained() {
  static const GridTraining training = train_grid_decisions(tiny_training());
  return training;
}

std::shared_ptr<const learn::FlatTrees> tiny_ranker() {
  static const auto trees = std::make_shared<const learn::FlatTrees>(trained().model, "tiny ranker");
  return trees;
}

double value_of(const GridProblem& problem, const State& state) {
  if (problem.progress(state) >= problem.horizon()) return 0;
  const auto outcome = search::exact(problem, {}, state);
  return outcome.found ? outcome.cost : search::infinite_cost;
}

// The first state that is visited is where all begins, and beams of small problems end by themselves.
TEST(GridDecisions, regret_is_exact_where_completions_are) {
  for (const grid::RuleSet set : {grid::RuleSet::mlsys, grid::RuleSet::fusionops_honest}) {
    const grid::Instance instance = small_problem(4, 7);
    const GridProblem problem(instance, {.set = set});
    const grid::Features features(instance, {.set = set});
    Decisions decisions;
    add_grid_decisions(instance, {.set = set},
                       {.most_candidates = 1000, .completion_steps = 200'000, .most_steps = 20'000'000},
                       decisions);
    ASSERT_GT(decisions.groups(), 1U);
    std::vector<GridKernel> kernels;
    problem.kernels(problem.initial(), kernels);
    ASSERT_EQ(decisions.sizes[0], kernels.size());
    std::vector<double> costs;
    for (const GridKernel& kernel : kernels)
      costs.push_back(problem.price(problem.initial(), kernel) +
                      value_of(problem, problem.apply(problem.initial(), kernel)));
    const double best = *std::min_element(costs.begin(), costs.end());
    for (std::size_t i = 0; i < costs.size(); ++i)
      EXPECT_NEAR(decisions.regret[i], std::min(hopeless, (costs[i] - best) / features.mean_time()), 1e-6);
  }
}

TEST(GridDecisions, every_state_has_a_best_candidate) {
  Decisions decisions;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    add_grid_decisions(small_problem(seed, 20), {}, {.most_candidates = 6, .seed = seed}, decisions);
  EXPECT_EQ(decisions.width, grid::DecisionRows::width());
  EXPECT_EQ(decisions.rows.size(), decisions.width * decisions.regret.size());
  std::size_t begin = 0;
  for (std::uint32_t size : decisions.sizes) {
    EXPECT_GE(size, 2U);
    EXPECT_LE(size, 6U);
    const auto group = std::span(decisions.regret).subspan(begin, size);
    EXPECT_EQ(*std::min_element(group.begin(), group.end()), 0);
    begin += size;
  }
  EXPECT_EQ(begin, decisions.regret.size());
  EXPECT_GT(*std::max_element(decisions.regret.begin(), decisions.regret.end()), 0);
}

TEST(GridDecisions, hash_forgets_numbers_and_machine_and_nothing_else) {
  const grid::Instance one = small_problem(1);
  std::vector<grid::Tensor> tensors(one.tensors().begin(), one.tensors().end());
  std::vector<grid::Op> ops(one.ops().begin(), one.ops().end());
  const auto last = static_cast<grid::TensorId>(tensors.size()) - 1;
  std::reverse(tensors.begin(), tensors.end());
  std::reverse(ops.begin(), ops.end());
  for (grid::Op& op : ops)
    for (auto* list : {&op.inputs, &op.outputs})
      for (grid::TensorId& t : *list) t = last - t;
  grid::Machine machine = one.machine();
  machine.capacity *= 2;
  EXPECT_EQ(grid_hash(one), grid_hash({tensors, ops, machine}));
  ops[0].base_cost += 1;
  EXPECT_NE(grid_hash(one), grid_hash({tensors, ops, machine}));
  EXPECT_NE(grid_hash(one), grid_hash(small_problem(2)));
}

TEST(GridDecisions, training_is_the_same_bytes_and_learns_something) {
  EXPECT_EQ(train_grid_decisions(tiny_training()).model, trained().model);
  GridTrainingOptions other = tiny_training();
  other.seed = 4;
  EXPECT_NE(train_grid_decisions(other).model, trained().model);
  EXPECT_GT(trained().states, 100U);
  EXPECT_LT(trained().train.first_regret, trained().train.random_regret / 2);
  EXPECT_NE(error_of([] {
              (void)train_grid_decisions({.problems = 2});
            }).find("problems: 2 are too few; expected 10 or more"),
            std::string::npos);
}

// Knows the values of all states.
struct AllKnowing {
  using Latent = search::NoLatent;
  static constexpr bool drops = false;
  bool perverse = false;

  Latent root(const GridProblem&, const State&) const { return {}; }
  void consider(const GridProblem& problem,
                std::span<search::Expansion<GridProblem, search::NoLatent>> batch) const {
    for (auto& e : batch) {
      std::vector<double> costs;
      for (const GridKernel& kernel : e.kernels)
        costs.push_back(problem.price(*e.state, kernel) + value_of(problem, problem.apply(*e.state, kernel)));
      e.keep.resize(costs.size());
      std::iota(e.keep.begin(), e.keep.end(), 0U);
      std::stable_sort(e.keep.begin(), e.keep.end(), [&](std::uint32_t a, std::uint32_t b) {
        return perverse ? costs[a] > costs[b] : costs[a] < costs[b];
      });
      for (std::size_t i = 0; i < e.keep.size(); ++i) e.prior.push_back(std::pow(0.1, i));
    }
  }
};
static_assert(search::Guide<AllKnowing, GridProblem>);

TEST(DoubtSearch, who_knows_everything_prices_no_more_than_the_plan) {
  const grid::Instance instance = small_problem(11);
  const GridProblem problem(instance, {});
  AllKnowing guide;
  DoubtSearch<GridProblem, AllKnowing> search(problem, guide, {});
  Meter meter({});
  while (!search.best().found()) {
    meter.pause_after(1);
    search.run(meter);
  }
  EXPECT_NEAR(search.best().cost, search::exact(problem).cost, 1e-9 * search.best().cost);
  EXPECT_EQ(meter.steps(), search.best().plan.size());
}

TEST(DoubtSearch, who_is_always_wrong_finds_the_best_plan_in_the_end) {
  for (const grid::RuleSet set : {grid::RuleSet::mlsys, grid::RuleSet::fusionops_honest}) {
    const grid::Instance instance = small_problem(2, 6);
    const GridProblem problem(instance, {.set = set});
    AllKnowing guide = {.perverse = true};
    DoubtSearch<GridProblem, AllKnowing> search(problem, guide, {.near = 0});
    Meter meter({});
    EXPECT_TRUE(search.run(meter));
    EXPECT_TRUE(search.finished());
    const double best = search::exact(problem).cost;
    EXPECT_NEAR(search.best().cost, best, 1e-9 * best);
    double cost = 0;
    State state = problem.initial();
    for (const GridKernel& kernel : search.best().plan) {
      cost += problem.price(state, kernel);
      state = problem.apply(state, kernel);
    }
    EXPECT_EQ(state.progress, problem.horizon());
    EXPECT_NEAR(cost, search.best().cost, 1e-9 * cost);
  }
}

TEST(GridGuide, a_larger_budget_goes_on_where_a_smaller_one_stopped) {
  const grid::Instance instance = small_problem(7, 24);
  const GridProblem problem(instance, {});
  const grid::Features features(instance, {});
  const auto run = [&](std::uint64_t steps, std::uint64_t pause) {
    GuidedGridSearch<> search(problem, features, tiny_ranker());
    Meter meter({.steps = steps});
    while (meter.reason() == StopReason::exhausted) {
      meter.pause_after(pause);
      if (search.run(meter)) break;
    }
    return search.best().cost;
  };
  double before = search::infinite_cost;
  for (std::uint64_t steps : {20, 60, 200, 1000, 5000}) {
    const double cost = run(steps, 1 << 20);
    EXPECT_LE(cost, before);
    before = cost;
  }
  EXPECT_EQ(run(5000, 1 << 20), run(5000, 1));
  EXPECT_LT(before, search::infinite_cost);
}

TEST(GridGuide, engines_take_it_and_find_plans_that_the_judge_accepts) {
  for (const grid::RuleSet set : {grid::RuleSet::mlsys, grid::RuleSet::fusionops_honest})
    for (const Engine engine : {Engine::automatic, Engine::beam, Engine::mcts}) {
      GridSolveOptions options = {.rules = {.set = set}, .engine = engine, .budget = {.steps = 2000}};
      const grid::Instance instance = small_problem(5, 22);
      options.guide = tiny_ranker();
      const GridSolution solution = solve_grid(instance, options);
      EXPECT_TRUE(solution.evaluation.valid());
      EXPECT_LE(solution.latency, solution.naive_latency * (1 + 1e-12));
      EXPECT_LE(solution.lower_bound, solution.latency);
      EXPECT_EQ(solve_grid(instance, options).plan, solution.plan);
    }
}

TEST(GridGuide, refuses_what_it_was_not_made_for) {
  const auto error = [](const GridSolveOptions& options) {
    return error_of([&] { (void)solve_grid(small_problem(1), options); });
  };
  EXPECT_EQ(error({.engine = Engine::local, .guide = tiny_ranker()}),
            "guide: the engine local takes none; expected auto, beam or mcts");
  EXPECT_EQ(error({.rules = {.set = grid::RuleSet::fusionops}, .guide = tiny_ranker()}),
            "guide: trained under the rules mlsys and fusionops-honest; expected no guide under fusionops");
  const std::vector<float> rows = {0, 1, 0, 1};
  const std::vector<float> labels = {0, 1, 0, 1};
  const std::vector<std::uint32_t> groups = {4};
  const Eigen::Map<const learn::Matrix<float>> data(rows.data(), 1, 4);
  const auto narrow = std::make_shared<const learn::FlatTrees>(
      learn::train_ranker({.rows = data, .labels = labels, .groups = groups}, {.rounds = 1}), "narrow");
  EXPECT_EQ(error({.guide = narrow}),
            fmt::format("guide: features: 1; expected the {} of the schema grid.decision",
                        grid::DecisionRows::width()));
}

}  // namespace
}  // namespace fuselage::oracle
