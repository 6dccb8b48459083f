// The latent world model: an encoder maps states to latents, and a transition predicts, from the latent of
// one state and the tokens of what is done then, the latents of the states to come, without looking at the
// graph. Trained by comparing predicted latents with encoded ones (losses.h): matching, contrast, margin,
// each with its weight. This is the published recipe for world models of schedules; what it is worth for
// ranking is measured, not assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fuselage/learn/adam.h"
#include "fuselage/learn/latent_spread.h"
#include "fuselage/learn/losses.h"
#include "fuselage/learn/mlp.h"
#include "fuselage/learn/rollout.h"
#include "fuselage/learn/standard.h"

namespace fuselage::learn {

// Sequences of tokens with the states between them: state k of a sequence is the one after its first k
// tokens, so that there is one more than there are tokens. Sequence i has the tokens first[i] … first[i + 1]
// − 1.
struct StateSequences {
  Index features = 0;              // of a token
  Index facts = 0;                 // of a state
  std::vector<float> tokens = {};  // token by token
  std::vector<float> states = {};  // state by state
  // State by state: does it follow from the first one and the tokens up to it? Inside a kernel it may not,
  // since a token doesn't say whether the kernel goes on. Only such states are started from and predicted.
  std::vector<char> settled = {};
  std::vector<std::int64_t> groups = {};  // of each sequence: its workload
  std::vector<std::size_t> first = {0};

  std::size_t sequences() const { return groups.size(); }
  std::size_t length(std::size_t i) const { return first[i + 1] - first[i]; }
  std::size_t first_state(std::size_t i) const { return first[i] + i; }

  // `are_settled`: a number a state, 0 or 1; all are if it is empty.
  void add(std::span<const float> token_rows, std::span<const float> state_rows, std::int64_t group,
           std::span<const char> are_settled = {});
};

// A number for each of these states of the set, by number: equal states have equal ones.
std::vector<std::int64_t> identities_of(const StateSequences& set, std::span<const std::size_t> states);

struct WorldModelShape {
  Index features = 1;  // of a token
  Index facts = 1;     // of a state
  std::vector<Index> encoder = {128};
  std::vector<Index> embedding = {64, 64};  // at least one
  TransitionKind transition = TransitionKind::transh;
  Index latent = 64;
  Index hidden = 128;  // of a residual transition
  // Encoded states within ±1, where a gated transition keeps its latents anyhow; others may count beyond.
  bool bounded = true;
};

// A weight of 0 leaves a loss out.
struct WorldLosses {
  Matching matching = {};
  Contrast contrast = {};
  Margin margin = {.weight = 0};
};

struct WorldTrainingOptions {
  std::uint64_t seed = 0;
  std::int64_t steps = 2000;
  int sequences = 64;  // of a batch
  // That they come from; their windows then begin at the same state number, so that states which differ by
  // what was done, not by when, have to be told apart. 0: from anywhere, each from its own.
  int workloads = 0;
  bool across = false;  // is a state told apart from those of other workloads, too?
  int horizon = 16;     // tokens that are rolled, at most, from a state chosen at random
  double warm_up = 0.05;
  AdamOptions adam = {};  // warm_up and total follow from the above
  WorldLosses losses = {};
};

class WorldModel {
 public:
  WorldModel(const WorldModelShape& shape, std::uint64_t seed);

  Index latent() const { return encoder_.out(); }
  Parameters<float>& parameters() { return parameters_; }
  const Parameters<float>& parameters() const { return parameters_; }

  // Learns how states and tokens are brought to mean 0 and deviation 1.
  void standardise(const StateSequences& set);

  // States of the set, by number → latents [d x n].
  Matrix<float> encode(const StateSequences& set, std::span<const std::size_t> states) const;
  // What comes of the first state of every sequence, after `horizon` tokens; only of sequences that are so
  // long and settled there.
  struct Predicted {
    Matrix<float> latents;             // [d x n]
    std::vector<std::size_t> states;   // of the set: what they should be
    std::vector<std::int64_t> groups;  // their workloads
  };
  Predicted predict(const StateSequences& set, std::size_t horizon) const;
  // What comes of the first state of every sequence after all its tokens [d x sequences].
  Matrix<float> terminal(const StateSequences& set) const;

 private:
  friend class WorldTraining;

  void lay_states(const StateSequences& set, std::span<const std::size_t> states, View<float> out) const;
  void lay_token(const StateSequences& set, std::size_t token, View<float> out, Index column) const;

  WorldModelShape shape_;
  Parameters<float> parameters_;
  search::SplitMix random_;
  Mlp<float> encoder_;
  Mlp<float> embedding_;
  std::unique_ptr<Transition<float>> transition_;
  Standard state_standard_;
  Standard token_standard_;
};

class WorldTraining {
 public:
  // Both must outlive it. Error if no sequence has a settled state after its first.
  WorldTraining(WorldModel& model, const StateSequences& set, const WorldTrainingOptions& options);

  std::int64_t steps() const { return adam_.steps(); }
  bool finished() const { return steps() >= options_.steps; }
  // The weighted loss of the batch, and how far its encoded states spread: near zero means that the model
  // has collapsed.
  struct Report {
    double loss = 0;
    LatentSpread spread;
  };
  Report step();

 private:
  struct Window {
    std::size_t sequence = 0;
    std::size_t begin = 0;  // a settled state, with another one to come
  };
  Window window(std::size_t sequence, std::size_t near) const;
  std::vector<Window> windows(search::SplitMix& random) const;
  void choose();
  void lay();
  Rollout<float> forward();
  double losses();
  void backward(const Rollout<float>& rollout);

  WorldModel& model_;
  const StateSequences& set_;
  WorldTrainingOptions options_;
  Adam<float> adam_;
  std::vector<std::size_t> usable_;                 // sequences with a settled state after the first
  std::vector<std::vector<std::size_t>> together_;  // the same by workload
  // Of the batch: windows, and the settled states along them.
  std::vector<int> lengths_;
  std::vector<std::size_t> first_token_;
  std::vector<std::size_t> start_states_;
  std::vector<Index> target_columns_;  // of the packed tokens that lead to the states
  std::vector<std::size_t> target_states_;
  std::vector<std::int64_t> target_groups_;
  std::vector<std::int64_t> identities_;  // equal states have equal ones
  std::vector<std::int64_t> negatives_;
  Packing packing_;
  Buffer<float> starts_, targets_, inputs_;  // standardised
  Buffer<float> before_, after_, d_before_, d_after_, predicted_, d_predicted_, d_encoded_, d_actions_,
      d_start_;
  MlpPass<float> start_pass_, target_pass_, action_pass_;
  RolloutPass<float> rollout_pass_;
};

// How often a predicted latent is nearest to its own state among the states of its workload that others of
// the same horizon lead to.
double retrieval_at(const WorldModel& model, const StateSequences& set, std::size_t horizon);

}  // namespace fuselage::learn
