// The optimum of an episode by brute force: it steps the public game itself with every action, knows no
// kernels and shares nothing with the engine. "Every" means both values of fuse, four tiles, and every retain
// list that holds each id of the graph not at all, once or twice, and each id alone 64 times (enough to make
// any group invalid); the order of entries does not matter to latencies.
//
// What is remembered: a step that does not fuse closes the open group, so what follows depends only on what
// is resident then; a step that fuses replaces tile and retain list, so what follows does not depend on the
// old ones. What closing costs and leaves is read off a twin episode that is cut (max_steps) where this one
// stands.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "fuselage/walk/episode.h"

namespace fuselage::walk {

// An episode and the actions that led to it.
struct Played {
  Episode episode;
  std::vector<Action> history;

  void step(const Action& action) {
    episode.step(action);
    history.push_back(action);
  }
};

class BruteEpisode {
 public:
  explicit BruteEpisode(const EpisodeContext& context) : context_(context) {
    lists_.emplace_back();
    for (NodeId x = 0; x < context.graph().size(); ++x) {
      const std::size_t count = lists_.size();
      for (std::size_t copies = 1; copies <= 2; ++copies) {
        for (std::size_t i = 0; i < count; ++i) {
          std::vector<NodeId> longer = lists_[i];
          longer.insert(longer.end(), copies, x);
          lists_.push_back(std::move(longer));
        }
      }
    }
    for (NodeId x = 0; x < context.graph().size(); ++x) lists_.emplace_back(64, x);
  }

  // Least latency to come.
  double value(const Played& at) {
    if (at.episode.done()) return 0;
    double best = start_new(at);
    if (at.episode.group().count > 0) best = std::min(best, fuse(at));
    return best;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  using Key = std::tuple<int, int, int, std::vector<NodeId>>;

  double start_new(const Played& at) {
    const Episode& episode = at.episode;
    double closing = 0;
    std::vector<NodeId> resident = episode.fast_mem();
    if (episode.group().count > 0) {
      Episode twin(context_, {.rules = episode.rules(), .max_steps = episode.steps()});
      for (const Action& action : at.history) twin.step(action);
      closing = twin.total_latency() - episode.total_latency();
      resident = twin.fast_mem();
    }
    const Key key{episode.position(), -1, 0, std::move(resident)};
    if (const auto known = known_.find(key); known != known_.end()) return closing + known->second;
    double best = infinity;
    for_each_action(at, false, [&](const Played& next) {
      best = std::min(best, next.episode.total_latency() - episode.total_latency() - closing + value(next));
    });
    known_[key] = best;
    return closing + best;
  }

  double fuse(const Played& at) {
    const Episode& episode = at.episode;
    const Key key{episode.position(), episode.group().first, episode.group().count, episode.fast_mem()};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    double best = infinity;
    for_each_action(at, true, [&](const Played& next) {
      if (next.episode.error().kind != StepError::Kind::none) return;
      best = std::min(best, next.episode.total_latency() - episode.total_latency() + value(next));
    });
    known_[key] = best;
    return best;
  }

  template <class Visit>
  void for_each_action(const Played& at, bool fuse, Visit visit) {
    for (int tile : tiles) {
      for (const auto& retain : lists_) {
        Played next = at;
        next.step({.fuse_with_prev = fuse, .tile = tile, .retain = retain});
        visit(next);
      }
    }
  }

  const EpisodeContext& context_;
  std::vector<std::vector<NodeId>> lists_;
  std::map<Key, double> known_;
};

}  // namespace fuselage::walk
