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
#include "fuselage/oracle/bundle.h"
#include "fuselage/oracle/trajectories.h"
#include "options.h"
#include "report_cells.h"
#include "schedule_fit.h"
#include "table.h"
#include "terminal.h"
#include "train_bundle.h"
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

With "bundle" instead of "data" everything that guides a search is trained, from the seed alone, and DIR
becomes a bundle; models/config.json is how models/default was made (about ten minutes):

  {"bundle": {"graphs": 520, "schedules": 48, "min_ops": 8, "max_ops": 32, "grid_problems": 440},
   "seed": 1, "training": {"increments": 1}}

Exit code: 0 trained; 1 interrupted; 2 bad input.

Examples:
  fuselage trajectories --graphs 400 --seed 1 --out train.h5
  echo '{"data": ["train.h5"]}' > config.json
  fuselage train config.json --out model && fuselage rank-eval model/scores.csv
  fuselage train models/config.json --out my-bundle && fuselage model verify my-bundle)";

struct TrainCommand {
  std::string config;
  std::string out;
  bool json = false;
};

class Trainer {
 public:
  Trainer(TrainConfig config, std::string out)
      : config_(std::move(config)), out_(std::move(out)), data_(read_train_data(config_.data, schemas_)) {
    config_.model.scorer.features = static_cast<learn::Index>(schemas_.token.size());
    config_.model.facts = static_cast<learn::Index>(schemas_.workload.size());
    if (data_.of(Split::train).groups() == 0)
      fail("{}: no graph for training; expected some: draw more graphs", config_.data.front());
    // A directory that can't be written is known before the work is done.
    write_file_atomically(out_ + "/training.csv", epochs_csv({}));
  }

  // False: interrupted, and saved.
  bool run() {
    learn::ScheduleModel model(config_.model, config_.seed);
    const learn::Schedules& train = data_.of(Split::train);
    model.standardise(train);
    ScheduleFit fit(model, {.train = train, .validation = data_.of(Split::validation)}, config_.training,
                    checkpoint());
    if (!fit.run()) return false;
    finish(model, fit.epochs());
    return true;
  }

  std::string table() const {
    Table table({{"split", Align::left}, {"graphs"}, {"schedules"}, {"accuracy"}});
    for (const Split split : {Split::train, Split::validation, Split::test})
      table.add({std::string(learn::split_names[static_cast<std::size_t>(split)]),
                 std::to_string(data_.of(split).groups()), std::to_string(data_.of(split).schedules()),
                 accuracy_cell(accuracy_[static_cast<std::size_t>(split)])});
    return table.text();
  }
  ordered_json json() const {
    ordered_json json;
    json["out"] = out_;
    json["epochs"] = config_.training.epochs;
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
  void finish(const learn::ScheduleModel& model, const std::vector<Epoch>& epochs) {
    for (const Split split : {Split::train, Split::validation, Split::test})
      accuracy_[static_cast<std::size_t>(split)] = accuracy_of(model, data_.of(split));
    write_file_atomically(out_ + "/scores.csv", scores_csv(model));
    write_file_atomically(out_ + "/training.csv", epochs_csv(epochs));
    model.save(out_ + "/model.safetensors", oracle::schedule_fingerprints());
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
  std::array<double, learn::split_names.size()> accuracy_ = {};
};

int train(const TrainCommand& command) {
  const std::string text = read_file(command.config);
  TrainConfig config = parse_train_config(text, source_name(command.config));
  if (config.bundle) return train_bundle(config, text, command.out, command.json);
  Trainer trainer(std::move(config), command.out);
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
  add_argument(command, "CONFIG", "what to train on and how, as JSON; '-' for stdin", options->config)
      ->required();
  add_text(command, {"--out", "DIR", "directory of the model"}, options->out)->required();
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] { exit_code = train(*options); });
}

}  // namespace fuselage::cli
