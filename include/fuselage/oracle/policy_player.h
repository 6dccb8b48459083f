// What a simple policy (headroom.h) answers in the state that an episode is in.
#pragma once

#include <vector>

#include "fuselage/oracle/headroom.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

// None of the policies looks further than the node.
class PolicyPlayer {
 public:
  PolicyPlayer(const Workload& workload, const Policy& policy);
  walk::Action act(const walk::Episode& episode) const;

 private:
  Policy policy_;
  std::vector<walk::Action> script_;  // of greedy, by position
};

}  // namespace fuselage::oracle
