// What is known of the graphs that transcripts are about: episodes of one graph come in thousands, and its
// value function is proven once for all of them. Bounded: graphs that were not asked for in a while are
// forgotten, and one whose states have become too many starts anew, so that any number of lines takes the
// memory of a few graphs. Forgetting costs time and changes no figure.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "fuselage/core/budget.h"
#include "fuselage/oracle/graph_values.h"
#include "fuselage/walk/episode.h"

namespace fuselage::cli {

class GraphMemory {
 public:
  struct Entry {
    std::string key;  // of the graph, its machine and the rules (oracle::store_key)
    walk::EpisodeContext context;
    std::unique_ptr<oracle::GraphValues> values;
  };

  // The budget is of the search for one value.
  explicit GraphMemory(const Budget& budget) : budget_(budget) {}

  // Valid until the next call.
  Entry& of(const Workload& workload, walk::Rules rules);

 private:
  static constexpr std::size_t most_graphs = 32;
  static constexpr std::size_t most_searches = 500'000;  // of one graph; each leaves a state behind

  Budget budget_;
  std::list<Entry> entries_;  // the one asked for last comes first
};

}  // namespace fuselage::cli
