#include "rankers.h"

#include <memory>
#include <numeric>

#include "fuselage/learn/bag.h"
#include "fuselage/learn/schedule_training.h"
#include "fuselage/search/split_mix.h"
#include "recipe.h"
#include "trees.h"

namespace fuselage::experiments {
namespace {

using learn::Schedules;
using learn::TransitionKind;

// How a network is shown a set.
using View = std::function<Schedules(const Set&)>;

std::vector<std::size_t> action_columns() {
  return learn::columns_of(oracle::walk_schemas().token, action_features());
}
std::vector<std::size_t> all_columns() {
  std::vector<std::size_t> columns(oracle::walk_schemas().token.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

Trained train_network(const std::string& name, const View& view, TransitionKind transition, const Set& train,
                      const Recipe& recipe) {
  const Schedules seen = view(train);
  learn::ScheduleModelShape shape;
  shape.scorer.features = seen.features;
  shape.scorer.transition = transition;
  shape.facts = seen.facts;
  auto model = std::make_shared<learn::ScheduleModel>(shape, recipe.seed);
  model->standardise(seen);
  learn::ScheduleTraining training(
      *model, seen,
      {.seed = recipe.seed, .epochs = recipe.epochs, .increments = {.weight = recipe.increments}});
  while (!training.finished()) training.step();
  return {name, [model, view](const Set& set) { return model->scores(view(set)); }};
}

Schedules as_it_is(const Set& set) {
  return set.schedules;
}

Ranker network(const std::string& name, const View& view, TransitionKind transition) {
  return {{name}, [=](const Set& train, const Recipe& recipe) {
            return std::vector{train_network(name, view, transition, train, recipe)};
          }};
}

Ranker trees(const std::string& name, const Rows& rows) {
  return {{name, name + ", ndcg"},
          [=](const Set& train, const Recipe& recipe) { return train_trees(name, rows, train, recipe); }};
}

// A network on a bag knows nothing of single tokens' costs.
Ranker bag_network(const std::string& name, const View& view) {
  return {{name}, [=](const Set& train, const Recipe& recipe) {
            Recipe without = recipe;
            without.increments = 0;
            return std::vector{train_network(name, view, TransitionKind::still, train, without)};
          }};
}

Ranker guess() {
  return {{"random"}, [](const Set&, const Recipe& recipe) {
            const Scores scores = [seed = recipe.seed](const Set& set) {
              search::SplitMix random(seed);
              std::vector<float> guesses(set.schedules.schedules());
              for (float& one : guesses) one = static_cast<float>(random.unit());
              return guesses;
            };
            return std::vector<Trained>{{"random", scores}};
          }};
}

Ranker constant() {
  return {{"static initial"}, [](const Set&, const Recipe&) {
            return std::vector<Trained>{{"static initial", [](const Set& set) {
                                           return std::vector<float>(set.schedules.schedules(), 0);
                                         }}};
          }};
}

// The state after each schedule's last token, and its workload.
std::vector<float> final_states(const Set& set) {
  const Schedules& schedules = set.schedules;
  const auto width = static_cast<std::size_t>(set.sequences.facts);
  const auto facts = static_cast<std::size_t>(schedules.facts);
  std::vector<float> rows;
  for (std::size_t g = 0; g < schedules.groups(); ++g)
    for (std::size_t i = schedules.first_schedule[g]; i < schedules.first_schedule[g + 1]; ++i) {
      const std::size_t last = set.sequences.first_state(i) + set.sequences.length(i);
      const auto state = std::span(set.sequences.states).subspan(last * width, width);
      rows.insert(rows.end(), state.begin(), state.end());
      const auto workload = std::span(schedules.workloads).subspan(g * facts, facts);
      rows.insert(rows.end(), workload.begin(), workload.end());
    }
  return rows;
}

std::vector<float> action_rows(const Set& set) {
  return learn::rows_of(learn::bags_of(set.schedules, action_columns()));
}
std::vector<float> token_rows(const Set& set) {
  return learn::rows_of(learn::bags_of(set.schedules, all_columns()));
}

// Per schedule `width` numbers of each of the two.
std::vector<float> side_by_side(const std::vector<float>& left, const std::vector<float>& right,
                                std::size_t count) {
  std::vector<float> rows;
  const std::size_t l = left.size() / count;
  const std::size_t r = right.size() / count;
  for (std::size_t i = 0; i < count; ++i) {
    rows.insert(rows.end(), left.begin() + static_cast<std::ptrdiff_t>(i * l),
                left.begin() + static_cast<std::ptrdiff_t>((i + 1) * l));
    rows.insert(rows.end(), right.begin() + static_cast<std::ptrdiff_t>(i * r),
                right.begin() + static_cast<std::ptrdiff_t>((i + 1) * r));
  }
  return rows;
}

// The token bag, and prices: what the schedule costs in mean op cycles, by op, and its dearest token.
std::vector<float> priced_rows(const Set& set) {
  const Schedules& schedules = set.schedules;
  std::vector<float> prices;
  for (std::size_t i = 0; i < schedules.schedules(); ++i) {
    double sum = 0, most = 0;
    for (std::size_t t = schedules.first_token[i]; t < schedules.first_token[i + 1]; ++t) {
      sum += schedules.increments[t];
      most = std::max<double>(most, schedules.increments[t]);
    }
    const auto ops = static_cast<double>(schedules.first_token[i + 1] - schedules.first_token[i]);
    prices.push_back(static_cast<float>(sum));
    prices.push_back(static_cast<float>(sum / ops));
    prices.push_back(static_cast<float>(most));
  }
  return side_by_side(prices, token_rows(set), schedules.schedules());
}

Ranker paper() {
  const std::string name = "paper recipe";
  const std::string alone = "predicted latent alone";
  return {{name, name + ", ndcg", alone, alone + ", ndcg"}, [=](const Set& train, const Recipe& recipe) {
            auto world = std::make_shared<learn::WorldModel>(
                train_world(train.sequences, published_recipe(recipe.seed, recipe.effort)));
            const Rows latents = [world](const Set& set) {
              const learn::Matrix<float> ends = world->terminal(set.sequences);
              return std::vector<float>(ends.data(), ends.data() + ends.size());
            };
            const Rows both = [latents](const Set& set) {
              return side_by_side(latents(set), action_rows(set), set.schedules.schedules());
            };
            std::vector<Trained> trained = train_trees(name, both, train, recipe);
            for (Trained& one : train_trees(alone, latents, train, recipe)) trained.push_back(std::move(one));
            return trained;
          }};
}

}  // namespace

const std::vector<std::string>& action_features() {
  static const std::vector<std::string> names = {
      "op_matmul",  "op_conv2d",  "op_layernorm",   "op_softmax",  "op_reduce",    "op_relu",
      "op_gelu",    "op_add",     "op_transpose",   "fused",       "tile_32",      "tile_64",
      "tile_128",   "tile_256",   "retained",       "fan_in",      "fan_out",      "input_uses_left",
      "next_use",   "last_use",   "reads_previous", "output_size", "kept_size",    "slice_size",
      "flops_time", "tiled_time", "tile_count",     "output_time", "memory_share", "launch_time",
      "depth",      "room"};
  return names;
}

std::vector<Ranker> rankers() {
  const View window = [](const Set& set) { return learn::windows_of(set.schedules, 4); };
  const View bag = [](const Set& set) { return learn::bags_of(set.schedules, action_columns()); };
  return {guess(),
          constant(),
          trees("static final", final_states),
          trees("action bag", action_rows),
          bag_network("action bag, network", bag),
          trees("token bag", token_rows),
          paper(),
          network("no memory", as_it_is, TransitionKind::still),
          network("window 4", window, TransitionKind::still),
          network("recurrent, transh", as_it_is, TransitionKind::transh),
          network("recurrent, residual", as_it_is, TransitionKind::residual),
          network("recurrent", as_it_is, TransitionKind::gru),
          trees("features", priced_rows)};
}

}  // namespace fuselage::experiments
