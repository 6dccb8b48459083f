// Which states a data set visits: those that policies get into, mixed as the user says. A model that has seen
// the states of optimal play only doesn't know what to do after its first mistake.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/search/split_mix.h"

namespace fuselage::oracle {

enum class VisitKind : std::uint8_t {
  optimal,    // optimal answers
  erring,     // these, but for a part of the steps, which are any of the state's canonical answers
  random,     // a random legal schedule
  reference,  // one of headroom.h's policies, or for grid problems one of GridProblem's plans
};

struct VisitPolicy {
  std::string name;  // as rows have it, and as it was written
  VisitKind kind = VisitKind::optimal;
  double epsilon = 0;  // of erring
  // The policy's name in headroom.h; for grid problems "greedy" or "naive".
  std::string_view reference = {};
};

struct MixPart {
  VisitPolicy policy;
  double weight = 1;
};
using PolicyMix = std::vector<MixPart>;

// "optimal:0.5,eps0.1:0.3,greedy:0.2"; without a weight it is 1. Names: optimal, epsP (0 < P <= 1), random,
// greedy, heuristic, constant32/64/128/256 (fuse where it can be done), alone32/... (never fuse). Error that
// begins with `option`.
PolicyMix parse_policy_mix(std::string_view text, const std::string& option);
// The same for grid problems: optimal, epsP, random, greedy and naive (every op alone).
PolicyMix parse_grid_policy_mix(std::string_view text, const std::string& option);

// One of them by its weight.
const VisitPolicy& draw_policy(const PolicyMix& mix, search::SplitMix& random);

}  // namespace fuselage::oracle
