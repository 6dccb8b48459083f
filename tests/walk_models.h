// Small learned models of the walk family for tests: a ranker that has seen a few graphs, and untrained
// networks, whose nonsense a search must survive.
#pragma once

#include <memory>
#include <string>

#include "fuselage/grid/features_decision.h"
#include "fuselage/learn/ranker.h"
#include "fuselage/oracle/bundle.h"
#include "fuselage/oracle/walk_decisions.h"
#include "fuselage/oracle/walk_guide.h"
#include "ranker_data.h"

namespace fuselage::oracle {

inline std::string tiny_ranker_json(std::uint64_t seed = 1) {
  Decisions decisions;
  for (std::uint64_t i = 0; i < 4; ++i)
    add_decisions(draw_workload({.min_ops = 8, .max_ops = 10}, 100 * seed + i),
                  {.episodes = 1, .most_candidates = 24, .seed = i}, decisions);
  std::vector<float> labels;
  for (double regret : decisions.regret) labels.push_back(relevance(regret));
  const Eigen::Map<const learn::Matrix<float>> rows(decisions.rows.data(),
                                                    static_cast<learn::Index>(decisions.width),
                                                    static_cast<learn::Index>(labels.size()));
  return learn::train_ranker({.rows = rows, .labels = labels, .groups = decisions.sizes},
                             {.rounds = 10, .depth = 4, .eta = 0.3});
}

inline learn::ScheduleModel untrained_schedules(learn::Index latent = 8) {
  learn::ScheduleModelShape shape;
  shape.scorer.features = static_cast<learn::Index>(walk::token_schema().size());
  shape.scorer.embedding = {8};
  shape.scorer.latent = latent;
  shape.scorer.hidden = 8;
  shape.scorer.head = {8};
  shape.facts = static_cast<learn::Index>(walk::workload_schema().size());
  shape.encoder = {8};
  return {shape, 7};
}

inline WalkModels tiny_models() {
  static const WalkModels models = [] {
    WalkModels made;
    made.decisions = std::make_shared<const learn::FlatTrees>(tiny_ranker_json(), "tiny ranker");
    made.schedules = std::make_shared<const learn::ScheduleModel>(untrained_schedules());
    made.value = std::make_shared<const learn::ValueHead>(learn::ValueHead(
        {.inputs = static_cast<learn::Index>(value_inputs(*made.schedules)), .hidden = {8}}, 9));
    return made;
  }();
  return models;
}

inline std::string ranker_of(std::size_t features) {
  return learn::train_ranker(learn::ranker_example(static_cast<learn::Index>(features), 8, 12).data(),
                             {.rounds = 2, .depth = 2});
}

// A bundle of both families in a directory, sealed with whatever is said about it.
inline void write_tiny_bundle(const std::string& directory, const BundleManifest& about) {
  static const std::string walk = tiny_ranker_json();
  static const std::string grid = ranker_of(grid::decision_schema().size());
  const auto path = [&](std::string_view name) { return directory + "/" + std::string(name); };
  learn::save_ranker(path(walk_decisions_file), walk);
  learn::save_ranker(path(grid_decisions_file), grid);
  tiny_models().schedules->save(path(walk_schedules_file), schedule_fingerprints());
  tiny_models().value->save(path(walk_value_file), value_fingerprints());
  seal_bundle(directory, about, "# card\n");
}

}  // namespace fuselage::oracle
