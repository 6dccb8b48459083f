// The model that ranks whole schedules of a workload: an encoder turns what is known of the workload into the
// latent that a recurrent scorer (scorer.h) starts from. Inputs are brought to mean 0 and deviation 1 by
// figures of the training set, which belong to the model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuselage/learn/mlp.h"
#include "fuselage/learn/schedules.h"
#include "fuselage/learn/scorer.h"
#include "fuselage/learn/standard.h"

namespace fuselage::learn {

struct ScheduleModelShape {
  ScorerShape scorer = {};
  Index facts = 1;                    // of a workload
  std::vector<Index> encoder = {64};  // widths of its hidden layers
};

// Some schedules of a set, packed for the model. Uses its memory again.
struct ScheduleBatch {
  Packing packing;
  Buffer<float> tokens;      // [features x tokens], packed and standardised
  Buffer<float> increments;  // [1 x tokens], packed
  Buffer<float> workloads;   // [facts x sequences], standardised
  std::vector<double> costs;
  std::vector<std::int64_t> groups;
  std::vector<int> lengths;
};

struct ScheduleModelPass {
  MlpPass<float> encoder;
  ScorerPass<float> scorer;
};

// Sequences of tokens, each from a latent of its own: kernels that continue a schedule.
struct RollBatch {
  ConstView<float> start;  // [d x sequences]
  std::span<const float>
      tokens;                    // rows of `features` numbers, sequence after sequence, as features give them
  std::span<const int> lengths;  // tokens of each sequence
};

// Memory for rolling, and its results; of one thread.
struct RollScratch {
  Packing packing;
  Buffer<float> tokens;
  Buffer<float> last;    // result [d x sequences]: the latent after the last token
  Buffer<float> scores;  // result [1 x sequences]: −Σ of what the tokens are said to cost
  ScorerScratch<float> scorer;
};

class ScheduleModel {
 public:
  ScheduleModel(const ScheduleModelShape& shape, std::uint64_t seed);

  // Learns how inputs are brought to scale. Features that never change are left at 0.
  void standardise(const Schedules& schedules);

  // `chosen`: schedules of the set, by number; each comes with its group's number.
  void pack(const Schedules& schedules, std::span<const std::size_t> chosen, ScheduleBatch& batch) const;

  void forward(const ScheduleBatch& batch, ScheduleModelPass& pass) const;
  // After losses have added to the gradients of pass.scorer; adds to those of the parameters.
  void backward(const ScheduleBatch& batch, ScheduleModelPass& pass);

  // Of every schedule, higher being better; the same as forward()'s, bit for bit, whatever the batch.
  std::vector<float> scores(const Schedules& schedules) const;

  Index latent() const { return shape_.scorer.latent; }  // d
  // The latent [d x 1] that the schedules of a workload start from; `workload`: its row, as features give it.
  Matrix<float> start(std::span<const float> workload) const;
  void roll(const RollBatch& batch, RollScratch& scratch) const;

  Parameters<float>& parameters() { return parameters_; }
  const Parameters<float>& parameters() const { return parameters_; }
  const ScheduleModelShape& shape() const { return shape_; }

  // As one safetensors file. `fingerprints`: of the schemas of tokens and workloads, by name; reading one
  // that was trained on others is an Error that names them.
  using Fingerprints = std::vector<std::pair<std::string, std::string>>;
  void save(const std::string& path, const Fingerprints& fingerprints) const;
  static ScheduleModel load(const std::string& path, const Fingerprints& fingerprints);

 private:
  ScheduleModelShape shape_;
  Parameters<float> parameters_;
  search::SplitMix random_;
  Mlp<float> encoder_;
  Scorer<float> scorer_;
  Standard token_standard_;
  Standard workload_standard_;
};

}  // namespace fuselage::learn
