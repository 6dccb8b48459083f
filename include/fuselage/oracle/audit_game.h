// A game as the audit sees it: a black box that is stepped and answers with a reward, a latency and a score.
// The audit knows no rules. What it knows of an action is its form (fields with values, some of which are no
// words of the game), and what a sound game owes (audit.h). A game may name judges: stricter readings of the
// same moves, of which the audit knows no more than that a schedule takes as long as they say and breaks what
// they say it breaks. A rule set of one's own is audited by writing an adaptor of this interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fuselage::oracle::audit {

// What a field of an action holds: one value; values of which neither order nor repetition should matter; or
// a list whose order means something.
enum class FieldKind : std::uint8_t { choice, set, sequence };

struct Field {
  std::string name;
  FieldKind kind = FieldKind::choice;
  std::vector<std::int64_t> values = {};  // what agents are told to say
  std::vector<std::int64_t> odd = {};     // what they may say all the same; it should gain them nothing
};

// By field of the form, its values; a choice has one.
struct Move {
  std::vector<std::vector<std::int64_t>> fields = {};
  bool unreadable = false;  // an answer that no game can read; the fields don't matter then

  friend bool operator==(const Move&, const Move&) = default;
};
using Line = std::vector<Move>;

struct Reply {
  double reward = 0;
  bool done = false;
  bool counted = true;  // in the return, and as a step
};

struct Standing {
  double latency = 0;
  double score = 0;  // what the game says once it is done
  int work = 0;      // how much of what has to be done is done: ops run, each once
  bool done = false;
  bool complete = false;  // all the work is done
};

class Episode {
 public:
  Episode() = default;
  Episode(const Episode&) = delete;
  Episode& operator=(const Episode&) = delete;
  virtual ~Episode() = default;

  virtual Reply step(const Move& move) = 0;
  virtual Standing standing() const = 0;
};

// What a judge names: "RETAIN", and a sentence.
struct Breach {
  std::string code;
  std::string message;
};

struct Verdict {
  double latency = 0;                 // what the moves take; says nothing after a breach
  std::vector<Breach> breaches = {};  // none: a schedule that the judge admits
};

struct Optimum {
  double latency = 0;
  bool proven = false;
};

struct Judge {
  std::string name;
  std::function<Verdict(std::span<const Move>)> verdict;
  std::optional<Optimum> best = {};  // of the schedules that it admits, if somebody knows
};

class Game {
 public:
  Game() = default;
  Game(const Game&) = delete;
  Game& operator=(const Game&) = delete;
  virtual ~Game() = default;

  virtual std::string name() const = 0;    // of the graph or the problem
  virtual std::string family() const = 0;  // as `fuselage play` calls it
  virtual std::string rules() const = 0;
  virtual int ops() const = 0;
  virtual int max_steps() const = 0;  // of an episode, as the game has it
  virtual const std::vector<Field>& form() const = 0;
  virtual Move plain() const = 0;  // asks for as little as an action can
  virtual std::unique_ptr<Episode> start(int max_steps) const = 0;
  virtual std::string text(const Move& move) const = 0;  // as an agent writes it
  virtual std::vector<Line> openings() const = 0;        // where searches begin, beside plain moves
  virtual const std::vector<Judge>& judges() const = 0;
};

}  // namespace fuselage::oracle::audit
