// The grid family's ranker of decisions at work. Its guide fits beam, MCTS and portfolio like any other
// (decision_guide.h). Here is the search that makes most of it: first the plans that the ranker doubts least
// (grid_guide_doubts.h), where it is right after as many pricings as a plan has kernels; then sweeps of
// more and more states and kernels of a state, whatever Keeping says, which find out where it is wrong. Each
// part is pruned by the best plan so far.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "fuselage/grid/features_decision.h"
#include "fuselage/grid/problem.h"
#include "fuselage/oracle/decision_guide.h"
#include "fuselage/oracle/grid_guide_doubts.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/sweep.h"

namespace fuselage::oracle {

template <search::Problem P = grid::GridProblem>
using GridGuide = DecisionGuide<P, grid::DecisionRows>;

// One sweep: states of a layer, and kernels of a state that are priced.
struct GuidedPass {
  std::size_t width = 1;
  std::size_t keep = 1;
};
inline constexpr std::array<GuidedPass, 8> guided_passes = {
    {{1, 2}, {1, 4}, {4, 2}, {4, 4}, {16, 4}, {16, 8}, {64, 8}, {64, 16}}};

struct GuidedGridOptions {
  std::size_t keep = 8;      // kernels of a state that may be priced while doubts decide
  float margin = 4;          // as Keeping::margin
  double doubts_per_op = 8;  // kernels priced by doubts before the first sweep, for each op of the problem
  std::size_t width = 64;    // of a sweep at most
  DoubtOptions doubts = {};  // unit_of_cost is the problem's
};

// An engine as those of search/: resumable, a larger budget goes on where a smaller one stopped. `P` is
// GridProblem or what wraps it. It proves nothing but that a plan meets the bound.
template <search::Problem P = grid::GridProblem>
class GuidedGridSearch {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;
  static constexpr std::string_view name = "guided";

  // Problem and features must outlive it.
  GuidedGridSearch(const P& problem, const grid::Features& features,
                   std::shared_ptr<const learn::FlatTrees> trees, const GuidedGridOptions& options = {})
      : problem_(problem),
        features_(features),
        trees_(std::move(trees)),
        options_(options),
        bound_(problem.bound(problem.initial())),
        doubter_(guide_of({.most = options.keep, .margin = options.margin})),
        doubts_(problem, doubter_, with_unit(options.doubts, features.mean_time())) {}
  GuidedGridSearch(const GuidedGridSearch&) = delete;
  GuidedGridSearch& operator=(const GuidedGridSearch&) = delete;

  // Goes on until the last sweep is done (true) or the meter is spent.
  bool run(Meter& meter) {
    while (!finished_) {
      if (!(sweep_ ? sweep(meter) : doubt(meter))) return false;
      finished_ = is_proven() || pass_ == guided_passes.size() || guided_passes[pass_].width > options_.width;
      if (!finished_) begin_pass();
    }
    return true;
  }
  void offer(double cost) {
    offered_ = std::min(offered_, cost);
    doubts_.offer(cost);
    if (sweep_) sweep_->offer(cost);
  }

  bool finished() const { return finished_; }
  const search::Incumbent<Kernel>& best() const { return best_; }
  double lower_bound() const { return std::min(bound_, best_.cost); }
  search::Proof proof() const { return is_proven() ? search::Proof::optimal : search::Proof::none; }
  std::uint64_t states() const {
    return states_ + doubts_.states() + (sweep_ && !finished_ ? sweep_->states() : 0);
  }

 private:
  using Guide = GridGuide<P>;

  static DoubtOptions with_unit(DoubtOptions options, double unit) {
    options.unit_of_cost = unit;
    return options;
  }
  Guide guide_of(const Keeping& keeping) const { return {trees_, grid::DecisionRows(features_), keeping}; }
  bool is_proven() const { return best_.found() && meets(bound_, best_.cost); }

  // By doubts, until their share is spent. False: to be continued.
  bool doubt(Meter& meter) {
    const double share = options_.doubts_per_op * features_.ops();
    while (static_cast<double>(doubted_) < share && !is_proven()) {
      if (meter.spent()) return false;
      Meter own({.steps = step_});
      const bool ended = doubts_.run(own);
      meter.charge(own.steps());
      meter.hold(doubts_.bytes());
      doubted_ += own.steps();
      if (doubts_.best().cost < best_.cost) best_ = doubts_.best();
      if (ended) break;
    }
    return true;
  }

  bool sweep(Meter& meter) {
    if (!sweep_->run(meter)) return false;
    if (sweep_->best().cost < best_.cost) best_ = sweep_->best();
    states_ += sweep_->states();
    return true;
  }

  void begin_pass() {
    const GuidedPass pass = guided_passes[pass_++];
    sweeper_.emplace(guide_of({.most = pass.keep, .margin = options_.margin}));
    sweep_.emplace(problem_, *sweeper_, search::SweepOptions{.width = pass.width});
    sweep_->offer(std::min(offered_, best_.cost));
    sweep_->begin(problem_.initial());
  }

  static constexpr std::uint64_t step_ = 1;  // kernels between two looks at the meter

  const P& problem_;
  const grid::Features& features_;
  std::shared_ptr<const learn::FlatTrees> trees_;
  GuidedGridOptions options_;
  double bound_;
  Guide doubter_;
  DoubtSearch<P, Guide> doubts_;
  std::uint64_t doubted_ = 0;  // kernels priced
  std::optional<Guide> sweeper_;
  std::optional<search::Sweep<P, Guide>> sweep_;
  std::size_t pass_ = 0;  // the next
  bool finished_ = false;
  double offered_ = search::infinite_cost;
  std::uint64_t states_ = 0;
  search::Incumbent<Kernel> best_;
};

}  // namespace fuselage::oracle
