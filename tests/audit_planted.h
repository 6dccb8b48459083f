// A sound game, and the same with a flaw of one's choice. The sound one is the walk family under seed-honest
// with what its rules owe put right: a retain list is a set of what is there, a tile that is none is 128, the
// reward is the score at the end and nothing before, and who does not finish has the worst score. The audit
// sees it through its interface only.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/oracle/audit_games.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle::audit {

// What a flaw sees: the moves as they were worded, and the game that they are played in.
struct Seen {
  const Line& worded;
  const walk::Episode& episode;
  const walk::Plan& plan;  // the kernels so far
};

struct Flaw {
  std::function<double(const Seen&)> latency_off = {};  // at the end
  std::function<double(const Seen&)> paid = {};         // for the last move, beside the reward
  bool unread_pays = false;
  bool scores_unfinished = false;
};

inline walk::Action tidied(const Move& move, int nodes) {
  const auto tile = static_cast<int>(move.fields[1].front());
  walk::Action action{.fuse_with_prev = move.fields[0].front() != 0,
                      .tile = walk::tile_index(tile) < 0 ? walk::default_tile : tile,
                      .retain = {}};
  for (const std::int64_t id : move.fields[2])
    if (id >= 0 && id < nodes) action.retain.push_back(static_cast<NodeId>(id));
  std::sort(action.retain.begin(), action.retain.end());
  action.retain.erase(std::unique(action.retain.begin(), action.retain.end()), action.retain.end());
  return action;
}

class PlantedEpisode : public Episode {
 public:
  PlantedEpisode(const walk::EpisodeContext& context, int max_steps, const Flaw& flaw)
      : episode_(context, {.rules = walk::Rules::seed_honest, .max_steps = max_steps}), flaw_(flaw) {}

  Reply step(const Move& move) override {
    if (move.unreadable)
      return {.reward = flaw_.unread_pays ? 0.03 : -0.1, .done = episode_.done(), .counted = false};
    worded_.push_back(move);
    actions_.push_back(tidied(move, episode_.context().graph().size()));
    Reply reply{.reward = 0, .done = episode_.step(actions_.back()).done};
    if (flaw_.paid) reply.reward += flaw_.paid({worded_, episode_, {}});
    if (reply.done) reply.reward += standing().score;
    return reply;
  }

  Standing standing() const override {
    Standing standing{.latency = episode_.total_latency(),
                      .score = episode_.score(),
                      .work = episode_.position(),
                      .done = episode_.done()};
    standing.complete = standing.done && standing.work == episode_.context().graph().size();
    if (standing.done && flaw_.latency_off) {
      const walk::Plan plan = oracle::play(episode_.context(), walk::Rules::seed_honest, actions_);
      standing.latency -= flaw_.latency_off({worded_, episode_, plan});
      const double greedy = episode_.context().greedy_latency();
      standing.score = std::clamp((greedy - standing.latency) / greedy / 0.2, -1.0, 1.0);
    }
    if (!standing.complete && !flaw_.scores_unfinished) standing.score = -1;
    return standing;
  }

 private:
  walk::Episode episode_;
  const Flaw& flaw_;
  Line worded_;
  std::vector<walk::Action> actions_;
};

class PlantedGame : public Game {
 public:
  explicit PlantedGame(const Workload& workload, Flaw flaw = {})
      : workload_(workload),
        context_(workload),
        base_(make_walk_game(workload, walk::Rules::seed_honest)),
        flaw_(std::move(flaw)) {
    const Judge& own = base_->judges().front();
    judges_.push_back({.name = "the sound game",
                       .verdict = [this](std::span<const Move> moves) { return verdict(moves); },
                       .best = own.best});
  }

  std::string name() const override { return base_->name(); }
  std::string family() const override { return base_->family(); }
  std::string rules() const override { return "planted"; }
  int ops() const override { return base_->ops(); }
  int max_steps() const override { return base_->max_steps(); }
  const std::vector<Field>& form() const override { return base_->form(); }
  Move plain() const override { return base_->plain(); }
  std::unique_ptr<Episode> start(int max_steps) const override {
    return std::make_unique<PlantedEpisode>(context_, max_steps, flaw_);
  }
  std::string text(const Move& move) const override { return base_->text(move); }
  std::vector<Line> openings() const override { return base_->openings(); }
  const std::vector<Judge>& judges() const override { return judges_; }

  const Workload& workload() const { return workload_; }
  std::vector<walk::Action> actions(std::span<const Move> moves) const {
    std::vector<walk::Action> actions;
    for (const Move& move : moves)
      if (!move.unreadable) actions.push_back(tidied(move, ops()));
    return actions;
  }
  walk::Plan plan(std::span<const Move> moves) const {
    return oracle::play(context_, walk::Rules::seed_honest, actions(moves));
  }
  // How many of the moves were refused a fuse.
  int refused(std::span<const Move> moves) const {
    walk::Episode episode(context_, {.rules = walk::Rules::seed_honest});
    int count = 0;
    for (const walk::Action& action : actions(moves)) {
      episode.step(action);
      count += episode.error().kind != walk::StepError::Kind::none ? 1 : 0;
    }
    return count;
  }

 private:
  Verdict verdict(std::span<const Move> moves) const {
    const Simulation simulation =
        simulate(workload_.graph, workload_.hardware, plan(moves), {.rules = walk::Rules::seed_honest});
    Verdict verdict{.latency = simulation.latency};
    if (simulation.fault)
      verdict.breaches.push_back(
          {.code = std::string(oracle::name(simulation.fault->code)), .message = simulation.fault->message});
    return verdict;
  }

  Workload workload_;
  walk::EpisodeContext context_;
  std::unique_ptr<Game> base_;
  Flaw flaw_;
  std::vector<Judge> judges_;
};

}  // namespace fuselage::oracle::audit
