#include "fuselage/oracle/solve.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/local.h"
#include "fuselage/search/mcts.h"
#include "fuselage/search/portfolio.h"
#include "fuselage/walk/baseline.h"

namespace fuselage::oracle {
namespace {

using walk::Rules;

// A machine on which no kernel runs at all is a mistake in the input, whatever the rules make of it. (Under
// free order more sets of nodes are kernels than the table has runs; there the engine finds out.)
void check_something_fits(const Workload& workload, const walk::RunTable& runs) {
  const walk::Run* easiest = nullptr;
  for (int at = 0; at < workload.graph.size(); ++at)
    for (const walk::Run& run : runs.from(at))
      if (!easiest || run.slices[0] < easiest->slices[0]) easiest = &run;
  const std::int64_t capacity = workload.hardware.fast_mem_capacity;
  const std::int64_t least = easiest->slices[0];
  if (least > capacity)
    fail(
        "{}: hardware.fast_mem_capacity: {} B holds no kernel of this graph; the smallest, {} from node {}, "
        "needs {} B at tile 32 ({} B more)",
        workload.name, capacity, easiest->count == 1 ? "one node" : fmt::format("{} nodes", easiest->count),
        workload.graph.order()[static_cast<std::size_t>(easiest->first)], least, least - capacity);
}

void set_baselines(Solution& solution, const Workload& workload, const walk::RunTable& runs, Rules rules) {
  if (rules != Rules::physical) {
    solution.greedy_latency = walk::greedy(workload.graph, workload.hardware).latency;
    solution.naive_latency = walk::naive_latency(workload.graph, workload.hardware);
    return;
  }
  if (const auto greedy = walk::greedy_physical(workload.graph, workload.hardware, runs))
    solution.greedy_latency = greedy->latency;
  if (const auto naive = walk::naive_physical(workload.graph, workload.hardware, runs))
    solution.naive_latency = naive->latency;
}

walk::Plan singles(const Graph& graph) {
  walk::Plan plan;
  for (NodeId v : graph.order()) plan.push_back({.nodes = {v}, .tile = walk::default_tile, .retain = {}});
  return plan;
}

std::optional<walk::Plan> baseline_plan(const Workload& workload, const walk::RunTable& runs,
                                        const SolveOptions& options) {
  const bool greedy = options.engine == Engine::greedy;
  if (options.rules == Rules::physical) {
    auto result = greedy ? walk::greedy_physical(workload.graph, workload.hardware, runs)
                         : walk::naive_physical(workload.graph, workload.hardware, runs);
    return result ? std::optional(std::move(result->plan)) : std::nullopt;
  }
  const walk::EpisodeContext context(workload);
  const walk::Plan wanted =
      greedy ? walk::greedy_groups(workload.graph, workload.hardware) : singles(workload.graph);
  return play(context, options.rules, walk::actions_of(wanted));
}

// The price of the independent check is the one that is reported.
void reprice(Solution& solution, const Workload& workload, const SolveOptions& options,
             std::optional<double> claimed) {
  const Simulation checked = simulate(workload.graph, workload.hardware, solution.plan,
                                      {.rules = options.rules, .order = options.order});
  if (checked.fault)
    throw std::logic_error(
        fmt::format("{}: the plan found is illegal: {}", workload.name, checked.fault->message));
  solution.latency = checked.latency;
  solution.charges = charges(workload.graph, checked);
  solution.cost = objective(solution.charges, options.price);
  if (claimed && std::abs(*claimed - solution.cost) > 1e-9 * solution.cost)
    throw std::logic_error(fmt::format("{}: the search claims {} cycles, the check finds {}", workload.name,
                                       *claimed, solution.cost));
}

using Outcome = search::Outcome<walk::State, walk::Kernel>;
using Incumbent = search::Incumbent<walk::Kernel>;

walk::ProblemOptions space_of(const SolveOptions& options) {
  return {.rules = options.rules,
          .order = options.order,
          .price = options.price,
          .most_traffic = std::nullopt,
          .may_fuse = options.may_fuse,
          .may_retain = options.may_retain,
          .only_tile = options.only_tile};
}

bool is_restricted(const SolveOptions& options) {
  return !options.may_fuse || !options.may_retain || options.only_tile;
}

Incumbent incumbent_of(const walk::WalkProblem& problem, const walk::Plan& plan) {
  Incumbent incumbent = {.cost = 0, .plan = problem.kernels_of(plan)};
  walk::State state = problem.initial();
  for (const walk::Kernel& kernel : incumbent.plan) {
    incumbent.cost += problem.price(state, kernel);
    state = problem.apply(state, kernel);
  }
  return incumbent;
}

// The baseline that a search starts from: greedy or naive, whichever is cheaper; none if both get stuck. None
// either in a restricted space, which it may lie outside of.
Incumbent start_plan(const walk::WalkProblem& problem, const Workload& workload, const walk::RunTable& runs,
                     SolveOptions options) {
  Incumbent start;
  if (is_restricted(options)) return start;
  for (const Engine engine : {Engine::greedy, Engine::naive}) {
    options.engine = engine;
    const auto plan = baseline_plan(workload, runs, options);
    if (!plan) continue;
    Incumbent incumbent = incumbent_of(problem, *plan);
    if (incumbent.cost < start.cost) start = std::move(incumbent);
  }
  return start;
}

// Local improvement alone has no end of its own: it gives up after so many restarts without a better plan.
constexpr std::uint64_t patience = 10'000;

Outcome improve(const walk::WalkProblem& problem, const SolveOptions& options, Incumbent start) {
  if (!start.found()) {  // no baseline: the first sweep of the beam is one
    auto first = search::beam(problem, {.budget = options.budget, .width = 1});
    if (!first.found) return first;
    start.plan = std::move(first.plan);
  }
  search::LocalOptions local = {.budget = options.budget, .seed = options.seed, .monitor = options.monitor};
  local.patience = patience;
  return search::local(problem, std::move(start.plan), local);
}

Outcome run_engine(const walk::WalkProblem& problem, const SolveOptions& options, const Incumbent& start) {
  switch (options.engine) {
    case Engine::beam:
      return search::beam(problem, {.budget = options.budget,
                                    .width = options.width,
                                    .threads = options.threads,
                                    .monitor = options.monitor});
    case Engine::mcts:
      return search::mcts(problem, {.budget = options.budget,
                                    .seed = options.seed,
                                    .threads = options.threads,
                                    .monitor = options.monitor});
    case Engine::local:
      return improve(problem, options, start);
    case Engine::automatic: {
      search::KeepAll guide;
      return search::Portfolio(problem, guide,
                               {.budget = options.budget,
                                .seed = options.seed,
                                .threads = options.threads,
                                .monitor = options.monitor},
                               problem.initial(), start)
          .run();
    }
    default:
      return search::exact(
          problem, {.budget = options.budget, .threads = options.threads, .monitor = options.monitor});
  }
}

// Tight bounds take a while to set up on large graphs; by then there should be a plan.
constexpr int large_graph = 1000;
constexpr double seconds_per_node = 5e-5;

Outcome find(const Workload& workload, const walk::RunTable& runs, const SolveOptions& options) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(std::max(1, options.threads)));
  walk::ProblemOptions space = space_of(options);
  space.tight_bounds = workload.graph.size() < large_graph;
  const Meter clock({});
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs, space);
  const bool starts_from_plan = options.engine == Engine::automatic || options.engine == Engine::local;
  Incumbent start;
  if (starts_from_plan) start = start_plan(problem, workload, runs, options);
  const auto tell = [&](const walk::WalkProblem& about) {
    if (!options.monitor) return;
    if (start.found()) options.monitor->found("start", start.cost);
    options.monitor->bounded("start", about.bound(about.initial()));
  };
  tell(problem);
  SolveOptions rest = options;
  const double set_up = seconds_per_node * workload.graph.size();
  if (space.tight_bounds || options.budget.wall_seconds - clock.seconds() < set_up)
    return run_engine(problem, rest, start);
  space.tight_bounds = true;
  const walk::WalkProblem tight(workload.graph, workload.hardware, runs, space);
  tell(tight);
  rest.budget.wall_seconds -= clock.seconds();
  return run_engine(tight, rest, start);
}

}  // namespace

std::optional<Engine> parse_engine(std::string_view text) {
  for (std::size_t i = 0; i < engine_names.size(); ++i)
    if (engine_names[i] == text) return static_cast<Engine>(i);
  return std::nullopt;
}

std::optional<double> Solution::improvement() const {
  if (!found || !greedy_latency || *greedy_latency <= 0) return std::nullopt;
  return (*greedy_latency - latency) / *greedy_latency;
}

std::optional<double> Solution::score() const {
  const auto gain = improvement();
  return gain ? std::optional(std::clamp(*gain / 0.2, -1.0, 1.0)) : std::nullopt;
}

walk::Plan play(const walk::EpisodeContext& context, Rules rules, std::span<const walk::Action> actions) {
  walk::Episode episode(context, {.rules = rules});
  walk::Plan plan;
  walk::PlanKernel open;
  for (const walk::Action& action : actions) {
    if (episode.done()) break;
    const NodeId node = episode.current_node();
    episode.step(action);
    // The group keeps its start, tile and retain list also when the last step has closed it.
    const bool starts_new = episode.group().first == context.graph().position(node);
    if (starts_new && !open.nodes.empty()) plan.push_back(std::exchange(open, {}));
    open.nodes.push_back(node);
    open.tile = episode.group().tile;
    open.retain = episode.group().retain;
  }
  if (!open.nodes.empty()) plan.push_back(std::move(open));
  return plan;
}

Solution solve(const Workload& workload, const SolveOptions& options) {
  Solution solution;
  const walk::RunTable runs(workload.graph, workload.hardware);
  if (options.order == walk::Order::fixed) check_something_fits(workload, runs);
  set_baselines(solution, workload, runs, options.rules);
  walk::ProblemOptions space = space_of(options);
  if (options.engine == Engine::greedy || options.engine == Engine::naive) {
    const walk::WalkProblem problem(workload.graph, workload.hardware, runs, space);
    auto plan = baseline_plan(workload, runs, options);
    solution.lower_bound = problem.bound(problem.initial());
    solution.engine = name(options.engine);
    if (!plan) return solution;
    solution.found = true;
    solution.plan = std::move(*plan);
    reprice(solution, workload, options, std::nullopt);
    return solution;
  }
  const Outcome outcome = find(workload, runs, options);
  space.tight_bounds = false;
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs, space);
  solution.found = outcome.found;
  solution.stop = outcome.stop;
  solution.steps = outcome.steps;
  solution.states = outcome.states;
  solution.seconds = outcome.seconds;
  solution.lower_bound = outcome.lower_bound;
  solution.proof = outcome.proof;
  solution.engine = outcome.engine.empty() ? name(options.engine) : outcome.engine;
  if (outcome.infeasible) solution.infeasible = problem.explain_infeasible(outcome.deepest);
  if (!outcome.found) return solution;
  solution.plan = problem.plan_of(outcome.plan);
  const bool proven = solution.proof == search::Proof::optimal;
  reprice(solution, workload, options, outcome.cost);
  solution.lower_bound = proven ? solution.cost : std::min(outcome.lower_bound, solution.cost);
  return solution;
}

}  // namespace fuselage::oracle
