// Beam search: sweeps of growing width (sweep.h), each pruned by the best plan so far, up to the width asked
// for. The narrow sweeps cost a third of the last one and give an early plan; each bounds the optimum by the
// least bound of what it dropped. A sweep that drops nothing is a proof, so an unlimited width always ends in
// one. The first sweep is made whatever the steps, unless there is a plan already. See Lowerre, The Harpy
// speech recognition system (1976).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fuselage/search/drive.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/problem.h"
#include "fuselage/search/sweep.h"

namespace fuselage::search {

struct BeamOptions {
  Budget budget = {};
  std::size_t width = 16;  // states a layer; unlimited = exact
  int threads = 1;
  Monitor* monitor = nullptr;
};

template <Problem P, Guide<P> G = KeepAll>
class BeamSearch {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;
  static constexpr std::string_view name = "beam";

  BeamSearch(const P& problem, G& guide, const BeamOptions& options, const State& start)
      : problem_(problem), guide_(guide), options_(options), start_(start), bound_(problem.bound(start)) {
    begin(1);
  }

  // Goes on until the last sweep is done (true) or the meter is spent.
  bool run(Meter& meter) {
    while (!finished_) {
      const bool is_first = width_ == 1 && offered_ == infinite_cost;
      if (is_first ? !run_to_end(*sweep_, meter) : !sweep_->run(meter)) return false;
      end_sweep();
    }
    return true;
  }
  void offer(double cost) {
    offered_ = std::min(offered_, cost);
    sweep_->offer(cost);
  }

  bool finished() const { return finished_; }
  const Incumbent<Kernel>& best() const { return best_; }
  double lower_bound() const { return std::min({bound_, best_.cost, offered_}); }
  Proof proof() const {
    if (!exhausted_ || (!best_.found() && offered_ == infinite_cost)) return Proof::none;
    return complete_ ? Proof::optimal : Proof::optimal_in_declared_space;
  }
  bool infeasible() const { return exhausted_ && !best_.found() && offered_ == infinite_cost; }
  std::uint64_t states() const { return states_ + sweep_->states(); }
  const std::vector<State>& deepest() const { return sweep_->deepest(); }

 private:
  void begin(std::size_t width) {
    width_ = width;
    sweep_.emplace(problem_, guide_, SweepOptions{.width = width, .threads = options_.threads});
    sweep_->offer(std::min(offered_, best_.cost));
    sweep_->begin(start_);
  }

  void end_sweep() {
    if (sweep_->best().cost < best_.cost) best_ = sweep_->best();
    complete_ = complete_ && sweep_->complete();
    // In a space that was capped only the start's own bound holds.
    if (complete_) bound_ = std::max(bound_, std::min(sweep_->open_bound(), best_.cost));
    exhausted_ = !sweep_->dropped_any();
    finished_ = !sweep_->narrowed() || width_ >= options_.width;
    if (finished_) return;
    states_ += sweep_->states();
    begin(std::min(options_.width, width_ > unlimited / 4 ? unlimited : width_ * 4));
  }

  const P& problem_;
  G& guide_;
  BeamOptions options_;
  State start_;
  std::size_t width_ = 1;
  std::optional<Sweep<P, G>> sweep_;
  bool finished_ = false;
  bool exhausted_ = false;
  bool complete_ = true;
  double bound_;
  double offered_ = infinite_cost;
  Incumbent<Kernel> best_;
  std::uint64_t states_ = 0;
};

template <Problem P, Guide<P> G>
Outcome<typename P::State, typename P::Kernel> beam(const P& problem, G& guide,
                                                    const BeamOptions& options = {},
                                                    std::optional<typename P::State> start = std::nullopt) {
  Meter meter(options.budget);
  BeamSearch<P, G> engine(problem, guide, options, start ? *start : problem.initial());
  drive(engine, meter, options.monitor);
  return outcome_of(engine, meter);
}

template <Problem P>
Outcome<typename P::State, typename P::Kernel> beam(const P& problem, const BeamOptions& options = {},
                                                    std::optional<typename P::State> start = std::nullopt) {
  KeepAll guide;
  return beam(problem, guide, options, std::move(start));
}

}  // namespace fuselage::search
