// A regression head: what a latent (and whatever else is known of a state) says about a number, say what
// completing a schedule will cost. An MLP on standardised inputs, trained with smooth L1 on targets whose
// scale it learns too. The network that makes the latents is not changed by it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/learn/mlp.h"
#include "fuselage/learn/standard.h"

namespace fuselage::learn {

struct ValueHeadShape {
  Index inputs = 1;
  std::vector<Index> hidden = {64, 32};
};

struct ValueTrainingOptions {
  std::uint64_t seed = 0;
  int epochs = 10;
  int batch = 256;
  double rate = 2e-3;
  double warm_up = 0.05;
};

// Memory for asking; of one thread.
struct ValueScratch {
  Buffer<float> inputs;
  MlpPass<float> pass;
};

class ValueHead {
 public:
  ValueHead(const ValueHeadShape& shape, std::uint64_t seed);

  Index inputs() const { return shape_.inputs; }

  // rows: `inputs` numbers each, as many as there are targets. Returns the mean absolute error of the last
  // epoch's answers, each given before the step that learned from it, in units of the targets.
  double train(std::span<const float> rows, std::span<const float> targets,
               const ValueTrainingOptions& options);

  // rows: `inputs` numbers each; out: a number for each.
  void ask(std::span<const float> rows, std::span<float> out, ValueScratch& scratch) const;

  // As one safetensors file, with the fingerprints of what it is asked about.
  using Fingerprints = std::vector<std::pair<std::string, std::string>>;
  void save(const std::string& path, const Fingerprints& fingerprints) const;
  static ValueHead load(const std::string& path, const Fingerprints& fingerprints);

 private:
  void lay(std::span<const float> rows, View<float> out) const;

  ValueHeadShape shape_;
  Parameters<float> parameters_;
  search::SplitMix random_;
  Mlp<float> mlp_;
  Standard standard_;
  float mean_ = 0;   // of the targets
  float scale_ = 1;  // their deviation
};

}  // namespace fuselage::learn
