// What every decision of an agent cost: of each action the regret, by how much the least latency of the whole
// episode rises with it, and to which of the three decisions it is owed. The parts are exact and add up:
//
//   fuse    least Q among the actions that fuse as this one did   − least Q of all
//   tile    least Q among those of its tile, too                  − the former
//   retain  Q of the action                                       − the former
//
// The regrets of a whole episode add up to its latency minus the optimum. Answers are read as the environment
// reads them: one that can't be read uses no step and loses nothing but its reward.
//
// Each part has a cause in words. Of what is owed to retaining, with R the retain list of the action and R*
// the nearest of the best sets that go with its fusing and tile (fewest tensors to add or to drop):
//
//   needless  Q(R) − Q(R ∩ R*), what dropping the wrong tensors gains by itself, within 0 and the whole part
//   missed    the rest
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/oracle/graph_values.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

enum class Cause : std::uint8_t {
  fusion_broken,   // a new kernel, where fusing is better
  fusion_refused,  // the same, and fusing was asked for, with a tile and a retain list that don't fit
  fused_wrongly,   // fused, where a new kernel is better
  tile_wrong,
  retain_missed,
  retain_needless,
};
inline constexpr std::array<std::string_view, 6> cause_names = {
    "fusion broken", "fusion refused", "fused wrongly", "tile wrong", "retain missed", "retain needless"};

struct RegretParts {
  std::array<double, cause_names.size()> by_cause = {};  // cycles

  double& operator[](Cause cause) { return by_cause[static_cast<std::size_t>(cause)]; }
  double operator[](Cause cause) const { return by_cause[static_cast<std::size_t>(cause)]; }
  RegretParts& operator+=(const RegretParts& other);

  double fuse() const;
  double tile() const { return (*this)[Cause::tile_wrong]; }
  double retain() const;
  double total() const { return fuse() + tile() + retain(); }
};

// A tensor that R* has and R hasn't (missed), with what R* would cost more without it alone; or one that R
// has and R* hasn't (needless), with what R would cost less without it alone.
struct RetainFault {
  NodeId tensor = 0;
  double cycles = 0;
};

struct StepRegret {
  NodeId node = 0;
  walk::Action taken;  // as the environment understood it: fuse is false if it was refused
  walk::Action best;   // an optimal one, the most like it
  RegretParts regret;
  int right_tile = walk::default_tile;   // a best one for the kernel as it was fused; its own if that is one
  std::vector<RetainFault> missed = {};  // by tensor
  std::vector<RetainFault> needless = {};  // by tensor, those that cost something; all if it takes several
  double reward = 0;                       // the environment's
  double gap = 0;      // of the episode as it stands: (spent + least still to come) / optimum − 1
  bool proven = true;  // are all values that this rests on?
};

struct EpisodeRegret {
  std::vector<StepRegret> steps;
  int played = 0;  // steps
  RegretParts regret;
  double latency = 0;         // cycles, if optimal actions follow where the answers end
  double optimum = 0;         // cycles
  double score = 0;           // the environment's, of the episode as far as it was played
  double episode_return = 0;  // sum of its rewards, penalties of answers that can't be read included
  int unread = 0;             // answers that can't be read
  int unused = 0;             // answers after the end
  bool complete = true;       // did the answers reach the end?
  bool proven = true;
};

// `values` must be of the context and the rules.
EpisodeRegret regret_of(GraphValues& values, const walk::EpisodeContext& context, walk::Rules rules,
                        std::span<const std::string> answers);

}  // namespace fuselage::oracle
