// An episode that a client plays over the network, of either family, as texts: what a message says of it is
// appended to the reply that is being written, so that a step copies nothing twice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"
#include "fuselage/walk/episode.h"

namespace fuselage::serve {

struct StepReply {
  double reward = 0;
  bool done = false;
  bool read = true;  // false: the command can't be read, and used no step
};

inline constexpr int most_hint_ops = 128;  // of a graph or problem of which hints are given

class LiveEpisode {
 public:
  virtual ~LiveEpisode() = default;

  virtual std::string_view family() const = 0;  // walk or grid
  virtual StepReply step(std::string_view command) = 0;
  // The environment's text for the present state.
  virtual void append_observation(std::string& out) const = 0;
  // What the last step did, as a JSON object; {} after a step that came after the end.
  virtual void append_info(std::string& out) const = 0;
  // The whole state for debugging, as members of a JSON object without its braces.
  virtual void append_state(std::string& out) const = 0;
  // It holds up whoever waits for the same thread, so it is for graphs that are small enough. Optimal
  // answers, what each answer is worth, and the regret so far: members of a JSON object. Grid: of kernels, by
  // the best completions found. Error where nothing is known.
  virtual void append_hint(std::string& out) = 0;

  virtual int steps() const = 0;
  virtual bool done() const = 0;
  virtual double score() const = 0;  // the environment's, of the episode as it stands
  virtual std::unique_ptr<LiveEpisode> clone() const = 0;
};

struct WalkEpisodeOptions {
  walk::EpisodeOptions rules = {};
  // Of the reward of a step, for the part of fast memory that is held after it; 0: the environment's reward.
  double retention_cost = 0;
  std::uint64_t hint_steps = 200'000;  // kernels priced, at most, of one search of a hint
  double hint_seconds = 2;             // that a hint may take
};
std::unique_ptr<LiveEpisode> live_episode(std::shared_ptr<const walk::EpisodeContext> context,
                                          const WalkEpisodeOptions& options);

struct GridEpisodeOptions {
  grid::RuleSet rules = grid::RuleSet::fusionops;  // or fusionops_honest
  int max_steps = 20;
  bool allow_recomputation = true;
  std::uint64_t hint_steps = 5'000;  // kernels priced, at most, of the search from one state
};
std::unique_ptr<LiveEpisode> live_episode(std::shared_ptr<const grid::Instance> instance,
                                          const GridEpisodeOptions& options);

}  // namespace fuselage::serve
