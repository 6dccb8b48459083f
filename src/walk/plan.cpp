#include "fuselage/walk/plan.h"

namespace fuselage::walk {

std::vector<Action> actions_of(const Plan& plan) {
  std::vector<Action> actions;
  for (const PlanKernel& kernel : plan) {
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
      Action action{.fuse_with_prev = i > 0, .tile = 32, .retain = {}};
      if (i + 1 == kernel.nodes.size()) {
        action.tile = kernel.tile;
        action.retain = kernel.retain;
      }
      actions.push_back(std::move(action));
    }
  }
  return actions;
}

}  // namespace fuselage::walk
