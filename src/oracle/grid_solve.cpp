#include "fuselage/oracle/grid_solve.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/grid/shapes.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/local.h"
#include "fuselage/search/portfolio.h"
#include "grid_guide_solve.h"
#include "grid_search.h"
#include "run_engine.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;
using grid::GridProblem;
using Outcome = search::Outcome<grid::State, GridKernel>;
using Incumbent = search::Incumbent<GridKernel>;

// What is small enough to declare every group of is mostly exhausted at once, which ends the search: the
// portfolio would go on, since local improvement may leave the declared space.
std::optional<Outcome> exhausted(const GridProblem& problem, const GridSolveOptions& options) {
  if (!problem.whole()) return std::nullopt;
  search::ExactOptions exact = {
      .budget = options.budget, .threads = options.threads, .monitor = options.monitor};
  exact.budget.steps = std::min<std::uint64_t>(exact.budget.steps, 1 << 20);
  Outcome outcome = search::exact(problem, exact);
  if (outcome.proof == search::Proof::none) return std::nullopt;
  return outcome;
}

Outcome improve(const GridProblem& problem, const GridSolveOptions& options, std::vector<GridKernel> start) {
  search::LocalOptions local = {.budget = options.budget, .seed = options.seed, .monitor = options.monitor};
  local.patience = options.patience;
  return search::local(problem, std::move(start), local);
}

Outcome find_plan(const GridProblem& problem, const GridSolveOptions& options, const Incumbent& start) {
  if (options.engine == Engine::local) return improve(problem, options, start.plan);
  if (options.engine != Engine::automatic) {
    Outcome outcome = options.guide ? run_guided(problem, options) : run_engine(problem, options);
    if (outcome.found) return outcome;
    // A budget may end where every state of a narrow search is a dead end.
    outcome.plan = start.plan;
    outcome.cost = start.cost;
    outcome.engine = "start";
    return outcome;
  }
  if (auto outcome = exhausted(problem, options)) return *std::move(outcome);
  if (options.guide) return guided_portfolio(problem, options, start);
  search::KeepAll guide;
  return search::Portfolio(problem, guide,
                           {.budget = options.budget,
                            .seed = options.seed,
                            .threads = options.threads,
                            .first_steps = 1 << 13,
                            .round_steps = 1 << 13,
                            .monitor = options.monitor},
                           problem.initial(), start)
      .run();
}

// The neighbours of local improvement leave the declared space, so that it may go on where that is exhausted.
void go_on(Outcome& outcome, const GridProblem& problem, const GridSolveOptions& options) {
  if (options.engine != Engine::automatic || outcome.proof != search::Proof::optimal_in_declared_space)
    return;
  GridSolveOptions rest = options;
  rest.budget.wall_seconds -= outcome.seconds;
  rest.budget.steps -= std::min(rest.budget.steps, outcome.steps);
  const Outcome better = improve(problem, rest, outcome.plan);
  outcome.steps += better.steps;
  outcome.seconds += better.seconds;
  outcome.stop = better.stop;
  if (better.cost >= outcome.cost) return;
  outcome.plan = better.plan;
  outcome.cost = better.cost;
  outcome.engine = "local";
  outcome.proof = better.proof;
}

void settle(GridSolution& solution, const grid::Instance& instance, const GridProblem& problem,
            const Outcome& outcome, const GridSolveOptions& options) {
  solution.plan = problem.plan_of(outcome.plan);
  solution.evaluation = grid::evaluate(instance, options.rules, solution.plan);
  solution.latency = solution.evaluation.latency;
  if (!solution.evaluation.valid())
    throw std::logic_error(
        fmt::format("the plan found is illegal: {}", solution.evaluation.violation->message));
  if (!agree(solution.latency, outcome.cost))
    throw std::logic_error(
        fmt::format("the search claims {}, the judge finds {}", outcome.cost, solution.latency));
  solution.stop = outcome.stop;
  solution.steps += outcome.steps;
  solution.states = outcome.states;
  solution.proof = outcome.proof;
  if (!outcome.engine.empty()) solution.engine = outcome.engine;
  solution.lower_bound = problem.bound(problem.initial());
  search::settle_proof(solution.latency, solution.lower_bound, solution.proof);
}

}  // namespace

Incumbent priced(const GridProblem& problem, std::vector<GridKernel> plan) {
  Incumbent incumbent{.cost = 0, .plan = std::move(plan)};
  grid::State state = problem.initial();
  for (const GridKernel& kernel : incumbent.plan) {
    incumbent.cost += problem.price(state, kernel);
    state = problem.apply(state, kernel);
  }
  return incumbent;
}

Outcome search_grid(const GridProblem& problem, const GridSolveOptions& options, const Incumbent& start) {
  Outcome outcome = find_plan(problem, options, start);
  go_on(outcome, problem, options);
  return outcome;
}

GridSolution solve_grid(const grid::Instance& instance, const GridSolveOptions& options) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(std::max(1, options.threads)));
  check_guide(options);
  grid::check_shapes(instance, options.rules);
  const Meter clock(options.budget);
  const Deadline& deadline = clock.deadline();
  GridSolution solution;
  solution.engine = name(options.engine);
  if (options.monitor) {
    // Every op alone needs no groups to choose from: a plan at once.
    const GridProblem alone(instance, options.rules, {.most_ops = 1, .whole_ops = 0, .tight_bound = false});
    options.monitor->found("start", priced(alone, alone.naive()).cost);
  }
  // Groups may grow for a third of the time.
  const Deadline set_up = deadline.share(1.0 / 3);
  const GridProblem problem(instance, options.rules, options.space, [&] { return set_up.passed(); });
  const Incumbent naive = priced(problem, problem.naive());
  const Incumbent greedy = priced(problem, problem.greedy(deadline));
  solution.naive_latency = naive.cost;
  solution.greedy_latency = greedy.cost;
  const Incumbent& start = greedy.cost < naive.cost ? greedy : naive;
  GridSolveOptions rest = options;
  rest.budget.wall_seconds = deadline.seconds_left();
  check_set_up_memory(options.budget, "the problem");
  Outcome outcome;
  if (options.engine == Engine::greedy || options.engine == Engine::naive) {
    const Incumbent& plan = options.engine == Engine::greedy ? greedy : naive;
    outcome.plan = plan.plan;
    outcome.cost = plan.cost;
  } else {
    if (options.monitor) {
      options.monitor->found("start", start.cost);
      options.monitor->bounded("start", problem.bound(problem.initial()));
    }
    outcome = search_grid(problem, rest, start);
  }
  settle(solution, instance, problem, outcome, options);
  solution.seconds = clock.seconds();
  return solution;
}

}  // namespace fuselage::oracle
