// What `reset` may ask for, in either dialect, and the episode that it makes. The graphs of the fixed tasks
// are made once and shared by all sessions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/core/json.h"
#include "fuselage/search/split_mix.h"
#include "fuselage/serve/live_episode.h"

namespace fuselage::serve {

struct ResetLimits {
  int max_ops = 1'000;                    // of a graph that a client sends or asks for
  walk::Rules rules = walk::Rules::seed;  // of walk episodes, unless the client says which
  std::uint64_t hint_steps = 200'000;
};

struct Started {
  std::unique_ptr<LiveEpisode> episode;
  std::string name;          // of the task or graph
  std::uint64_t seed = 0;    // of a graph that was drawn: the same seed in another reset draws it again
  std::string warning = {};  // of a graph whose plans mean little; most have none
};

class EpisodeMaker {
 public:
  // `seed` is of graphs for which the client names none.
  EpisodeMaker(const ResetLimits& limits, std::uint64_t seed) : limits_(limits), seeds_(seed) {}

  // Fields, all optional: task; random, with curriculum_level, or num_ops and difficulty; seed; family;
  // rules; graph (a walk graph with hardware, or a grid problem); max_steps; lookahead; retention_cost.
  // Others are passed over. Any thread. Error with the field, the value and what would be right.
  Started start(const JsonField& fields);

 private:
  std::uint64_t seed_of(const JsonField& fields);
  Started start_walk(const JsonField& fields);
  Started start_grid(const JsonField& fields);
  std::shared_ptr<const walk::EpisodeContext> task_context(const std::string& task);

  ResetLimits limits_;
  std::mutex lock_;
  search::SplitMix seeds_;
  std::map<std::string, std::shared_ptr<const walk::EpisodeContext>> tasks_;
};

}  // namespace fuselage::serve
