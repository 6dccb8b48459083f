// The exact engine: a sweep without a width (sweep.h), pruned by plans that narrow passes find on the way. A
// first narrow pass is made whatever the steps, so that there is a plan whenever that can find one; from
// there on a larger budget only goes on with the same search. The lower bound is the least bound of what is
// still open. It takes no guide that drops kernels: a proof never rests on a guess.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/search/drive.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/problem.h"
#include "fuselage/search/sweep.h"

namespace fuselage::search {

struct ExactOptions {
  Budget budget = {};
  // A layer of more states than this makes the engine look ahead for a better plan, with an eighth as many
  // states a layer; then again for every layer that is sixteen times wider.
  std::size_t wide_layer = 128;
  int threads = 1;
  Monitor* monitor = nullptr;
};

template <Problem P, Guide<P> G = KeepAll>
class ExactSearch {
  static_assert(!G::drops,
                "a guide that drops kernels can't be given to the exact engine: no proof would hold");

 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;
  static constexpr std::string_view name = "exact";

  ExactSearch(const P& problem, const ExactOptions& options, const State& start)
      : problem_(problem),
        options_(options),
        start_(start),
        start_bound_(problem.bound(start)),
        sweep_(problem, guide_, {.wide_layer = options.wide_layer, .threads = options.threads}) {
    sweep_.begin(start);
  }

  // Goes on until there is a proof, also one that there is no plan (true), or the meter is spent.
  bool run(Meter& meter) {
    if (look_width_ > 0 && !look(meter)) return false;
    if (!sweep_.run(meter)) return false;
    if (sweep_.best().cost < best_.cost) best_ = sweep_.best();
    return true;
  }
  // Somebody knows a plan of this cost.
  void offer(double cost) {
    offered_ = std::min(offered_, cost);
    sweep_.offer(cost);
  }

  bool finished() const { return sweep_.finished(); }
  const Incumbent<Kernel>& best() const { return sweep_.best().cost < best_.cost ? sweep_.best() : best_; }
  double lower_bound() const {
    // Outside a space that was capped only the start's own bound holds.
    const double open = sweep_.complete() ? sweep_.open_bound() : start_bound_;
    return std::min({open, best().cost, offered_});
  }
  // Of the best plan there is, be it ours or one that was offered.
  Proof proof() const {
    if (!finished() || (!best().found() && offered_ == infinite_cost)) return Proof::none;
    return sweep_.complete() ? Proof::optimal : Proof::optimal_in_declared_space;
  }
  bool infeasible() const { return finished() && !best().found() && offered_ == infinite_cost; }
  const std::vector<State>& deepest() const { return sweep_.deepest(); }
  std::uint64_t states() const { return sweep_.states() + states_; }

 private:
  // The first plan: one state a layer, more if that runs into a dead end. While there is no plan at all it is
  // made whatever the steps; who waits for a clock or pressed a key gets the quickest one. False: to be
  // continued.
  bool look(Meter& meter) {
    for (; look_width_ <= widest_look; look_width_ *= widest_look) {
      if (best_.found()) break;
      if (!pass_) {
        pass_.emplace(problem_, guide_, SweepOptions{.width = look_width_, .threads = options_.threads});
        pass_->offer(offered_);
        pass_->begin(start_);
      }
      const bool hurry = meter.spent() && meter.reason() != StopReason::exhausted &&
                         meter.reason() != StopReason::steps && meter.reason() != StopReason::memory;
      const bool is_free = offered_ == infinite_cost && !(hurry && look_width_ > 1);
      if (is_free ? !run_to_end(*pass_, meter) : !pass_->run(meter)) return false;
      states_ += pass_->states();
      if (pass_->best().found()) {
        best_ = pass_->best();
        sweep_.offer(best_.cost);
      }
      pass_.reset();
    }
    look_width_ = 0;
    return true;
  }

  static constexpr std::size_t widest_look = 8;

  const P& problem_;
  ExactOptions options_;
  G guide_;
  State start_;
  double start_bound_;
  Sweep<P, G> sweep_;
  std::optional<Sweep<P, G>> pass_;
  std::size_t look_width_ = 1;  // 0: done
  Incumbent<Kernel> best_;
  double offered_ = infinite_cost;
  std::uint64_t states_ = 0;
};

// Finds the cheapest completion of `start` (the initial state if none is given) and proves it, within the
// budget.
template <Problem P>
Outcome<typename P::State, typename P::Kernel> exact(const P& problem, const ExactOptions& options = {},
                                                     std::optional<typename P::State> start = std::nullopt) {
  Meter meter(options.budget);
  ExactSearch<P> engine(problem, options, start ? *start : problem.initial());
  drive(engine, meter, options.monitor);
  return outcome_of(engine, meter);
}

}  // namespace fuselage::search
