// Local improvement of a complete schedule: moves that change a few kernels, each priced exactly by refitting
// and repricing what follows until the schedule is again in a state that it was in before. A descent takes
// moves while they pay; then restarts shake one place, descend there, and keep the result if it costs no
// more. (Iterated local search: Lourenco, Martin, Stuetzle, "Iterated Local Search", 2003.)
//
// Each restart works on a copy of a stretch of the plan, so that it costs the same in a plan of ten kernels
// and in one of ten thousand; only what is kept is written back. All follows from the seed and the number of
// steps: a larger budget goes on where a smaller one stopped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/problem.h"
#include "fuselage/search/split_mix.h"
#include "fuselage/search/stretch.h"

namespace fuselage::search {

struct LocalOptions {
  Budget budget = {};
  std::uint64_t seed = 0;
  Monitor* monitor = nullptr;
  std::size_t stretch = 32;  // kernels that a restart copies; more are added as its moves reach further
  std::size_t ahead = 32;    // kernels behind a kernel that its moves may see
  std::size_t reach = 256;   // kernels repriced behind a move before it is given up
  int shakes = 4;            // random moves of a restart, at most
  // Restarts in a row without a better plan after which there is nothing more to try.
  std::uint64_t patience = std::numeric_limits<std::uint64_t>::max();
};

template <HasNeighbours P>
class LocalSearch {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;

  // The plan must be complete from problem.initial(). The problem must outlive the search.
  LocalSearch(const P& problem, std::vector<Kernel> plan, const LocalOptions& options)
      : problem_(problem),
        options_(options),
        random_{options.seed},
        start_(std::move(plan)),
        start_bound_(problem.bound(problem.initial())) {}

  // Goes on until the meter is spent; true if there is nothing more to try. Prices the plan first, whatever
  // the meter says. Throws Error if that is no complete plan.
  bool run(Meter& meter) {
    if (!best_.found()) load(std::move(start_), meter);
    bool more = true;
    while (more && !meter.spent()) more = advance(meter);
    publish();
    return !more;
  }

  // A plan that somebody else found: the next restart begins there if it is better.
  void offer(Incumbent<Kernel> plan) {
    if (plan.cost < std::min(base_cost_, offered_.cost)) offered_ = std::move(plan);
  }

  const Incumbent<Kernel>& best() const { return best_; }
  std::uint64_t neighbourhoods() const { return neighbourhoods_; }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kernels_between_looks = 256;
  static constexpr std::size_t idle_restarts = 256;  // without a price: there is nothing to try
  static constexpr std::size_t hard_shake = 8;       // one restart of so many shakes four times as hard
  static constexpr std::size_t near = 2;             // kernels beside a change whose moves are tried again

  // What a move comes to: the kernels [first, last) of the stretch and what they give way to.
  struct Trial {
    std::size_t first = 0;
    std::size_t last = 0;
    Stretch<P> added = {};
    double cost = 0;
  };

  // One kernel's moves listed, one move tried, or one stretch closed and the next opened.
  bool advance(Meter& meter) {
    if (next_move_ < moves_.size()) {
      const Move<Kernel>& move = moves_[next_move_++];
      if (reprice(move, true, meter)) take();
      return true;
    }
    if (open_kernel()) return true;
    close_stretch();
    return open_stretch(meter);
  }

  // Prices a plan and starts from it, or from what refit makes of it if that costs no more.
  void load(std::vector<Kernel> plan, Meter& meter) {
    base_.clear();
    base_.trail.push_back(problem_.initial());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const double price = problem_.price(base_.trail.back(), plan[i]);
      if (price == infinity) fail("start plan: kernel {}: it can't be run; expected a legal plan", i);
      base_.trail.push_back(problem_.apply(base_.trail.back(), plan[i]));
      base_.prices.push_back(price);
    }
    charge(plan.size(), meter);
    const int made = problem_.progress(base_.trail.back());
    if (made != problem_.horizon())
      fail("start plan: it makes {} of {} units of progress; expected a complete plan", made,
           problem_.horizon());
    base_.kernels = std::move(plan);
    base_.fresh.assign(base_.size(), 1);
    refit_base(meter);
    measure_base();
    open(0, 0);
    publish();
  }

  // A spent meter ends it only where that can't wait: what a budget of steps does must not depend on its size.
  void refit_base(Meter& meter) {
    Stretch<P> refitted;
    refitted.trail.push_back(problem_.initial());
    for (const Kernel& k : base_.kernels) {
      if (refitted.size() % kernels_between_looks == 0 && meter.hurried()) return;
      if (!append(refitted, k, meter)) return;
    }
    if (refitted.cost(0, refitted.size()) > base_.cost(0, base_.size())) return;
    refitted.fresh.assign(refitted.size(), 1);
    base_ = std::move(refitted);
  }

  // What k becomes after the end of a stretch, added to it. False if it can't be run there.
  bool append(Stretch<P>& to, const Kernel& k, Meter& meter) {
    std::optional<Kernel> fitted = problem_.refit(to.trail.back(), k);
    if (!fitted) return false;
    charge(1, meter);
    const double price = problem_.price(to.trail.back(), *fitted);
    if (price == infinity) return false;
    to.trail.push_back(problem_.apply(to.trail.back(), *fitted));
    to.kernels.push_back(std::move(*fitted));
    to.prices.push_back(price);
    return true;
  }

  // Fills trial_ with what the move comes to. With `must_pay`, gives up as soon as it can't pay.
  bool reprice(const Move<Kernel>& move, bool must_pay, Meter& meter) {
    trial_.first = move.first;
    trial_.added.clear();
    trial_.added.trail.push_back(work_.trail[move.first]);
    trial_.cost = 0;
    for (const Kernel& k : move.added)
      if (!add_to_trial(k, must_pay, meter)) return false;
    std::size_t last = move.first + move.removed;
    const std::size_t furthest = last + options_.reach;
    for (;; ++last) {
      const State& now = trial_.added.trail.back();
      if (now == work_.trail[last]) break;
      if (must_pay && dominated(last)) return false;
      if (last == work_.size() && !extend()) break;
      if (last == furthest || !add_to_trial(work_.kernels[last], must_pay, meter)) return false;
    }
    trial_.last = last;
    if (last == work_.size() && hi_ == base_.size() &&
        problem_.progress(trial_.added.trail.back()) != problem_.horizon())
      return false;
    const double before = before_[last] - before_[move.first];
    // More than sums in different orders differ by, or moves could follow each other in a circle.
    return !must_pay || trial_.cost < before - rounding_of(work_.size()) * before_[last];
  }

  bool add_to_trial(const Kernel& k, bool must_pay, Meter& meter) {
    if (!append(trial_.added, k, meter)) return false;
    trial_.cost += trial_.added.prices.back();
    return !must_pay || trial_.cost + problem_.bound(trial_.added.trail.back()) < left_from(trial_.first);
  }

  // What the plan costs from kernel i of the stretch to its end.
  double left_from(std::size_t i) const {
    return before_.back() - before_[i] + base_before_.back() - base_before_[hi_];
  }

  // Can the old plan, where it has come as far, do whatever the new one can?
  bool dominated(std::size_t last) const {
    if constexpr (HasDominance<P>) {
      const State& was = work_.trail[last];
      const State& now = trial_.added.trail.back();
      return problem_.progress(was) == problem_.progress(now) &&
             problem_.dominance_class(was) == problem_.dominance_class(now) &&
             problem_.dominates(was, before_[last] - before_[trial_.first], now, trial_.cost);
    }
    return false;
  }

  // The trial becomes part of the stretch; what is near it is to be looked at again.
  void take() {
    const std::size_t count = trial_.added.size();
    trial_.added.fresh.assign(count, 1);
    work_.replace(trial_.first, trial_.last, trial_.added);
    measure_work(trial_.first);
    const std::size_t from = trial_.first < near ? 0 : trial_.first - near;
    const std::size_t to = std::min(work_.size(), trial_.first + count + near);
    std::fill(work_.fresh.begin() + static_cast<std::ptrdiff_t>(from),
              work_.fresh.begin() + static_cast<std::ptrdiff_t>(to), 1);
    changed_ = true;
    moves_.clear();
    next_move_ = 0;
  }

  // Lists the moves of the first kernel of the stretch that is to be looked at.
  bool open_kernel() {
    const auto end = work_.fresh.begin() + static_cast<std::ptrdiff_t>(std::min(core_, work_.size()));
    const auto found = std::find(work_.fresh.begin(), end, 1);
    if (found == end) return false;
    *found = 0;
    list_moves(static_cast<std::size_t>(found - work_.fresh.begin()));
    return true;
  }

  void list_moves(std::size_t at) {
    while (work_.size() < at + options_.ahead && extend()) continue;
    problem_.neighbours(work_.trail, work_.kernels, at, moves_);
    next_move_ = 0;
    ++neighbourhoods_;
  }

  // One kernel more of the plan at the end of the stretch, whose end state is the plan's there.
  bool extend() {
    if (hi_ == base_.size()) return false;
    work_.kernels.push_back(base_.kernels[hi_]);
    work_.prices.push_back(base_.prices[hi_]);
    work_.fresh.push_back(base_.fresh[hi_]);
    work_.trail.push_back(base_.trail[++hi_]);
    before_.push_back(before_.back() + work_.prices.back());
    return true;
  }

  // A stretch around the first kernel whose moves have not been tried; when there is none, one that is
  // shaken.
  bool open_stretch(Meter& meter) {
    if (start_bound_ >= unbeatable_from(best_.cost, additions(problem_))) return false;
    if (const Incumbent<Kernel> offered = std::exchange(offered_, {}); offered.cost < base_cost_) {
      load(offered.plan, meter);
      return true;
    }
    const auto found = std::find(base_.fresh.begin(), base_.fresh.end(), 1);
    if (found != base_.fresh.end()) {
      const auto first = static_cast<std::size_t>(found - base_.fresh.begin());
      open(first < options_.stretch / 4 ? 0 : first - options_.stretch / 4, first + options_.stretch);
      core_ = work_.size();
      settled_ = true;
      return true;
    }
    if (base_.size() == 0 || in_vain_++ >= options_.patience) return false;
    const std::uint64_t before = charged_;
    shake(meter);
    idle_ = charged_ > before ? 0 : idle_ + 1;
    return idle_ < std::max(idle_restarts, base_.size());
  }

  void open(std::size_t lo, std::size_t hi) {
    lo_ = lo;
    hi_ = std::min(hi, base_.size());
    work_.assign(base_, lo_, hi_);
    measure_work(0);
    core_ = std::numeric_limits<std::size_t>::max();
    changed_ = false;
    settled_ = false;
  }

  // Takes a few random moves near a random kernel, whatever they cost.
  void shake(Meter& meter) {
    const std::size_t centre = random_.below(base_.size());
    open(centre < options_.stretch / 2 ? 0 : centre - options_.stretch / 2,
         centre + options_.stretch / 2 + 1);
    std::size_t focus = centre - lo_;
    std::size_t shakes = 1 + random_.below(static_cast<std::size_t>(std::max(1, options_.shakes)));
    if (random_.below(hard_shake) == 0) shakes *= 4;
    for (std::size_t tries = 4 * shakes; tries > 0 && shakes > 0; --tries) {
      const std::size_t offset = focus + random_.below(2 * near + 1);
      const std::size_t at = std::min(offset < near ? 0 : offset - near, work_.size() - 1);
      list_moves(at);
      if (moves_.empty()) continue;
      const Move<Kernel> move = std::move(moves_[random_.below(moves_.size())]);
      if (!reprice(move, false, meter)) continue;
      focus = trial_.first;
      take();
      --shakes;
    }
    moves_.clear();
    next_move_ = 0;
  }

  // What was found in the stretch is kept if it costs no more than what was there.
  void close_stretch() {
    const bool better = changed_ && stretch_cost() < base_.cost(lo_, hi_);
    const bool keep = settled_ || better || (changed_ && stretch_cost() == base_.cost(lo_, hi_));
    if (changed_ && keep)
      base_.replace(lo_, hi_, work_);
    else if (keep)
      std::copy(work_.fresh.begin(), work_.fresh.end(),
                base_.fresh.begin() + static_cast<std::ptrdiff_t>(lo_));
    const bool rebased = changed_ && keep;
    open(0, 0);
    if (!rebased) return;
    measure_base();
    if (!better) return;
    in_vain_ = 0;
    publish();
  }

  double stretch_cost() const { return work_.cost(0, work_.size()); }

  void measure_work(std::size_t from) {
    before_.resize(work_.size() + 1);
    before_[0] = 0;
    for (std::size_t i = from; i < work_.size(); ++i) before_[i + 1] = before_[i] + work_.prices[i];
  }

  void measure_base() {
    base_before_.assign(1, 0.0);
    base_before_.reserve(base_.size() + 1);
    for (double price : base_.prices) base_before_.push_back(base_before_.back() + price);
    base_cost_ = base_before_.back();
  }

  // The best plan known: the present one, with what the open stretch has gained so far.
  void publish() {
    const bool gained = changed_ && stretch_cost() < base_.cost(lo_, hi_);
    double cost = base_cost_;
    if (gained) {
      cost = base_before_[lo_];
      for (double price : work_.prices) cost += price;
      for (std::size_t i = hi_; i < base_.size(); ++i) cost += base_.prices[i];
    }
    if (!(cost < best_.cost)) return;
    best_.cost = cost;
    best_.plan = base_.kernels;
    if (gained) {
      best_.plan.resize(lo_);
      best_.plan.insert(best_.plan.end(), work_.kernels.begin(), work_.kernels.end());
      best_.plan.insert(best_.plan.end(), base_.kernels.begin() + static_cast<std::ptrdiff_t>(hi_),
                        base_.kernels.end());
    }
    if (options_.monitor) options_.monitor->found("local", cost);
  }

  void charge(std::size_t steps, Meter& meter) {
    meter.charge(steps);
    charged_ += steps;
    if (!options_.monitor || charged_ - reported_ < 4096) return;
    options_.monitor->worked("local", charged_ - std::exchange(reported_, charged_));
  }

  const P& problem_;
  LocalOptions options_;
  SplitMix random_;
  std::vector<Kernel> start_;
  double start_bound_;
  Incumbent<Kernel> offered_;
  Incumbent<Kernel> best_;

  Stretch<P> base_;
  std::vector<double> base_before_;  // what the plan costs before each kernel; the last: in all
  double base_cost_ = infinity;
  Stretch<P> work_;  // base_'s [lo_, hi_), changed; it starts and ends in the same states
  std::size_t lo_ = 0;
  std::size_t hi_ = 0;
  std::vector<double> before_;  // what the stretch costs before each kernel
  std::size_t core_ = 0;        // kernels of the stretch from here on are looked at by another one
  bool changed_ = false;        // does it differ from the plan?
  bool settled_ = false;        // nothing was shaken: kept in any case
  std::vector<Move<Kernel>> moves_;
  std::size_t next_move_ = 0;
  Trial trial_;
  std::size_t idle_ = 0;
  std::uint64_t in_vain_ = 0;  // restarts since the last better plan
  std::uint64_t charged_ = 0;
  std::uint64_t reported_ = 0;
  std::uint64_t neighbourhoods_ = 0;
};

// Improves a complete plan within the budget. The outcome is proven only if the cost meets the start's bound.
template <HasNeighbours P>
Outcome<typename P::State, typename P::Kernel> local(const P& problem, std::vector<typename P::Kernel> plan,
                                                     const LocalOptions& options = {}) {
  Meter meter(options.budget);
  LocalSearch<P> search(problem, std::move(plan), options);
  search.run(meter);
  Outcome<typename P::State, typename P::Kernel> result;
  result.found = true;
  result.plan = search.best().plan;
  result.cost = search.best().cost;
  result.lower_bound = problem.bound(problem.initial());
  settle_proof(result.cost, result.lower_bound, result.proof);
  result.stop = meter.reason();
  result.steps = meter.steps();
  result.states = search.neighbourhoods();
  result.seconds = meter.seconds();
  return result;
}

}  // namespace fuselage::search
