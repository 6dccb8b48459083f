// Search over the episodes of a game that nothing is known of: hill climbers side by side change moves, and
// keep what does not make the goal worse. A goal is any figure of a played episode, so that one search serves
// every law of the audit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "fuselage/core/cost.h"
#include "fuselage/oracle/audit.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::oracle::audit {

inline constexpr double rounding = same_cost;  // relative: less is no gain
inline constexpr double never = -std::numeric_limits<double>::infinity();

inline bool is_less(double a, double b) {
  return a < b - rounding * std::max(std::abs(a), std::abs(b));
}

// What searches may do beside what agents are told.
struct Liberties {
  bool repeats = false;     // say an entry of a set again
  bool odd = false;         // values that are no words of the game
  bool unreadable = false;  // answers that are no action
};

// Changes moves without knowing what they mean.
class Changer {
 public:
  Changer(const Game& game, const Liberties& liberties, std::size_t entries, search::SplitMix& random)
      : form_(game.form()),
        plain_(game.plain()),
        liberties_(liberties),
        longest_(2 * static_cast<std::size_t>(game.max_steps())),
        entries_(entries),
        random_(random) {}

  void change(Line& line);

 private:
  using Values = std::vector<std::int64_t>;
  std::int64_t value_of(const Field& field);
  void change_field(Line& line, std::size_t at, std::size_t field);
  void change_list(Line& line, std::size_t at, std::size_t field);
  void change_order(Line& line, std::size_t at);
  void tidy(const Field& field, Values& values) const;

  const std::vector<Field>& form_;
  Move plain_;
  Liberties liberties_;
  std::size_t longest_;  // moves of a line
  std::size_t entries_;  // of a list
  search::SplitMix& random_;
};

// Steps of the game that a search has left.
struct Allowance {
  std::uint64_t left = 0;
  std::uint64_t spent = 0;
  const std::atomic<bool>* cancel = nullptr;  // set: nothing is left
  void charge(std::uint64_t steps) {
    spent += steps;
    left = cancel && *cancel ? 0 : left - std::min(left, steps);
  }
};

struct Search {
  // More is better, `never` is not allowed. What can't reach `enough` need not be worked out.
  std::function<double(const Play&, double enough)> goal;
  std::vector<Line> starts;
  Liberties liberties = {};
  int max_steps = 0;
  std::size_t entries = 0;
  std::uint64_t seed = 0;
};

struct Found {
  double value = never;
  Play play = {};
  explicit operator bool() const { return value > never; }
};
Found climb(const Game& game, const Search& search, Allowance& allowance);

// Replaces moves by plain ones, drops them, takes entries off lists, while the play passes.
Play minimise(const Game& game, Play play, const std::function<bool(const Play&)>& passes,
              Allowance& allowance);

}  // namespace fuselage::oracle::audit
