#include "fuselage/oracle/solve.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/local.h"
#include "fuselage/search/portfolio.h"
#include "fuselage/walk/bare_schedule.h"
#include "fuselage/walk/baseline.h"
#include "guided.h"
#include "run_engine.h"

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

// The two baselines as a plan of the rule set, and what the rule set says they cost. Under the seed's rules
// the figures are the environment's, which no plan needs to have.
struct Baselines {
  std::optional<double> greedy_latency = {};
  std::optional<double> naive_latency = {};
  std::optional<walk::Plan> greedy = {};
  std::optional<walk::Plan> naive = {};
};

walk::Plan singles(const Graph& graph) {
  walk::Plan plan;
  for (NodeId v : graph.order()) plan.push_back({.nodes = {v}, .tile = walk::default_tile, .retain = {}});
  return plan;
}

// `context`: none under `physical`, which has no episodes.
Baselines baselines_of(const Workload& workload, const walk::RunTable& runs,
                       const std::optional<walk::EpisodeContext>& context, Rules rules) {
  const Graph& graph = workload.graph;
  const Hardware& hardware = workload.hardware;
  Baselines both;
  if (!context) {
    if (auto greedy = walk::greedy_physical(graph, hardware, runs)) {
      both.greedy_latency = greedy->latency;
      both.greedy = std::move(greedy->plan);
    }
    if (auto naive = walk::naive_physical(graph, hardware, runs)) {
      both.naive_latency = naive->latency;
      both.naive = std::move(naive->plan);
    }
    return both;
  }
  both.greedy_latency = walk::greedy(graph, hardware).latency;
  both.naive_latency = walk::naive_latency(graph, hardware);
  both.greedy = play(*context, rules, walk::actions_of(walk::greedy_groups(graph, hardware)));
  both.naive = play(*context, rules, walk::actions_of(singles(graph)));
  return both;
}

// The price of the independent check is the one that is reported. It is the search's but for the order of the
// sum, and a bound that was the whole cost stays so.
void reprice(Solution& solution, const Workload& workload, const SolveOptions& options,
             std::optional<double> claimed) {
  const Simulation checked = simulate(workload.graph, workload.hardware, solution.plan,
                                      {.rules = options.rules, .order = options.order});
  if (checked.fault)
    throw std::logic_error(
        fmt::format("{}: the plan found is illegal: {}", workload.name, checked.fault->message));
  solution.latency = checked.latency;
  solution.charges = charges(workload.graph, checked);
  solution.overflows = overflows(checked);
  solution.cost = objective(solution.charges, options.price);
  if (claimed && !agree(*claimed, solution.cost))
    throw std::logic_error(fmt::format("{}: the search claims {} cycles, the check finds {}", workload.name,
                                       *claimed, solution.cost));
  if (claimed && solution.lower_bound >= *claimed) solution.lower_bound = solution.cost;
  search::settle_proof(solution.cost, solution.lower_bound, solution.proof);
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

// The baseline that a search starts from, whichever is cheaper. Where both get stuck, and in a restricted
// space, which they may lie outside of: under `physical` in fixed order the best plan that retains nothing.
Incumbent start_plan(const walk::WalkProblem& problem, const Baselines& baselines, const Workload& workload,
                     const walk::RunTable& runs, const SolveOptions& options) {
  Incumbent start;
  if (!is_restricted(options))
    for (const auto* plan : {&baselines.greedy, &baselines.naive}) {
      if (!*plan) continue;
      Incumbent incumbent = incumbent_of(problem, **plan);
      if (incumbent.cost < start.cost) start = std::move(incumbent);
    }
  if (start.found() || options.rules != Rules::physical || options.order != walk::Order::fixed) return start;
  const walk::ProblemOptions space = space_of(options);
  const auto bare = walk::bare_schedule({workload.graph, workload.hardware, runs, space, problem});
  return bare ? incumbent_of(problem, problem.plan_of(*bare)) : start;
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

Outcome find_plan(const walk::WalkProblem& problem, const walk::RunTable& runs, const Workload& workload,
                  const SolveOptions& options, const Incumbent& start) {
  if (options.guide)
    return find_guided(problem, walk::Features(workload.graph, workload.hardware, runs), options, start);
  switch (options.engine) {
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
    default: {
      if (options.order == walk::Order::free) return run_engine(problem, options, start);
      Outcome outcome = run_engine(problem, options);
      // All that a narrow search keeps may be dead ends.
      if (!outcome.found) fall_back(outcome, start, search::Proof::none);
      return outcome;
    }
  }
}

// Tight bounds take a while to set up on large graphs; by then there should be a plan.
constexpr int large_graph = 1000;
constexpr double set_up_share = 1.0 / 3;  // of the time that is left

// The engine's answer in the terms of the graph.
void settle(Solution& solution, const walk::WalkProblem& problem, const Outcome& outcome) {
  solution.found = outcome.found;
  solution.stop = outcome.stop;
  solution.steps = outcome.steps;
  solution.states = outcome.states;
  solution.seconds = outcome.seconds;
  solution.lower_bound = outcome.lower_bound;
  solution.proof = outcome.proof;
  solution.cost = outcome.cost;
  if (!outcome.engine.empty()) solution.engine = outcome.engine;
  if (outcome.infeasible) solution.infeasible = problem.explain_infeasible(outcome.deepest);
  if (outcome.found) solution.plan = problem.plan_of(outcome.plan);
}

// Every plan of the fixed order is one of the free order: what a search there finds is where one of the free
// order starts, whatever its engine. It may use half of the budget, and no more steps than these.
constexpr std::uint64_t most_fixed_steps = 1 << 18;

void find(Solution& solution, const Workload& workload, const walk::RunTable& runs,
          const Baselines& baselines, const SolveOptions& options, const Deadline& deadline);

// Takes what it used off `rest` and notes it in `used`.
Incumbent start_in_fixed_order(const walk::WalkProblem& problem, const Workload& workload,
                               const walk::RunTable& runs, const Baselines& baselines,
                               const Deadline& deadline, SolveOptions& rest, Solution& used) {
  SolveOptions fixed = rest;
  fixed.order = walk::Order::fixed;
  fixed.engine = Engine::automatic;
  fixed.budget.steps = std::min(rest.budget.steps / 2, most_fixed_steps);
  std::uint64_t steps = 0;
  search::Monitor forward([&](const search::Event& event) {  // bounds of the fixed order are its own
    rest.monitor->found(event.engine, event.cost);
    rest.monitor->worked(event.engine, event.steps - std::exchange(steps, event.steps));
  });
  fixed.monitor = rest.monitor ? &forward : nullptr;
  const Meter clock({});
  find(used, workload, runs, baselines, fixed, deadline.share(0.5));
  used.seconds = clock.seconds();
  rest.budget.steps -= std::min(rest.budget.steps, used.steps);
  return used.found ? incumbent_of(problem, used.plan) : Incumbent{};
}

// `solution.cost` is what the engine claims of its plan.
void find(Solution& solution, const Workload& workload, const walk::RunTable& runs,
          const Baselines& baselines, const SolveOptions& options, const Deadline& deadline) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(std::max(1, options.threads)));
  walk::ProblemOptions space = space_of(options);
  space.tight_bounds = workload.graph.size() < large_graph;
  space.set_up = deadline.share(set_up_share);
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs, space);
  const bool is_free = options.order == walk::Order::free;
  const bool starts_from_plan =
      is_free || options.engine == Engine::automatic || options.engine == Engine::local;
  SolveOptions rest = options;
  Solution fixed;
  const Incumbent start =
      is_free ? start_in_fixed_order(problem, workload, runs, baselines, deadline, rest, fixed)
              : start_plan(problem, baselines, workload, runs, options);
  const auto tell = [&](const walk::WalkProblem& about) {
    if (!options.monitor) return;
    if (starts_from_plan && start.found()) options.monitor->found("start", start.cost);
    options.monitor->bounded("start", about.bound(about.initial()));
  };
  tell(problem);
  std::optional<walk::WalkProblem> tight;
  if (!space.tight_bounds) {
    space.tight_bounds = true;
    space.set_up = deadline.share(set_up_share);
    tight.emplace(workload.graph, workload.hardware, runs, space);
    tell(*tight);
  }
  check_set_up_memory(options.budget, workload.name);
  rest.budget.wall_seconds = deadline.seconds_left();
  const walk::WalkProblem& searched = tight ? *tight : problem;
  settle(solution, searched, find_plan(searched, runs, workload, rest, start));
  solution.steps += fixed.steps;
  solution.states += fixed.states;
  solution.seconds += fixed.seconds;
}

// Settled before any search, under the rules physical.
std::optional<walk::WalkProblem::Infeasible> why_no_schedule(const Workload& workload,
                                                             const walk::RunTable& runs,
                                                             const SolveOptions& options,
                                                             const Deadline& deadline) {
  if (options.rules != Rules::physical) return std::nullopt;
  walk::ProblemOptions space = space_of(options);
  space.tight_bounds = false;
  space.set_up = deadline.share(set_up_share);
  const walk::WalkProblem problem(workload.graph, workload.hardware, runs, space);
  return walk::why_no_schedule({workload.graph, workload.hardware, runs, space, problem});
}

// A guide is trained on one rule set, and its features are of runs of the order.
void check_guide(const SolveOptions& options) {
  if (!options.guide) return;
  if (options.engine != Engine::automatic && options.engine != Engine::beam && options.engine != Engine::mcts)
    fail("guide: the engine {} takes none; expected auto, beam or mcts", name(options.engine));
  if (options.rules != Rules::seed_honest)
    fail("guide: trained under the rules seed-honest; expected no guide under {}", walk::name(options.rules));
  if (options.price != walk::Price{}) fail("guide: trained on latency; expected no price with it");
}

}  // namespace

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
  check_guide(options);
  const Deadline deadline(options.budget);
  Solution solution;
  solution.engine = name(options.engine);
  std::optional<walk::EpisodeContext> context;  // with its table of runs
  std::optional<walk::RunTable> own_runs;
  if (options.rules == Rules::physical)
    own_runs.emplace(workload.graph, workload.hardware);
  else
    context.emplace(workload);
  const walk::RunTable& runs = context ? context->runs() : *own_runs;
  if (options.order == walk::Order::fixed) check_something_fits(workload, runs);
  Baselines baselines = baselines_of(workload, runs, context, options.rules);
  solution.greedy_latency = baselines.greedy_latency;
  solution.naive_latency = baselines.naive_latency;
  solution.infeasible = why_no_schedule(workload, runs, options, deadline);
  if (solution.infeasible) {
    solution.lower_bound = std::numeric_limits<double>::infinity();
    return solution;
  }
  if (options.engine == Engine::greedy || options.engine == Engine::naive) {
    walk::ProblemOptions space = space_of(options);
    space.set_up = deadline;
    const walk::WalkProblem problem(workload.graph, workload.hardware, runs, space);
    solution.lower_bound = problem.bound(problem.initial());
    auto& plan = options.engine == Engine::greedy ? baselines.greedy : baselines.naive;
    if (!plan) return solution;
    solution.found = true;
    solution.plan = std::move(*plan);
    reprice(solution, workload, options, std::nullopt);
    return solution;
  }
  find(solution, workload, runs, baselines, options, deadline);
  if (!solution.found) return solution;
  reprice(solution, workload, options, solution.cost);
  return solution;
}

}  // namespace fuselage::oracle
