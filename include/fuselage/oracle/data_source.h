// The walk family's graphs for a data set: fixed tasks, graphs of files, graphs of transcripts, and drawn
// ones, in this order. What is drawn for a graph depends on the seed and the graph's index only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuselage/oracle/data_set.h"
#include "fuselage/oracle/trajectories.h"

namespace fuselage::oracle {

struct DrawnGraphs {
  std::size_t count = 0;
  // Of the environment's curriculum, a level of [low, high] for each graph ...
  double low = 0.2;
  double high = 0.8;
  // ... or, if given, sizes and kind.
  std::optional<DrawOptions> draw = {};
};

struct GivenGraph {
  Workload workload;
  std::vector<PlayedEpisode> played = {};  // transcripts
};

struct WalkSourceOptions {
  std::vector<GivenGraph> given = {};
  DrawnGraphs drawn = {};
  LabelOptions labels = {};  // its seed is the data set's
  // Are episodes of the mix played on graphs that have transcripts, too?
  bool mix_with_played = false;
};

class WalkSource : public LabelSource {
 public:
  explicit WalkSource(WalkSourceOptions options) : options_(std::move(options)) {}
  std::size_t size() const override { return options_.given.size() + options_.drawn.count; }
  std::optional<LabelledGraph> label(std::size_t index, const std::atomic<bool>* cancel) const override;

 private:
  WalkSourceOptions options_;
};

// The seed of all that is drawn for a graph: below 2^53, so that every reader of JSON keeps it.
std::uint64_t seed_of_graph(std::uint64_t seed, std::size_t index);

}  // namespace fuselage::oracle
