// An episode of either family as `play` sees it: text in, text and a reward out. What the families share is
// what an agent needs; all else they say in their own words, and as figures for programs.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "families.h"

namespace fuselage::cli {

struct PlayedStep {
  double reward = 0;
  bool done = false;
  bool counted = true;               // an action that can't be read uses no step
  std::string text = {};             // what became of the action, for people
  nlohmann::ordered_json info = {};  // the same, and the state after it
};

// How a game stands, at any time.
struct Standing {
  int steps = 0;
  int max_steps = 0;
  int ops_run = 0;
  int ops = 0;
  bool done = false;
  bool complete = false;  // all that had to be done is done
  double latency = 0;     // cycles, of grid problems time units
  double naive_latency = 0;
  int overflows = 0;      // kernels that needed more than fast memory
  double return_sum = 0;  // of the rewards of steps that count
};

class Game {
 public:
  Game() = default;
  Game(const Game&) = delete;
  Game& operator=(const Game&) = delete;
  virtual ~Game() = default;

  virtual std::string observation() const = 0;
  virtual PlayedStep step(std::string_view action) = 0;
  virtual Standing standing() const = 0;
  virtual std::optional<double> greedy_latency() const = 0;  // None: greedy finds no schedule
  // Figures of an end: "score 0.669, README 0.802", and by name; null where there is no score yet.
  virtual std::string score_text() const = 0;
  virtual nlohmann::ordered_json scores() const = 0;
  virtual std::string store_key() const = 0;
};

struct GameOptions {
  AnyRules rules = walk::Rules::seed_honest;  // of the target's family
  std::optional<int> max_steps = {};          // none: the task's
  // Grid:
  bool examples = false;  // the observation ends with actions that would be valid
  bool allow_recomputation = true;
};
// The target must outlive the game. Error for rules without episodes.
std::unique_ptr<Game> make_walk_game(const Workload& workload, const GameOptions& options);
std::unique_ptr<Game> make_grid_game(const GridTarget& target, const GameOptions& options);

}  // namespace fuselage::cli
