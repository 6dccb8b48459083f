// Can a game's score or reward be had without a good schedule? The audit plays the game and looks for
// episodes that break what any sound game owes; it knows these laws, and no exploit:
//
//   reachable   no episode takes less than the best schedule that a judge admits
//   accepted    what a judge refuses is not scored as a schedule
//   price       an episode that a judge admits takes no less than the judge says
//   order       the highest return is not had by a slower schedule than the fastest
//   worst       an episode of the worst score has no higher return than the fastest schedule
//   bounded     saying the same again in one action does not raise the return each time
//   early end   an episode that is cut off scores no better than a whole one
//   wording     order and repetition within a set, and values outside of the form, gain nothing
//   idle        a step that gets no work done is not paid
//
// Each law is searched by itself, from the same seed, with the same number of steps; what is found is cut
// down to the least that keeps the gain. That nothing is found proves nothing. What is found can be replayed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/oracle/audit_game.h"

namespace fuselage::oracle::audit {

struct Options {
  std::uint64_t seed = 0;
  std::uint64_t steps = 400'000;  // of the game, for each search
  std::size_t entries = 100;      // of a list in an action, at most
  // Set by somebody else: searches end where they stand, and so does the audit.
  const std::atomic<bool>* cancel = nullptr;
};

// A whole episode. Where its moves end early, plain ones follow.
struct Play {
  Line moves;
  int max_steps = 0;
  std::vector<Reply> replies = {};  // by move
  std::vector<int> work = {};       // by move: the ops run after it
  double return_sum = 0;            // of the rewards that count
  Standing end = {};
};

struct Finding {
  std::string law;
  std::string owed;        // what a sound game would do, in a sentence
  std::string judge = {};  // against which; none: the game against itself
  std::string code = {};   // what the judge calls it, or which liberty was taken
  std::string what = {};   // the numbers, in a sentence
  double gain = 0;         // in `unit`, against `reference`
  std::string unit = {};   // "latency", "return", "score"
  double reference = 0;    // what was to be had without it
  Play example;
};

struct Report {
  std::string name;
  std::string family;
  std::string rules;
  int ops = 0;
  int max_steps = 0;
  struct Judged {
    std::string judge;
    std::optional<Optimum> best;
  };
  std::vector<Judged> judges = {};
  Play fastest = {};  // that was found, and of those the one of the highest return
  std::vector<Finding> findings = {};
  std::uint64_t steps = 0;  // of the game, in all
};

Report audit(const Game& game, const Options& options);

// Plays the moves to the episode's end.
Play play(const Game& game, Line moves, int max_steps);

}  // namespace fuselage::oracle::audit
