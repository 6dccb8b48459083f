// The anytime portfolio: several engines on one problem that share what they find and what they prove. The
// exact engine begins alone, since it ends most searches at once. If it does not, all engines work in rounds
// side by side: exact for the proof, a beam of growing width, Monte Carlo tree search and local improvement
// for the plan. Between two rounds they exchange incumbents and bounds, and only then: what is found depends
// on seed, threads and steps, not on timing. A bound that meets the best cost (core/cost.h) is a proof; a
// plan that is cheaper by less than that says is still looked for, for as many steps as end most searches.
// Everybody gets twice the steps from round to round; who finds and proves nothing sits out some. An engine
// that runs out of its share of memory retires; its plan and its bound stay.
#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/local.h"
#include "fuselage/search/mcts.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"

namespace fuselage::search {

struct PortfolioOptions {
  Budget budget = {};
  std::uint64_t seed = 0;
  int threads = 1;
  std::uint64_t first_steps = 1 << 17;  // of the exact engine alone
  std::uint64_t round_steps =
      1 << 15;  // of each other engine in its first round, of the exact one twice that
  Monitor* monitor = nullptr;
};

template <Problem P, Guide<P> G = KeepAll>
class Portfolio {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;
  static constexpr std::string_view name = "auto";

  // `known`: a plan from `start` that is there already, perhaps none.
  Portfolio(const P& problem, G& guide, const PortfolioOptions& options, const State& start,
            Incumbent<Kernel> known = {})
      : problem_(problem), guide_(guide), options_(options), start_(start), best_(std::move(known)) {
    bound_ = problem.bound(start);
    if (best_.found()) engine_ = "start";
  }

  Outcome<State, Kernel> run() {
    tell();
    add_exact();
    workers_[0]->allowance = options_.first_steps;
    round();
    workers_[0]->allowance = 2 * options_.round_steps;
    if (going_on()) {
      add_others();
      while (going_on()) round();
    }
    return outcome();
  }

 private:
  struct Worker {
    Worker(std::string_view own_name, const Budget& budget, std::uint64_t steps)
        : name(own_name), meter(budget), allowance(steps) {}
    virtual ~Worker() = default;
    virtual bool run() = 0;  // until the meter pauses or is spent; true if there is nothing left to do
    virtual void offer(const Incumbent<Kernel>& incumbent) = 0;
    virtual const Incumbent<Kernel>& best() const = 0;
    virtual double lower_bound() const = 0;
    virtual std::uint64_t states() const = 0;

    std::string_view name;
    Meter meter;
    std::uint64_t allowance;  // steps of its next round
    int doublings = 0;
    int in_vain = 0;   // rounds without news, in a row
    int sits_out = 0;  // rounds to come
    bool finished = false;
    bool retired() const { return finished || meter.reason() != StopReason::exhausted; }
  };

  template <class Engine>
  struct Hired final : Worker {
    template <class... Arguments>
    Hired(std::string_view own_name, const Budget& budget, std::uint64_t steps, Arguments&&... arguments)
        : Worker(own_name, budget, steps), engine(std::forward<Arguments>(arguments)...) {}
    bool run() override { return engine.run(this->meter); }
    void offer(const Incumbent<Kernel>& incumbent) override {
      if constexpr (improves)
        engine.offer(incumbent);
      else
        engine.offer(incumbent.cost);
    }
    const Incumbent<Kernel>& best() const override { return engine.best(); }
    double lower_bound() const override {
      if constexpr (!improves) return engine.lower_bound();
      return 0;
    }
    std::uint64_t states() const override {
      if constexpr (!improves) return engine.states();
      return 0;
    }

    // Local improvement takes plans, and proves nothing.
    static constexpr bool improves = requires(Engine & e, const Incumbent<Kernel>& i) { e.offer(i); };
    Engine engine;
  };

  // A share of the memory, and what is left of the time.
  Budget budget(double share) const {
    Budget part = options_.budget;
    part.steps = std::numeric_limits<std::uint64_t>::max();
    if (part.bytes < std::numeric_limits<std::uint64_t>::max())
      part.bytes = static_cast<std::uint64_t>(static_cast<double>(part.bytes) * share);
    part.wall_seconds -= clock_.seconds();
    return part;
  }

  void add_exact() {
    auto exact = std::make_unique<Hired<ExactSearch<P>>>("exact", budget(0.5), options_.first_steps, problem_,
                                                         ExactOptions{.threads = options_.threads}, start_);
    exact_ = &exact->engine;
    if (best_.found()) exact->offer(best_);
    workers_.push_back(std::move(exact));
  }

  void add_others() {
    auto beam = std::make_unique<Hired<BeamSearch<P, G>>>(
        "beam", budget(0.2), options_.round_steps, problem_, guides_.emplace_back(guide_),
        BeamOptions{.width = unlimited, .threads = options_.threads}, start_);
    workers_.push_back(std::move(beam));
    const int pairs = std::max(1, (options_.threads - 1) / 2);
    for (int i = 0; i < pairs; ++i) {
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(i);
      workers_.push_back(std::make_unique<Hired<MctsTree<P, G>>>(
          "mcts", budget(0.3 / pairs), options_.round_steps, problem_, guides_.emplace_back(guide_),
          MctsOptions{.seed = seed}, start_));
      if constexpr (HasNeighbours<P>)
        if (best_.found())
          workers_.push_back(std::make_unique<Hired<LocalSearch<P>>>(
              "local", budget(0.1), options_.round_steps, problem_, best_.plan, LocalOptions{.seed = seed}));
    }
    for (auto& worker : workers_)
      if (best_.found()) worker->offer(best_);
  }

  // Who is not sitting out goes on by its allowance, or by its share of the steps that are left.
  void round() {
    std::vector<Worker*> active;
    std::uint64_t wanted = 0;
    for (auto& worker : workers_) {
      if (worker->retired() || (worker->sits_out > 0 && worker->sits_out-- > 0)) continue;
      active.push_back(worker.get());
      wanted += worker->allowance;
    }
    const std::uint64_t left = options_.budget.steps - std::min(options_.budget.steps, steps());
    const double share = wanted <= left ? 1.0 : static_cast<double>(left) / static_cast<double>(wanted);
    // A round that is cut short is the last: a larger budget then goes on where this one ends.
    cut_short_ = share < 1;
    const auto work = [&](std::size_t i) {
      const double part = share * static_cast<double>(active[i]->allowance);
      go_on(*active[i], std::max<std::uint64_t>(1, static_cast<std::uint64_t>(part)));
    };
    if (options_.threads > 1)
      tbb::parallel_for(std::size_t{0}, active.size(), work, tbb::simple_partitioner());
    else
      for (std::size_t i = 0; i < active.size(); ++i) work(i);
    const double bound_before = bound_;
    const double cost_before = best_.cost;
    exchange();
    for (Worker* worker : active)
      reward(*worker, worker->best().cost < cost_before || worker->lower_bound() > bound_before);
  }

  // In slices, so that who watches hears of it.
  void go_on(Worker& worker, std::uint64_t steps) {
    constexpr std::uint64_t slice = 1 << 15;
    const std::uint64_t end = worker.meter.steps() + steps;
    while (!worker.retired() && worker.meter.steps() < end) {
      const std::uint64_t before = worker.meter.steps();
      worker.meter.pause_after(std::min(slice, end - before));
      worker.finished = worker.run();
      if (!options_.monitor) continue;
      options_.monitor->worked(worker.name, worker.meter.steps() - before);
      if (worker.best().found()) options_.monitor->found(worker.name, worker.best().cost);
    }
  }

  // Exact and beam make their way without news; the others rest a little longer each time they come back with
  // none, since on large graphs a step of theirs can take long.
  void reward(Worker& worker, bool has_news) {
    constexpr int most_doublings = 6;
    constexpr int longest_rest = 3;
    if (worker.doublings++ < most_doublings) worker.allowance *= 2;
    if (has_news || worker.name == "exact" || worker.name == "beam")
      worker.in_vain = 0;
    else
      worker.sits_out = std::min(longest_rest, worker.in_vain++);
  }

  void exchange() {
    for (const auto& worker : workers_) {
      if (worker->best().cost < best_.cost) {
        best_ = worker->best();
        engine_ = worker->name;
      }
      bound_ = std::max(bound_, worker->lower_bound());
    }
    for (const auto& worker : workers_)
      if (best_.found() && !worker->retired()) worker->offer(best_);
    tell();
  }

  void tell() {
    if (!options_.monitor) return;
    if (best_.found()) options_.monitor->found(engine_, best_.cost);
    options_.monitor->bounded(engine_, bound_);
  }

  std::uint64_t steps() const {
    std::uint64_t total = 0;
    for (const auto& worker : workers_) total += worker->meter.steps();
    return total;
  }

  // Is there nothing to gain any more?
  bool settled() const {
    if (!best_.found() || !meets(bound_, best_.cost)) return false;
    return bound_ >= unbeatable_from(best_.cost, additions(problem_)) || steps() >= 16 * options_.first_steps;
  }

  bool going_on() {
    if (exact_->infeasible() || settled()) return false;
    if (cut_short_ || steps() >= options_.budget.steps) return stop(StopReason::steps);
    bool proves = false;  // is anybody left who can end this with a proof?
    for (const auto& worker : workers_) {
      const StopReason reason = worker->meter.reason();
      if (reason == StopReason::time || reason == StopReason::cancelled) return stop(reason);
      if (!worker->retired()) proves = proves || worker->name != "local";
    }
    const bool ends_later = options_.budget.steps < std::numeric_limits<std::uint64_t>::max() ||
                            options_.budget.wall_seconds < infinite_cost;
    const bool anybody =
        std::any_of(workers_.begin(), workers_.end(), [](const auto& w) { return !w->retired(); });
    if (workers_.size() == 1 || proves || (anybody && ends_later)) return true;
    return stop(StopReason::memory);
  }
  bool stop(StopReason reason) {
    stop_ = reason;
    return false;
  }

  Outcome<State, Kernel> outcome() {
    Outcome<State, Kernel> result;
    result.found = best_.found();
    result.cost = best_.cost;
    result.plan = std::move(best_.plan);
    result.lower_bound = bound_;
    result.stop = stop_;
    result.steps = steps();
    for (const auto& worker : workers_) result.states += worker->states();
    result.seconds = clock_.seconds();
    result.engine = engine_;
    result.infeasible = exact_->infeasible();
    if (result.infeasible) result.deepest = exact_->deepest();
    if (result.infeasible) result.lower_bound = infinite_cost;
    if (result.found) settle_proof(result.cost, result.lower_bound, result.proof);
    return result;
  }

  const P& problem_;
  G& guide_;
  std::deque<G> guides_;  // a copy for each worker, since they run at once
  PortfolioOptions options_;
  State start_;
  Meter clock_{Budget{}};
  std::vector<std::unique_ptr<Worker>> workers_;
  const ExactSearch<P>* exact_ = nullptr;  // the first worker's
  Incumbent<Kernel> best_;
  std::string_view engine_ = "exact";  // whose plan that is
  double bound_ = 0;
  bool cut_short_ = false;
  StopReason stop_ = StopReason::exhausted;
};

}  // namespace fuselage::search
