#include "fuselage/oracle/grid_anytime.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/grid/problem.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/local.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;
using grid::GridProblem;
using Incumbent = search::Incumbent<GridKernel>;

class Anytime {
 public:
  Anytime(const grid::Instance& instance, const GridAnytimeOptions& options)
      : instance_(instance), options_(options) {}

  void run() {
    // Every op alone needs no groups to choose from.
    const GridProblem alone(instance_, options_.rules, {.most_ops = 1, .whole_ops = 0, .tight_bound = false});
    offer(alone, alone.naive());
    if (over()) return;
    // Groups may grow for a third of the time.
    const GridProblem problem(instance_, options_.rules, {},
                              [&] { return clock_.seconds() > options_.wall_seconds / 3 || over(); });
    offer(problem, problem.greedy(Deadline(rest())));
    for (std::size_t width = 1; width <= widest && !over(problem); width *= 4) {
      // A third of the time at most: what is left after that is better spent on improvement.
      Budget budget = rest();
      budget.wall_seconds /= 3;
      const auto outcome = search::beam(problem, {.budget = budget, .width = width});
      if (outcome.found) offer(problem, outcome.plan);
    }
    improve(problem);
  }

 private:
  static constexpr std::size_t widest = 64;
  static constexpr std::uint64_t slice = 1 << 13;  // steps of improvement between two looks

  Budget rest() const {
    return {.wall_seconds = options_.wall_seconds - clock_.seconds(), .cancel = options_.cancel};
  }
  bool over() const {
    return clock_.seconds() >= options_.wall_seconds || (options_.cancel && options_.cancel->load());
  }
  bool over(const GridProblem& problem) const {
    return over() || meets(problem.bound(problem.initial()), best_.cost);
  }

  void improve(const GridProblem& problem) {
    if (over(problem)) return;
    Meter meter(rest());
    search::LocalSearch<GridProblem> local(problem, best_.plan, {.seed = options_.seed});
    for (bool more = true; more && !over(problem);) {
      meter.pause_after(slice);
      more = !local.run(meter);
      if (local.best().cost < best_.cost) offer(problem, local.best().plan);
    }
  }

  void offer(const GridProblem& problem, std::vector<GridKernel> kernels) {
    double cost = 0;
    grid::State state = problem.initial();
    for (const GridKernel& kernel : kernels) {
      cost += problem.price(state, kernel);
      state = problem.apply(state, kernel);
    }
    if (cost >= best_.cost) return;
    const grid::Plan plan = problem.plan_of(kernels);
    const grid::Evaluation evaluation = grid::evaluate(instance_, options_.rules, plan);
    if (!evaluation.valid())
      throw std::logic_error(fmt::format("the plan found is illegal: {}", evaluation.violation->message));
    // The search's sum may be less by rounding alone.
    if (best_.found() && evaluation.latency >= latency_) return;
    latency_ = evaluation.latency;
    best_ = {.cost = cost, .plan = std::move(kernels)};
    if (options_.found) options_.found(plan, evaluation);
  }

  const grid::Instance& instance_;
  const GridAnytimeOptions& options_;
  Meter clock_{Budget{}};
  Incumbent best_;
  double latency_ = 0;  // that the judge finds for it
};

}  // namespace

void improve_grid(const grid::Instance& instance, const GridAnytimeOptions& options) {
  Anytime(instance, options).run();
}

}  // namespace fuselage::oracle
