// The graphs that the experiments are about. A set is a function of its size alone: its seeds begin where no
// test and no tuning has been (a million and more), and sizes, topologies and machines go round so that every
// combination gets its share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/generator.h"

namespace fuselage::experiments {

struct Sample {
  Workload workload;
  std::string_view kind;     // topology
  std::string_view machine;  // difficulty
};

struct GraphSet {
  std::string name;
  std::string seeds;  // "1000000..1000199"
  std::vector<Sample> samples;
};

// 8 to 50 nodes, four difficulties; half mixed, half the five named topologies. What `fuselage generate`
// makes with the same options and seed.
GraphSet generated(int count);

// 8 to 50 nodes behind a link of 0.5, 1, 1.5 or 2 bytes a cycle: long skips, adversarial, mixed, and chains
// in which every other node adds one of the eight tensors before.
GraphSet memory_bound(int count);

// One to five attention heads side by side on one input, summed by a chain of adds or by one add of all, then
// a layernorm; on hard and expert machines.
GraphSet parallel_heads();

// Blocks of five such heads and a chain of adds, one after the other, on an expert machine: in free order the
// layers of a search are as wide as it allows.
Sample head_blocks(int nodes);

// One mixed graph on an expert machine.
Sample large_graph(int nodes);
inline constexpr std::uint64_t large_seed = 1'200'000;

// Name, number, seeds and SHA-256 of the graphs as JSON Lines: a set that has changed can't pass for this
// one.
nlohmann::ordered_json describe(const GraphSet& set);

}  // namespace fuselage::experiments
