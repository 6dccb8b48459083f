#include "fuselage/oracle/regret.h"

#include <algorithm>
#include <limits>

#include "fuselage/walk/answer.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;

constexpr double rounding = 1e-9;

bool same_retain(std::vector<NodeId> a, std::vector<NodeId> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// Of actions that cost alike the one that has most in common with what was done.
int likeness(const Action& a, const Action& taken) {
  return 4 * (a.fuse_with_prev == taken.fuse_with_prev) + 2 * (a.tile == taken.tile) +
         same_retain(a.retain, taken.retain);
}

// Sums of other orders are no regret.
double lost(double worse, double better, double scale) {
  return worse - better > rounding * scale ? worse - better : 0;
}

StepRegret judge(const StateLabels& labels, const Action& taken, double q, double scale) {
  double best = q, of_fuse = q, of_tile = q;
  for (const auto& [action, value] : labels.actions) {
    best = std::min(best, value.cycles);
    if (action.fuse_with_prev != taken.fuse_with_prev) continue;
    of_fuse = std::min(of_fuse, value.cycles);
    if (action.tile == taken.tile) of_tile = std::min(of_tile, value.cycles);
  }
  StepRegret step;
  step.taken = step.best = taken;
  step.regret = {.fuse = lost(of_fuse, best, scale),
                 .tile = lost(of_tile, of_fuse, scale),
                 .retain = lost(q, of_tile, scale)};
  step.proven = labels.value.proven;
  int most = -1;
  for (const auto& [action, value] : labels.actions) {
    step.proven = step.proven && value.proven;
    if (lost(value.cycles, best, scale) > 0 || likeness(action, taken) <= most) continue;
    most = likeness(action, taken);
    step.best = action;
  }
  return step;
}

}  // namespace

EpisodeRegret regret_of(GraphValues& values, const walk::EpisodeContext& context, walk::Rules rules,
                        std::span<const std::string> answers) {
  EpisodeRegret result;
  Episode episode(context, {.rules = rules});
  result.optimum = values.value(episode).cycles;
  for (const std::string& answer : answers) {
    if (episode.done()) {
      ++result.unused;
      continue;
    }
    std::optional<Action> action = walk::parse_answer(answer);
    if (!action) {
      ++result.unread;
      continue;
    }
    const StateLabels labels = values.labels(episode);
    const NodeId node = episode.current_node();
    const double spent = episode.total_latency();
    const bool had_group = episode.group().count > 0;
    const int group_first = episode.group().first;
    episode.step(*action);
    action->fuse_with_prev = had_group && action->fuse_with_prev &&
                             episode.error().kind == walk::StepError::Kind::none &&
                             episode.group().first == group_first;
    if (walk::tile_index(action->tile) < 0) action->tile = walk::default_tile;
    const Value rest = values.value(episode);
    const double q = episode.total_latency() - spent + rest.cycles;
    StepRegret step = judge(labels, *action, q, result.optimum);
    step.node = node;
    step.proven = step.proven && rest.proven;
    // (A graph whose optimum is free has no gap to speak of.)
    if (result.optimum > 0) step.gap = (episode.total_latency() + rest.cycles) / result.optimum - 1;
    result.regret.fuse += step.regret.fuse;
    result.regret.tile += step.regret.tile;
    result.regret.retain += step.regret.retain;
    result.proven = result.proven && step.proven;
    result.steps.push_back(std::move(step));
  }
  result.complete = episode.done();
  result.score = episode.score();
  result.latency = episode.total_latency() + values.value(episode).cycles;
  return result;
}

}  // namespace fuselage::oracle
