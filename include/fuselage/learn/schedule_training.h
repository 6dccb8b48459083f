// Trains a schedule model end to end: schedules of one workload are ranked against each other, and, with a
// weight, every token's cost is learned. Batches depend on the seed and the step alone, so that a training
// that was stopped goes on with the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/learn/adam.h"
#include "fuselage/learn/losses.h"
#include "fuselage/learn/schedule_model.h"

namespace fuselage::learn {

struct ScheduleTrainingOptions {
  std::uint64_t seed = 0;
  int epochs = 36;
  int groups_a_batch = 24;
  int schedules_a_group = 8;  // in a batch
  double warm_up = 0.05;      // of all steps
  AdamOptions adam = {};      // warm_up and total follow from the above
  Ranking ranking = {};
  Increments increments = {.weight = 0};  // none at weight 0
};

class ScheduleTraining {
 public:
  // `model` and `set` must outlive it. Error if no group has two schedules.
  ScheduleTraining(ScheduleModel& model, const Schedules& set, const ScheduleTrainingOptions& options);

  std::int64_t steps() const { return adam_.steps(); }
  std::int64_t total() const { return steps_an_epoch_ * options_.epochs; }
  std::int64_t steps_an_epoch() const { return steps_an_epoch_; }
  bool finished() const { return steps() >= total(); }

  // Returns the weighted loss of the batch. Error if it is not finite.
  double step();

  // With notes of the caller's, which restore() gives back. Error if the file is the checkpoint of a training
  // with another model, set, or options.
  void save(const std::string& path, const std::string& notes = {}) const;
  std::string restore(const std::string& path);

 private:
  void choose(std::int64_t step);
  std::string identity() const;

  ScheduleModel& model_;
  const Schedules& set_;
  ScheduleTrainingOptions options_;
  std::vector<std::size_t> groups_;  // with two schedules or more
  std::int64_t rounds_ = 0;          // of an epoch: in each every group comes once
  std::int64_t steps_an_epoch_ = 0;
  Adam<float> adam_;
  std::int64_t epoch_ = -1;                      // that `order_` is of
  std::vector<std::vector<std::size_t>> order_;  // groups in every round
  std::vector<std::size_t> chosen_;
  ScheduleBatch batch_;
  ScheduleModelPass pass_;
};

// Scores of a set against its costs: the mean over groups of the part of pairs in the right order.
double ranking_accuracy(const Schedules& set, const std::vector<float>& scores);

}  // namespace fuselage::learn
