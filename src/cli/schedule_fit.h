// The training of a schedule model as commands run it: epoch by epoch with progress on a terminal, stopped
// with Ctrl-C after a step and saved, and taken up again by the same command.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fuselage/learn/schedule_training.h"

namespace fuselage::cli {

// Of one epoch that has ended.
struct Epoch {
  double loss = 0;      // mean of its steps
  double accuracy = 0;  // of validation; NaN without any
};

std::string epochs_csv(const std::vector<Epoch>& epochs);

// ranking_accuracy() of a model; NaN of a set without groups.
double accuracy_of(const learn::ScheduleModel& model, const learn::Schedules& set);
std::string accuracy_cell(double accuracy);  // "0.9876", or "-"

class ScheduleFit {
 public:
  struct Sets {
    const learn::Schedules& train;
    const learn::Schedules& validation;
  };
  // `checkpoint`: a file that is there while the training isn't over; it is taken up if it is there already.
  ScheduleFit(learn::ScheduleModel& model, const Sets& sets, const learn::ScheduleTrainingOptions& options,
              std::string checkpoint);

  // False: interrupted, and saved.
  bool run();
  const std::vector<Epoch>& epochs() const { return epochs_; }

 private:
  void end_epoch();
  std::string words() const;
  void save() const;
  void resume();

  learn::ScheduleModel& model_;
  Sets sets_;
  std::string checkpoint_;
  learn::ScheduleTraining training_;
  double sum_ = 0;  // of the losses of the epoch so far
  std::vector<Epoch> epochs_;
};

}  // namespace fuselage::cli
