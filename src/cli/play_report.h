// What `play` prints of an episode: words for people, or a JSON object a line for programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "play_game.h"

namespace fuselage::cli {

// What is printed of a game beside the game itself.
struct GameTitle {
  std::string name;
  std::string_view family;
  std::string_view rules;
  std::optional<double> best_known = {};  // latency of the best plan in the store
};

// Title, step and observation are parts of what is shown, the end is one line.
std::string begin_text(const GameTitle& title, const Standing& standing);
std::string observation_text(const Game& game);
std::string step_text(const PlayedStep& step, int steps);
std::string end_text(const Game& game, const GameTitle& title, const Standing& standing);

// {step, action, observation, reward, done, info}; action and reward are null before the first step.
std::string begin_json(const Game& game, const GameTitle& title);
std::string step_json(const Game& game, const PlayedStep& step, const std::string& action);
// {action: null, name, ..., finished, complete, ..., return}; figures that don't exist are null.
std::string end_json(const Game& game, const GameTitle& title, const Standing& standing);

}  // namespace fuselage::cli
