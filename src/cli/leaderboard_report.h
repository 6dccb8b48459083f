// A leaderboard as a table for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "leaderboard_board.h"

namespace fuselage::cli {

std::string board_table(const Board& board);
extern const char* const board_legend;  // once, after the tables
nlohmann::ordered_json board_json(const Board& board);

}  // namespace fuselage::cli
