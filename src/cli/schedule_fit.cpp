#include "schedule_fit.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "fuselage/core/json.h"
#include "interrupt.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

constexpr std::int64_t steps_between_saves = 200;

}  // namespace

std::string epochs_csv(const std::vector<Epoch>& epochs) {
  std::string text = "epoch,loss,validation_accuracy\n";
  for (std::size_t i = 0; i < epochs.size(); ++i)
    text += fmt::format("{},{},{}\n", i + 1, json_number(epochs[i].loss),
                        std::isnan(epochs[i].accuracy) ? "" : json_number(epochs[i].accuracy));
  return text;
}

double accuracy_of(const learn::ScheduleModel& model, const learn::Schedules& set) {
  return set.groups() == 0 ? std::numeric_limits<double>::quiet_NaN()
                           : learn::ranking_accuracy(set, model.scores(set));
}

std::string accuracy_cell(double accuracy) {
  return std::isnan(accuracy) ? "-" : fmt::format("{:.4f}", accuracy);
}

ScheduleFit::ScheduleFit(learn::ScheduleModel& model, const Sets& sets,
                         const learn::ScheduleTrainingOptions& options, std::string checkpoint)
    : model_(model), sets_(sets), checkpoint_(std::move(checkpoint)), training_(model, sets.train, options) {}

bool ScheduleFit::run() {
  if (std::filesystem::exists(checkpoint_)) resume();
  const std::atomic<bool>& stop = stop_on_interrupt();
  const Progress progress(static_cast<std::size_t>(training_.total()));
  while (!training_.finished()) {
    sum_ += training_.step();
    const std::int64_t done = training_.steps();
    if (done % training_.steps_an_epoch() == 0) end_epoch();
    if (stop || done % steps_between_saves == 0) save();
    if (stop) return false;
    progress.show(static_cast<std::size_t>(done), words());
  }
  return true;
}

void ScheduleFit::end_epoch() {
  epochs_.push_back(
      {sum_ / static_cast<double>(training_.steps_an_epoch()), accuracy_of(model_, sets_.validation)});
  sum_ = 0;
}

std::string ScheduleFit::words() const {
  if (epochs_.empty()) return "steps";
  return fmt::format("steps, epoch {}: loss {:.4f}, validation {}", epochs_.size(), epochs_.back().loss,
                     accuracy_cell(epochs_.back().accuracy));
}

// The sum of the epoch that isn't over and those of the epochs that are belong to the checkpoint.
void ScheduleFit::save() const {
  nlohmann::ordered_json notes;
  notes["sum"] = sum_;
  notes["epochs"] = nlohmann::ordered_json::array();
  for (const Epoch& epoch : epochs_)
    notes["epochs"].push_back({epoch.loss, std::isnan(epoch.accuracy) ? -1 : epoch.accuracy});
  training_.save(checkpoint_, notes.dump());
}

void ScheduleFit::resume() {
  const Json json = parse_json(training_.restore(checkpoint_), checkpoint_);
  const JsonField notes(json, checkpoint_);
  sum_ = notes.required("sum").number();
  const JsonField epochs = notes.required("epochs");
  for (std::size_t i = 0; i < epochs.array_size(); ++i) {
    const JsonField epoch = epochs.element(i);
    const double accuracy = epoch.element(1).number();
    epochs_.push_back(
        {epoch.element(0).number(), accuracy < 0 ? std::numeric_limits<double>::quiet_NaN() : accuracy});
  }
  print_note(fmt::format("goes on after step {} of {}", training_.steps(), training_.total()));
}

}  // namespace fuselage::cli
