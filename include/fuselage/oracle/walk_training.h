// From a seed to the walk family's learned models, in stages: workloads are drawn, schedules of them
// recorded, the world model is trained on those (learn/schedule_training.h, by the caller, who may stop and
// resume it), then the ranker of decisions and the head for the cost to go; rankings and guided searches
// are measured on graphs that no stage was trained on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fuselage/learn/ranking_metrics.h"
#include "fuselage/oracle/trajectories.h"
#include "fuselage/oracle/walk_decisions.h"
#include "fuselage/oracle/walk_guide.h"

namespace fuselage::oracle {

// Told how much of a stage is done, from 0 to 1; throws to end it.
using StageProgress = std::function<void(double)>;

struct DrawnWorkload {
  Workload workload;
  GraphKind kind = GraphKind::mixed;
  learn::Split split = learn::Split::train;
  std::uint64_t seed = 0;
};

// `graphs` of each kind, all different. The splits are those of every data set (learn/trajectory_file.h).
std::vector<DrawnWorkload> draw_workloads(int graphs, const DrawOptions& options, std::uint64_t seed);

// Schedules of the workloads of one split, of both kinds or of one.
struct ScheduleSet {
  learn::Schedules train;
  learn::Schedules validation;
  learn::Schedules test_mixed;
  learn::Schedules test_memory_bound;
};
ScheduleSet draw_schedules(std::span<const DrawnWorkload> workloads, int schedules,
                           const StageProgress& progress);

struct DecisionTraining {
  std::string decisions;  // the ranker, XGBoost's JSON
  learn::ValueHead value;
  std::size_t states = 0;      // trained on
  std::size_t candidates = 0;  // trained on
  double value_error = 0;      // mean absolute on these, mean cycles
  double value_spread = 0;     // mean distance of the targets from their mean: what a constant would err by
};
// On the workloads of the training split.
DecisionTraining train_decisions(std::span<const DrawnWorkload> workloads, const learn::ScheduleModel& model,
                                 std::uint64_t seed, const StageProgress& progress);

// A beam with the guide against the same beam without it; gaps are to the proven optimum.
struct GuidedFigures {
  std::size_t graphs = 0;  // whose optimum is proven
  learn::Estimate gap;     // mean, with its 95 % bootstrap interval over graphs
  learn::Estimate unguided_gap;
  double steps = 0;           // kernels priced by the guided beam, mean
  double unguided_steps = 0;  // mean
  double share() const { return unguided_steps > 0 ? steps / unguided_steps : 0; }
};
GuidedFigures guided_beam(std::span<const Workload> workloads, const WalkModels& models, std::size_t width,
                          const WalkGuideOptions& options);

// Mean with a percentile bootstrap interval over the values.
learn::Estimate mean_estimate(std::span<const double> values, std::uint64_t seed = 0);

}  // namespace fuselage::oracle
