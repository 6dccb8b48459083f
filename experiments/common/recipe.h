// The published recipe for world models of schedules, with the figures that came out best here
// (experiments/fidelity says what else was tried).
#pragma once

#include <cstdint>

#include "fuselage/learn/world_model.h"

namespace fuselage::experiments {

struct WorldRecipe {
  learn::WorldModelShape shape = {};  // but for what the data says
  learn::WorldTrainingOptions training = {};
};

// `effort`: part of the steps.
WorldRecipe published_recipe(std::uint64_t seed, double effort = 1);

learn::WorldModel train_world(const learn::StateSequences& set, const WorldRecipe& recipe);

}  // namespace fuselage::experiments
