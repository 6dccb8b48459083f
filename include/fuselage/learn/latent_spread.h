// Is the world model still one? A model that is trained to predict its own latents can make that easy by
// mapping every state to the same point, or to a line; its losses then look excellent. How far latents
// spread, and over how many directions, shows it.
#pragma once

#include <vector>

#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

struct LatentSpread {
  std::vector<double> deviations;  // standard deviation of every dimension
  double mean_deviation = 0;       // of those
  // How many directions the latents use: e to the entropy of the covariance's spectrum, its eigenvalues
  // divided by their sum (Roy, Vetterli, "The effective rank: a measure of effective dimensionality", 2007).
  // From 1 to d; 0 if all latents are the same.
  double effective_rank = 0;
};

// latents [d x n]. Fewer than two spread over nothing. Error if one of their numbers is not finite.
template <class T>
LatentSpread latent_spread(const ConstView<T>& latents);

}  // namespace fuselage::learn
