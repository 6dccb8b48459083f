#include "train_config.h"

#include <array>
#include <limits>

#include "fuselage/core/json.h"

namespace fuselage::cli {
namespace {

constexpr std::int64_t widest = 2048;  // what a model file may hold (learn/schedule_model.h)
constexpr std::size_t most_layers = 8;
constexpr std::int64_t most_ops = 10'000;  // of a graph that an optimum is to be proven of
constexpr int least_grid_problems = 10;

void read_width(const JsonField& parent, std::string_view key, learn::Index& width) {
  if (const auto field = parent.optional(key)) width = field->integer(1, widest);
}

void read_widths(const JsonField& parent, std::string_view key, std::vector<learn::Index>& widths,
                 std::size_t least) {
  const auto field = parent.optional(key);
  if (!field) return;
  const std::size_t size = field->array_size();
  if (size < least || size > most_layers)
    field->refuse(std::to_string(size) + " layers",
                  "from " + std::to_string(least) + " to " + std::to_string(most_layers));
  widths.clear();
  for (std::size_t i = 0; i < size; ++i) widths.push_back(field->element(i).integer(1, widest));
}

void read_model(const JsonField& file, learn::ScheduleModelShape& model) {
  const auto field = file.optional("model");
  if (!field) return;
  constexpr std::array<std::string_view, 6> known = {"transition", "latent",  "hidden",
                                                     "embedding",  "encoder", "head"};
  field->only(known);
  if (const auto transition = field->optional("transition")) {
    const std::string& name = transition->string();
    bool found = false;
    for (const auto kind :
         {learn::TransitionKind::gru, learn::TransitionKind::residual, learn::TransitionKind::transh}) {
      if (learn::transition_name(kind) != name) continue;
      model.scorer.transition = kind;
      found = true;
    }
    if (!found) transition->refuse("is unknown", "gru, residual or transh");
  }
  read_width(*field, "latent", model.scorer.latent);
  read_width(*field, "hidden", model.scorer.hidden);
  read_widths(*field, "embedding", model.scorer.embedding, 1);
  read_widths(*field, "head", model.scorer.head, 0);
  read_widths(*field, "encoder", model.encoder, 0);
}

void read_training(const JsonField& file, learn::ScheduleTrainingOptions& training) {
  const auto field = file.optional("training");
  if (!field) return;
  constexpr std::array<std::string_view, 8> known = {
      "epochs", "groups_a_batch", "schedules_a_group", "rate", "warm_up", "clip", "slope", "increments"};
  field->only(known);
  const auto count = [&](std::string_view key, int& value, std::int64_t least, std::int64_t most) {
    if (const auto f = field->optional(key)) value = static_cast<int>(f->integer(least, most));
  };
  const auto number = [&](std::string_view key, double& value, double least, double most) {
    if (const auto f = field->optional(key)) value = f->number(least, most);
  };
  count("epochs", training.epochs, 1, 100'000);
  count("groups_a_batch", training.groups_a_batch, 1, 100'000);
  count("schedules_a_group", training.schedules_a_group, 2, 100'000);
  number("rate", training.adam.rate, 1e-9, 10);
  number("warm_up", training.warm_up, 0, 1);
  number("clip", training.adam.clip, 0, 1e9);
  number("slope", training.ranking.slope, 1e-6, 1e6);
  number("increments", training.increments.weight, 0, 1e6);
}

BundleConfig read_bundle_config(const JsonField& field) {
  constexpr std::array<std::string_view, 5> known = {"graphs", "schedules", "min_ops", "max_ops",
                                                     "grid_problems"};
  field.only(known);
  BundleConfig bundle;
  const auto count = [&](std::string_view key, int& value, std::int64_t least, std::int64_t most) {
    if (const auto f = field.optional(key)) value = static_cast<int>(f->integer(least, most));
  };
  count("graphs", bundle.graphs, 20, 100'000);
  count("schedules", bundle.schedules, 2, 10'000);
  count("min_ops", bundle.min_ops, 2, most_ops);
  count("max_ops", bundle.max_ops, bundle.min_ops, most_ops);
  count("grid_problems", bundle.grid_problems, 0, 100'000);
  if (bundle.grid_problems > 0 && bundle.grid_problems < least_grid_problems)
    field.required("grid_problems")
        .refuse(std::to_string(bundle.grid_problems) + " are too few to hold some out",
                "0, or " + std::to_string(least_grid_problems) + " or more");
  return bundle;
}

}  // namespace

TrainConfig parse_train_config(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonField file(json, source);
  constexpr std::array<std::string_view, 5> known = {"data", "bundle", "seed", "model", "training"};
  file.only(known);
  TrainConfig config;
  if (const auto bundle = file.optional("bundle")) {
    if (file.has("data"))
      bundle->refuse("stands beside \"data\"", "one of them: a bundle makes its own data");
    config.bundle = read_bundle_config(*bundle);
  } else {
    const JsonField data = file.required("data");
    for (std::size_t i = 0; i < data.array_size(); ++i) config.data.push_back(data.element(i).string());
    if (config.data.empty()) data.refuse("no file", "one or more, as 'fuselage trajectories' writes them");
  }
  if (const auto seed = file.optional("seed"))
    config.seed = static_cast<std::uint64_t>(seed->integer(0, std::numeric_limits<std::int64_t>::max()));
  config.training.seed = config.seed;
  read_model(file, config.model);
  read_training(file, config.training);
  return config;
}

}  // namespace fuselage::cli
