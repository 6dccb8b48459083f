#include "fuselage/oracle/regret.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "fuselage/core/cost.h"
#include "fuselage/oracle/play_answers.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;

constexpr double rounding = same_cost;

// Lists of tensors; one that is named twice is there twice.
using Tensors = std::vector<NodeId>;

Tensors sorted(Tensors ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

// In `a` and not in `b`, both sorted.
Tensors without(const Tensors& a, const Tensors& b) {
  Tensors rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

// How far an action is from what was done: fusing counts for more than any tile, a tile for more than any
// retain set.
std::size_t distance(const Action& a, const Action& taken) {
  constexpr std::size_t dear = std::size_t{1} << 40;
  const Tensors mine = sorted(a.retain), theirs = sorted(taken.retain);
  return 2 * dear * (a.fuse_with_prev != taken.fuse_with_prev) + dear * (a.tile != taken.tile) +
         without(mine, theirs).size() + without(theirs, mine).size();
}

// Judges one step, from the state before it.
class Judge {
 public:
  // `taken` as it was understood, `q` its Q value, `scale` cycles beside which differences are rounding.
  Judge(GraphValues& values, const Episode& before, const Action& taken, double q, double scale)
      : values_(values),
        before_(before),
        after_(before),
        taken_(taken),
        q_(q),
        scale_(scale),
        labels_(values.labels(before)) {}

  StepRegret judge(bool asked_to_fuse) {
    double best = q_, of_fuse = q_, of_tile = q_;
    for (const auto& [action, value] : labels_.actions) {
      best = std::min(best, value.cycles);
      if (action.fuse_with_prev != taken_.fuse_with_prev) continue;
      of_fuse = std::min(of_fuse, value.cycles);
      if (action.tile == taken_.tile) of_tile = std::min(of_tile, value.cycles);
    }
    StepRegret step;
    step.taken = taken_;
    step.proven = labels_.value.proven;
    for (const auto& labelled : labels_.actions) step.proven = step.proven && labelled.value.proven;
    step.best = nearest(best, [](const Action&) { return true; });
    step.regret[fusion_cause(asked_to_fuse)] = lost(of_fuse, best);
    step.regret[Cause::tile_wrong] = lost(of_tile, of_fuse);
    const auto fuses_so = [&](const Action& a) { return a.fuse_with_prev == taken_.fuse_with_prev; };
    step.right_tile = nearest(of_fuse, fuses_so).tile;
    const double retain = lost(q_, of_tile);
    if (retain <= 0) return step;
    const auto tiles_so = [&](const Action& a) { return fuses_so(a) && a.tile == taken_.tile; };
    blame_retain(sorted(nearest(of_tile, tiles_so).retain), of_tile, retain, step);
    return step;
  }

 private:
  // Sums of other orders are no regret.
  double lost(double worse, double better) const {
    return worse - better > rounding * scale_ ? worse - better : 0;
  }

  Cause fusion_cause(bool asked_to_fuse) const {
    if (taken_.fuse_with_prev) return Cause::fused_wrongly;
    return asked_to_fuse ? Cause::fusion_refused : Cause::fusion_broken;
  }

  // Of the actions that are as good as `best` the one most like what was done, which may be just that.
  template <class Among>
  Action nearest(double best, const Among& among) const {
    const Action* result = lost(q_, best) > 0 ? nullptr : &taken_;
    for (const auto& [action, value] : labels_.actions) {
      if (!among(action) || lost(value.cycles, best) > 0) continue;
      if (result == nullptr || distance(action, taken_) < distance(*result, taken_)) result = &action;
    }
    return result == nullptr ? taken_ : *result;
  }

  // Of the action with another retain list.
  double q_with(Tensors retain) {
    after_ = before_;
    after_.step({taken_.fuse_with_prev, taken_.tile, retain});
    return after_.total_latency() - before_.total_latency() + values_.value(after_).cycles;
  }

  void blame_retain(const Tensors& right, double q_right, double retain, StepRegret& step) {
    const Tensors mine = sorted(taken_.retain);
    const Tensors needless = without(mine, right);
    const double gained = q_ - q_with(without(mine, needless));
    step.regret[Cause::retain_needless] = needless.empty() ? 0 : std::clamp(gained, 0.0, retain);
    step.regret[Cause::retain_missed] = retain - step.regret[Cause::retain_needless];
    for (NodeId id : without(right, mine)) {
      const double cost = lost(q_with(without(right, {id})), q_right);
      if (cost > 0) step.missed.push_back({.tensor = id, .cycles = cost});
    }
    if (step.regret[Cause::retain_needless] <= 0) return;
    for (NodeId id : needless)
      step.needless.push_back({.tensor = id, .cycles = lost(q_, q_with(without(mine, {id})))});
    // Where dropping one alone gains nothing, it is all of them together.
    const auto free = [](const RetainFault& fault) { return fault.cycles <= 0; };
    if (!std::all_of(step.needless.begin(), step.needless.end(), free)) std::erase_if(step.needless, free);
  }

  GraphValues& values_;
  const Episode& before_;
  Episode after_;
  const Action& taken_;
  double q_;
  double scale_;
  StateLabels labels_;
};

// As the environment understands an action in a state: `after` is the state after it.
Action understood(Action action, const Episode& before, const Episode& after) {
  action.fuse_with_prev =
      action.fuse_with_prev && before.group().count > 0 && after.error().kind == walk::StepError::Kind::none;
  if (walk::tile_index(action.tile) < 0) action.tile = walk::default_tile;
  return action;
}

}  // namespace

RegretParts& RegretParts::operator+=(const RegretParts& other) {
  for (std::size_t i = 0; i < by_cause.size(); ++i) by_cause[i] += other.by_cause[i];
  return *this;
}

double RegretParts::fuse() const {
  return (*this)[Cause::fusion_broken] + (*this)[Cause::fusion_refused] + (*this)[Cause::fused_wrongly];
}

double RegretParts::retain() const {
  return (*this)[Cause::retain_missed] + (*this)[Cause::retain_needless];
}

EpisodeRegret regret_of(GraphValues& values, const walk::EpisodeContext& context, walk::Rules rules,
                        std::span<const std::string> answers) {
  EpisodeRegret result;
  Episode episode(context, {.rules = rules});
  Episode before = episode;
  result.optimum = values.value(episode).cycles;
  const AnswersPlayed played = play_answers(episode, answers, [&](const Action& action) {
    before = episode;
    const walk::StepResult stepped = episode.step(action);
    const Value rest = values.value(episode);
    const double q = episode.total_latency() - before.total_latency() + rest.cycles;
    const Action taken = understood(action, before, episode);
    const bool asked = action.fuse_with_prev && before.group().count > 0;
    StepRegret step = Judge(values, before, taken, q, result.optimum).judge(asked);
    step.node = before.current_node();
    step.reward = stepped.reward;
    step.proven = step.proven && rest.proven;
    // (A graph whose optimum is free has no gap to speak of.)
    if (result.optimum > 0) step.gap = (episode.total_latency() + rest.cycles) / result.optimum - 1;
    result.regret += step.regret;
    result.proven = result.proven && step.proven;
    result.steps.push_back(std::move(step));
    ++result.played;
    return stepped;
  });
  result.unread = played.unread;
  result.unused = played.unused;
  result.episode_return = played.episode_return;
  result.complete = episode.done();
  result.score = episode.score();
  result.latency = episode.total_latency() + values.value(episode).cycles;
  return result;
}

}  // namespace fuselage::oracle
