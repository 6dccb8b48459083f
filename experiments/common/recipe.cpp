#include "recipe.h"

#include <algorithm>
#include <cmath>

namespace fuselage::experiments {

WorldRecipe published_recipe(std::uint64_t seed, double effort) {
  constexpr double all_steps = 3000;
  WorldRecipe recipe;
  recipe.training.seed = seed;
  recipe.training.steps = std::max<std::int64_t>(1, std::llround(all_steps * effort));
  recipe.training.sequences = 64;
  recipe.training.workloads = 16;
  recipe.training.across = true;
  recipe.training.horizon = 16;
  recipe.training.adam.rate = 5e-3;
  recipe.training.losses.matching.weight = 0.1;
  recipe.training.losses.contrast.temperature = 0.1;
  recipe.training.losses.margin = {.weight = 1, .margin = 2};
  return recipe;
}

learn::WorldModel train_world(const learn::StateSequences& set, const WorldRecipe& recipe) {
  learn::WorldModelShape shape = recipe.shape;
  shape.features = set.features;
  shape.facts = set.facts;
  learn::WorldModel model(shape, recipe.training.seed);
  model.standardise(set);
  learn::WorldTraining training(model, set, recipe.training);
  while (!training.finished()) training.step();
  return model;
}

}  // namespace fuselage::experiments
