// The kinds of golden rows, one check each. All throw Error for a row that is malformed.
#pragma once

#include "fuselage/core/json.h"
#include "replay_row.h"

namespace fuselage::oracle {

// Episodes as recorded under `seed`: every step's reward, state, error and score; observations if the row has
// them.
void replay_episode(const JsonField& row, RowCheck& check);
// Observations of a row without a game, against the game of the episode row.
void replay_observations(const JsonField& row, const JsonField& episode, RowCheck& check);

// A graph drawn from the random stream. `line` is the row's text: a seed may have more digits than numbers
// hold.
void replay_generator(const JsonField& row, std::string_view line, RowCheck& check);

// One of the fixed tasks, under its name.
void replay_task(const JsonField& task, std::string_view name, RowCheck& check);

// The optimum under `seed` and `seed-honest`, found anew, and the recorded schedule that reaches it.
void replay_optima(const JsonField& row, RowCheck& check);

// The optimum under `physical`, or why there is no schedule.
void replay_physical(const JsonField& row, RowCheck& check);
// A plan that `physical` refuses.
void replay_physical_illegal(const JsonField& row, RowCheck& check);

// An episode of the grid family under `fusionops`: every field of every step, and of the end.
void replay_fusionops(const JsonField& row, RowCheck& check);

// A plan of the grid family under `mlsys`: what each step costs and holds, or the rule that it breaks.
void replay_mlsys(const JsonField& row, RowCheck& check);

}  // namespace fuselage::oracle
