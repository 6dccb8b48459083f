#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/learn/schedule_training.h"
#include "fuselage/oracle/trajectories.h"
#include "interrupt.h"
#include "options.h"
#include "report_cells.h"
#include "table.h"
#include "terminal.h"
#include "train_config.h"
#include "train_data.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using learn::Split;
using nlohmann::ordered_json;

constexpr const char* footer =
    R"(CONFIG is a JSON file; all but "data" may be left out, and these are the defaults:

  {"data": ["train.h5"], "seed": 0,
   "model": {"transition": "gru", "latent": 64, "hidden": 128, "embedding": [64, 64],
             "encoder": [64], "head": [96, 48]},
   "training": {"epochs": 36, "groups_a_batch": 24, "schedules_a_group": 8, "rate": 0.002,
                "warm_up": 0.05, "clip": 1, "slope": 4, "increments": 0}}

The data are files of 'fuselage trajectories', which say for every graph whether it is for training,
validation or test. Trained is a recurrent scorer of whole schedules, on pairs of schedules of one graph
(softplus(slope x difference)) and, with a weight above 0 for "increments", on what each token costs.

DIR gets model.safetensors; scores.csv, the schedules of the test graphs with cost and score, for
'fuselage rank-eval'; and training.csv, loss and validation accuracy by epoch. Accuracy is the part of the
pairs of schedules of one graph that are in the right order, the mean over graphs; 0.5 is guessing. With
Ctrl-C the training stops after a step, and the same command goes on from there. The same configuration
and data give the same model, byte for byte.

Exit code: 0 trained; 1 interrupted; 2 bad input.

Examples:
  fuselage trajectories --graphs 400 --seed 1 --out train.h5
  echo '{"data": ["train.h5"]}' > config.json
  fuselage train config.json --out model && fuselage rank-eval model/scores.csv)";

constexpr std::int64_t steps_between_saves = 200;

struct TrainCommand {
  std::string config;
  std::string out;
  bool json = false;
};

// Of one epoch that has ended.
struct Epoch {
  double loss = 0;      // mean of its steps
  double accuracy = 0;  // of validation; NaN without any
};

std::string csv_of(const std::vector<Epoch>& epochs) {
  std::string text = "epoch,loss,validation_accuracy\n";
  for (std::size_t i = 0; i < epochs.size(); ++i)
    text += fmt::format("{},{},{}\n", i + 1, json_number(epochs[i].loss),
                        std::isnan(epochs[i].accuracy) ? "" : json_number(epochs[i].accuracy));
  return text;
}

class Trainer {
 public:
  Trainer(TrainConfig config, std::string out)
      : config_(std::move(config)), out_(std::move(out)), data_(read_train_data(config_.data, schemas_)) {
    config_.model.scorer.features = static_cast<learn::Index>(schemas_.token.size());
    config_.model.facts = static_cast<learn::Index>(schemas_.workload.size());
    if (data_.of(Split::train).groups() == 0)
      fail("{}: no graph for training; expected some: draw more graphs", config_.data.front());
    // A directory that can't be written is known before the work is done.
    write_file_atomically(out_ + "/training.csv", csv_of({}));
  }

  // False: interrupted, and saved.
  bool run() {
    learn::ScheduleModel model(config_.model, config_.seed);
    const learn::Schedules& train = data_.of(Split::train);
    model.standardise(train);
    learn::ScheduleTraining training(model, train, config_.training);
    if (std::filesystem::exists(checkpoint())) resume(training);
    const std::atomic<bool>& stop = stop_on_interrupt();
    const Progress progress(static_cast<std::size_t>(training.total()));
    while (!training.finished()) {
      sum_ += training.step();
      const std::int64_t done = training.steps();
      if (done % training.steps_an_epoch() == 0) end_epoch(model, training.steps_an_epoch());
      if (stop || done % steps_between_saves == 0) save(training);
      if (stop) return false;
      progress.show(static_cast<std::size_t>(done), words());
    }
    finish(model);
    return true;
  }

  std::string table() const {
    Table table({{"split", Align::left}, {"graphs"}, {"schedules"}, {"accuracy"}});
    for (const Split split : {Split::train, Split::validation, Split::test})
      table.add({std::string(learn::split_names[static_cast<std::size_t>(split)]),
                 std::to_string(data_.of(split).groups()), std::to_string(data_.of(split).schedules()),
                 cell(accuracy_[static_cast<std::size_t>(split)])});
    return table.text();
  }
  ordered_json json() const {
    ordered_json json;
    json["out"] = out_;
    json["epochs"] = epochs_.size();
    for (const Split split : {Split::train, Split::validation, Split::test}) {
      const auto at = static_cast<std::size_t>(split);
      ordered_json& entry = json["splits"][std::string(learn::split_names[at])];
      entry["graphs"] = data_.of(split).groups();
      entry["schedules"] = data_.of(split).schedules();
      entry["accuracy"] = std::isnan(accuracy_[at]) ? ordered_json() : ordered_json(accuracy_[at]);
    }
    return json;
  }
  std::size_t duplicates() const { return data_.duplicates; }

 private:
  std::string checkpoint() const { return out_ + "/checkpoint.safetensors"; }
  static std::string cell(double accuracy) {
    return std::isnan(accuracy) ? "-" : fmt::format("{:.4f}", accuracy);
  }

  double accuracy_of(const learn::ScheduleModel& model, Split split) const {
    const learn::Schedules& set = data_.of(split);
    return set.groups() == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : learn::ranking_accuracy(set, model.scores(set));
  }

  void end_epoch(const learn::ScheduleModel& model, std::int64_t steps) {
    epochs_.push_back({sum_ / static_cast<double>(steps), accuracy_of(model, Split::validation)});
    sum_ = 0;
  }
  std::string words() const {
    if (epochs_.empty()) return "steps";
    return fmt::format("steps, epoch {}: loss {:.4f}, validation {}", epochs_.size(), epochs_.back().loss,
                       cell(epochs_.back().accuracy));
  }

  // The sum of the epoch that isn't over and those of the epochs that are belong to the checkpoint.
  void save(const learn::ScheduleTraining& training) const {
    ordered_json notes;
    notes["sum"] = sum_;
    notes["epochs"] = ordered_json::array();
    for (const Epoch& epoch : epochs_)
      notes["epochs"].push_back({epoch.loss, std::isnan(epoch.accuracy) ? -1 : epoch.accuracy});
    training.save(checkpoint(), notes.dump());
  }
  void resume(learn::ScheduleTraining& training) {
    const std::string source = checkpoint();
    const Json json = parse_json(training.restore(source), source);
    const JsonField notes(json, source);
    sum_ = notes.required("sum").number();
    const JsonField epochs = notes.required("epochs");
    for (std::size_t i = 0; i < epochs.array_size(); ++i) {
      const JsonField epoch = epochs.element(i);
      const double accuracy = epoch.element(1).number();
      epochs_.push_back(
          {epoch.element(0).number(), accuracy < 0 ? std::numeric_limits<double>::quiet_NaN() : accuracy});
    }
    print_note(fmt::format("goes on after step {} of {}", training.steps(), training.total()));
  }

  void finish(const learn::ScheduleModel& model) {
    for (const Split split : {Split::train, Split::validation, Split::test})
      accuracy_[static_cast<std::size_t>(split)] = accuracy_of(model, split);
    write_file_atomically(out_ + "/scores.csv", scores_csv(model));
    write_file_atomically(out_ + "/training.csv", csv_of(epochs_));
    model.save(out_ + "/model.safetensors",
               {{"token", schemas_.token.fingerprint()}, {"workload", schemas_.workload.fingerprint()}});
    std::filesystem::remove(checkpoint());
  }

  // Costs that differ by the rounding of a sum are equal.
  std::string scores_csv(const learn::ScheduleModel& model) const {
    const learn::Schedules& set = data_.of(Split::test);
    const std::vector<float> scores = model.scores(set);
    std::string text = "group,cost,score\n";
    for (std::size_t g = 0; g < set.groups(); ++g)
      for (std::size_t i = set.first_schedule[g]; i < set.first_schedule[g + 1]; ++i)
        text += fmt::format("{},{:.10g},{}\n", data_.names[static_cast<std::size_t>(Split::test)][g],
                            set.costs[i], json_number(static_cast<double>(scores[i])));
    return text;
  }

  learn::TrajectorySchemas schemas_ = oracle::walk_schemas();
  TrainConfig config_;
  std::string out_;
  TrainData data_;
  double sum_ = 0;  // of the losses of the epoch so far
  std::vector<Epoch> epochs_;
  std::array<double, learn::split_names.size()> accuracy_ = {};
};

int train(const TrainCommand& command) {
  Trainer trainer(parse_train_config(read_file(command.config), source_name(command.config)), command.out);
  if (trainer.duplicates() > 0)
    print_note(fmt::format("{} graphs are in two files; each counts once", trainer.duplicates()));
  if (!trainer.run()) {
    print_note("interrupted; the same command goes on");
    return exit_negative;
  }
  write_stdout(command.json ? dump(trainer.json()) : trainer.table());
  return exit_ok;
}

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("train", "Train a model that ranks schedules, from trajectories");
  command.footer(footer);
  auto options = std::make_shared<TrainCommand>();
  command.add_option("CONFIG", options->config, "what to train on and how, as JSON; '-' for stdin")
      ->required()
      ->option_text(" ");
  name_value(command.add_option("--out", options->out, "directory of the model")->required(), "DIR");
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] { exit_code = train(*options); });
}

}  // namespace fuselage::cli
