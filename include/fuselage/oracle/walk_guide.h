// The learned guide of the walk family. The ranker chooses the kernels that are priced. Optionally the world
// model goes along: every node of the search carries the latent of its schedule; what is kept of a layer is
// rolled forward in one batch, and a head says from the latents what completing the schedule will cost beyond
// the bound, which makes states of one graph comparable (scores of the ranker are not). With lookahead the
// guide goes on in its head: it ranks what could follow, rolls it, and takes the cheapest end. Nothing is
// priced for that.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "fuselage/learn/schedule_model.h"
#include "fuselage/learn/value_head.h"
#include "fuselage/oracle/decision_guide.h"
#include "fuselage/walk/decision_features.h"
#include "fuselage/walk/problem.h"

namespace fuselage::oracle {

// A model with larger latents is refused.
inline constexpr learn::Index most_latent = 64;
using LatentVector = std::array<float, most_latent>;

struct WalkModels {
  std::shared_ptr<const learn::FlatTrees> decisions;
  std::shared_ptr<const learn::ScheduleModel> schedules;
  std::shared_ptr<const learn::ValueHead> value;  // of latents and states; its answers are in mean cycles
};

struct WalkGuideOptions {
  Keeping keeping = {};
  bool value = false;  // does the head rank states, or the bound?
  int lookahead = 0;   // kernels beyond; takes the head
};

// One workload's; of one thread, a copy for each other one. Features must outlive it.
class WalkGuide {
 public:
  using Latent = LatentVector;
  using Expansion = search::Expansion<walk::WalkProblem, Latent>;
  static constexpr bool drops = true;

  // Error if the models' widths are not those of the schemas.
  WalkGuide(const WalkModels& models, const walk::Features& features, const WalkGuideOptions& options);

  Latent root(const walk::WalkProblem& problem, const walk::State& state) const;
  void consider(const walk::WalkProblem& problem, std::span<Expansion> batch);

 private:
  // What is kept of a batch, rolled forward.
  struct Ends {
    std::vector<walk::State> states;
    std::vector<Latent> latents;
    std::vector<double> costs;  // what the model says of the kernels that led there, cycles
  };
  Ends roll(const walk::WalkProblem& problem, std::span<const Expansion> batch);
  std::vector<double> to_go(const walk::WalkProblem& problem, const Ends& ends, int lookahead);
  std::vector<double> ask(const walk::WalkProblem& problem, const Ends& ends);

  WalkModels models_;
  const walk::Features* features_;
  WalkGuideOptions options_;
  DecisionRanker<walk::WalkProblem, walk::DecisionRows> ranker_;
  learn::Matrix<float> start_;  // [d x 1]
  learn::RollScratch rolled_;
  learn::ValueScratch asked_;
};

// What the value head is asked about: a latent and the state that it is of.
std::size_t value_inputs(const learn::ScheduleModel& model);
void value_row(const learn::ScheduleModel& model, const walk::Features& features, const walk::State& state,
               const float* latent, std::span<float> row);

}  // namespace fuselage::oracle
