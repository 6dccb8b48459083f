// Plays what an agent answered, as the environment does: an answer that can't be read pays its penalty and
// uses no step, and what is said after the end counts for nothing. One loop, so that regret, habits and
// scores of a transcript are of the same episode.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "fuselage/walk/answer.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

struct AnswersPlayed {
  int unread = 0;             // answers that can't be read
  int unused = 0;             // answers after the end, readable or not
  double episode_return = 0;  // sum of the rewards in their order, parse_error_reward of the unread included
};

// `step(action)` must step the episode and return its StepResult.
template <class Step>
AnswersPlayed play_answers(walk::Episode& episode, std::span<const std::string> answers, const Step& step) {
  AnswersPlayed played;
  for (const std::string& answer : answers) {
    if (episode.done()) {
      ++played.unused;
      continue;
    }
    if (const std::optional<walk::Action> action = walk::parse_answer(answer)) {
      played.episode_return += step(*action).reward;
    } else {
      ++played.unread;
      played.episode_return += walk::parse_error_reward;
    }
  }
  return played;
}

// What the environment says of an episode at the end of the answers.
struct EpisodeOutcome {
  AnswersPlayed played;
  bool complete = false;  // did they reach the end? If not, the figures below are of the part that was played
  double latency = 0;     // cycles
  double score = 0;       // improvement / 0.2 within -1 and 1
  double improvement = 0;  // (greedy - latency) / greedy
};

inline EpisodeOutcome outcome_of(const walk::EpisodeContext& context, walk::Rules rules,
                                 std::span<const std::string> answers) {
  walk::Episode episode(context, {.rules = rules});
  EpisodeOutcome outcome;
  outcome.played =
      play_answers(episode, answers, [&](const walk::Action& action) { return episode.step(action); });
  outcome.complete = episode.done();
  outcome.latency = episode.total_latency();
  outcome.score = episode.score();
  outcome.improvement = episode.improvement();
  return outcome;
}

}  // namespace fuselage::oracle
