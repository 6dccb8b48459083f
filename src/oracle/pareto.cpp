#include "fuselage/oracle/pareto.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/objective.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/problem.h"
#include "run_engine.h"

namespace fuselage::oracle {
namespace {

ParetoPoint point_of(const Workload& workload, const ParetoOptions& options, const walk::WalkProblem& problem,
                     const std::vector<walk::Kernel>& kernels) {
  ParetoPoint point;
  point.plan = problem.plan_of(kernels);
  const Simulation checked = simulate(workload.graph, workload.hardware, point.plan,
                                      {.rules = options.rules, .order = options.order});
  if (checked.fault)
    throw std::logic_error(
        fmt::format("{}: the plan found is illegal: {}", workload.name, checked.fault->message));
  const Charges sum = charges(workload.graph, checked);
  point.latency = sum.latency;
  point.bytes_moved = sum.bytes_moved;
  point.overflows = overflows(checked);
  return point;
}

class FrontSearch {
 public:
  FrontSearch(const Workload& workload, const ParetoOptions& options)
      : workload_(workload), options_(options), runs_(workload.graph, workload.hardware) {}

  ParetoFront run() {
    const auto start = std::chrono::steady_clock::now();
    if (options_.order == walk::Order::free) start_in_fixed_order();
    std::optional<std::int64_t> limit;
    while (next(limit)) limit = front_.points.back().bytes_moved - 1;
    drop_dominated();
    front_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(front_);
  }

 private:
  // Every plan of the fixed order is one of the free order; each of the two fronts has half of the budget.
  void start_in_fixed_order() {
    options_.budget.steps /= 2;
    options_.budget.wall_seconds /= 2;
    ParetoOptions fixed = options_;
    fixed.order = walk::Order::fixed;
    fixed.monitor = nullptr;
    fixed_ = FrontSearch(workload_, fixed).run();
    front_.steps += fixed_.steps;
    front_.states += fixed_.states;
  }

  // The fastest plan of that front which moves at most so many bytes.
  search::Incumbent<walk::Kernel> known(const walk::WalkProblem& problem,
                                        const std::optional<std::int64_t>& limit) const {
    for (const ParetoPoint& point : fixed_.points)
      if (!limit || point.bytes_moved <= *limit)
        return {.cost = point.latency, .plan = problem.kernels_of(point.plan)};
    return {};
  }

  // The fastest plan that moves at most so many bytes; false if there is none, or no budget for one.
  bool next(const std::optional<std::int64_t>& limit) {
    const walk::WalkProblem problem(
        workload_.graph, workload_.hardware, runs_,
        {.rules = options_.rules, .order = options_.order, .price = {}, .most_traffic = limit});
    auto outcome = run_from(
        search::ExactSearch<walk::WalkProblem>(problem, {.threads = options_.threads}, problem.initial()),
        options_, known(problem, limit));
    front_.steps += outcome.steps;
    front_.states += outcome.states;
    if (front_.stop == StopReason::exhausted) front_.stop = outcome.stop;
    if (!outcome.found) {
      if (!outcome.infeasible) front_.proof = search::Proof::none;
      return false;
    }
    ParetoPoint point = point_of(workload_, options_, problem, outcome.plan);
    check(point, outcome.cost, outcome.proof, limit);
    point.proof = outcome.proof;
    point.lower_bound =
        outcome.lower_bound >= outcome.cost ? point.latency : std::min(outcome.lower_bound, point.latency);
    front_.proof = std::min(front_.proof, outcome.proof);
    front_.points.push_back(std::move(point));
    return true;
  }

  // The search may claim more than the check finds for a plan that is not proven: under `seed` a kernel need
  // not store what the next one makes it retain.
  void check(const ParetoPoint& point, double claimed, search::Proof proof,
             const std::optional<std::int64_t>& limit) const {
    const double off = claimed - point.latency;
    const bool agrees = agree(claimed, point.latency) || (off > 0 && proof != search::Proof::optimal);
    if (!agrees || (limit && point.bytes_moved > *limit))
      throw std::logic_error(
          fmt::format("{}: the search claims {} cycles, the check finds {}, and {} B moved", workload_.name,
                      claimed, point.latency, point.bytes_moved));
  }

  // A later point moves less: an earlier one has to be faster.
  void drop_dominated() {
    std::vector<ParetoPoint> kept;
    const auto kernels = static_cast<std::size_t>(workload_.graph.size());
    for (ParetoPoint& point : front_.points) {
      while (!kept.empty() && kept.back().latency >= unbeatable_from(point.latency, kernels)) kept.pop_back();
      kept.push_back(std::move(point));
    }
    front_.points = std::move(kept);
  }

  const Workload& workload_;
  ParetoOptions options_;
  walk::RunTable runs_;
  ParetoFront fixed_;  // order free
  ParetoFront front_;
};

}  // namespace

ParetoFront pareto_traffic(const Workload& workload, const ParetoOptions& options) {
  return FrontSearch(workload, options).run();
}

std::vector<bool> on_convex_hull(const std::vector<ParetoPoint>& points) {
  std::vector<std::size_t> hull;
  const auto lies_above = [&](std::size_t a, std::size_t b, std::size_t c) {  // b, over the line from a to c
    const double dx = points[c].latency - points[a].latency;
    const double dy = static_cast<double>(points[c].bytes_moved - points[a].bytes_moved);
    const double turn = (points[b].latency - points[a].latency) * dy -
                        static_cast<double>(points[b].bytes_moved - points[a].bytes_moved) * dx;
    return turn < -1e-9 * std::abs(dx * dy);
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    while (hull.size() >= 2 && lies_above(hull[hull.size() - 2], hull.back(), i)) hull.pop_back();
    hull.push_back(i);
  }
  std::vector<bool> on(points.size(), false);
  for (std::size_t i : hull) on[i] = true;
  return on;
}

}  // namespace fuselage::oracle
