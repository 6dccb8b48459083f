// One live session, and what can be said of it in the two dialects that the server speaks: the environment's
// own, whose clients read fields at the top of a message, and OpenEnv's, where they are within `data`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fuselage/serve/hub.h"

namespace fuselage::serve {

enum class Dialect : std::uint8_t { own, openenv };

struct Session {
  Session(std::string session_id, Slot taken, Started made)
      : id(std::move(session_id)),
        slot(std::move(taken)),
        episode(std::move(made.episode)),
        name(std::move(made.name)),
        seed(made.seed),
        warning(std::move(made.warning)) {}

  std::string id;
  Slot slot;
  std::unique_ptr<LiveEpisode> episode;
  std::string name;
  std::uint64_t seed;
  std::string warning;  // of its graph, for those who begin an episode of it
  // By which the reading of each command is counted and answered.
  StepReply last = {};
};

// Members of a JSON object, without its braces.
//
// own:     "observation": TEXT, "reward": r, "done": d[, "info": {...}][, "score": s]
// openenv: "observation": {"text": TEXT, "family": F}, "reward": r, "done": d, "metadata": {...}
void append_reset(std::string& out, Dialect dialect, const Session& session);
void append_step(std::string& out, Dialect dialect, const Session& session);
// openenv also has episode_id and step_count.
void append_state(std::string& out, Dialect dialect, const Session& session);

// Counts it, and steps.
void step(Hub& hub, Session& session, std::string_view command);

// Of a step in OpenEnv's way: the fields of an action, or its text as `command`. Error for anything else.
std::string command_of(const JsonField& action);

}  // namespace fuselage::serve
