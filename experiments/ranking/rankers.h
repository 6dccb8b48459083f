// The rankers that are compared. What each is shown of a schedule is its point:
//
//   random              nothing
//   static initial      the workload and the state before the first token, which all schedules of a graph
//                       share: it can't rank them, whatever is made of it
//   static final        the state after the last token
//   action bag          sums, means and maxima over the tokens of what an action and its op say, whatever was
//                       done before; nothing about residents. By trees, and by a small network
//   token bag           the same of all token features, those about residents and the open kernel included
//   no memory, window   a network that sees the last 1 or 4 tokens and adds up what it makes of them
//   paper recipe        a world model (TransH) trained without costs; trees on its prediction of the terminal
//                       latent and on the action bag
//   recurrent           the scorer that `fuselage train` trains, with each of three transitions
//   features            trees on the token bag and on sums of prices: a reference, since it prices
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drawn.h"

namespace fuselage::experiments {

struct Recipe {
  std::uint64_t seed = 0;
  int epochs = 36;        // of networks on tokens
  double increments = 0;  // their weight for what each token costs
  double effort = 1;      // of world models and trees, as a part of the whole
};

// Of every schedule of a set, higher is better.
using Scores = std::function<std::vector<float>(const Set&)>;

struct Trained {
  std::string name;
  Scores scores;
};

// What is trained together. The same recipe and set give the same scores, from any thread.
struct Ranker {
  std::vector<std::string> names;  // of what it trains, in order
  std::function<std::vector<Trained>(const Set& train, const Recipe& recipe)> train;
};

std::vector<Ranker> rankers();

// Token features that an action bag has: of an action and its op, whatever was done before. What of its
// inputs an action retains is known without those that were resident already.
const std::vector<std::string>& action_features();

}  // namespace fuselage::experiments
