// Schedules as training data on disk: an HDF5 file that any tool reads, and that fits one pair of schemas.
// Data decides what a model becomes, so nothing in a file is believed: a schema that differs, an array of
// another shape, a number that is not finite, sizes that don't add up, a file that was cut short are refused
// with file, dataset, value and what would be right. Written and read group by group, so that memory stays
// flat.
//
//   attributes                     the manifest
//   groups/hash name split schedules mean_cycles best proven workload     a row a workload
//   schedules/tokens sampler latency                                      a row a schedule, group after group
//   tokens/features kernel prefix_cost [regret]                           a row a token, schedule after
//   schedule states/features                a row before the first token and one after every token, so one
//   more a schedule
//
// Costs are targets and never part of a feature. The same groups give the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/schema.h"
#include "fuselage/learn/schedules.h"

namespace fuselage::learn {

enum class Split : std::uint8_t { train, validation, test };
inline constexpr std::array<std::string_view, 3> split_names = {"train", "validation", "test"};

// Of a group by the hash of its graph (hex digits): 80, 10 and 10 of a hundred. A graph is in the same split
// in every data set.
Split split_of(std::string_view graph_hash);

enum class Sampler : std::uint8_t { optimal, mutated, heuristic, random };
inline constexpr std::array<std::string_view, 4> sampler_names = {"optimal", "mutated", "heuristic",
                                                                  "random"};

// One schedule. Tokens and states are rows of the schemas; states has one row more than there are tokens.
struct Trajectory {
  Sampler sampler = Sampler::random;
  double latency = 0;                     // cycles, of the whole schedule
  std::vector<float> tokens = {};         // [tokens x token features]
  std::vector<float> states = {};         // [(tokens + 1) x state features]
  std::vector<std::int32_t> kernel = {};  // by token, its kernel's number; counted from 0, without gaps
  std::vector<double> prefix_cost = {};   // by token: cycles of the schedule up to it if it ended there
  // By token, if the manifest says so: by how many cycles the least latency still possible rises with the
  // action that takes the node; unproven_regret where that isn't known exactly.
  std::vector<double> regret = {};

  std::size_t size() const { return prefix_cost.size(); }
};
inline constexpr double unproven_regret = -1;

// Schedules of one workload, which can be compared: at least two.
struct TrajectoryGroup {
  std::string graph_hash = {};  // 64 hex digits
  std::string name = {};        // at most 100 bytes
  Split split = Split::train;
  double mean_cycles = 0;  // what times are relative to: of an op alone, on average
  double best = 0;         // cycles: the cheapest latency known, of a schedule that may be none of these
  bool proven = false;     // is that the optimum?
  std::vector<float> workload = {};  // [workload features]
  std::vector<Trajectory> schedules = {};
};

struct TrajectoryManifest {
  std::string program = {};  // who made it, with its version
  std::string family = {};
  std::string rules = {};
  std::string kind = {};  // of graphs
  std::uint64_t seed = 0;
  std::string settings = {};  // whatever else decides what is in the file
  bool has_regret = false;

  friend bool operator==(const TrajectoryManifest&, const TrajectoryManifest&) = default;
};

struct TrajectorySchemas {
  const Schema& token;
  const Schema& state;
  const Schema& workload;
};

class TrajectoryWriter {
 public:
  // Creates a file beside `path`; makes missing parent directories.
  TrajectoryWriter(const std::string& path, const TrajectoryManifest& manifest,
                   const TrajectorySchemas& schemas);
  ~TrajectoryWriter();  // without finish(): whatever was at `path` stays, and nothing else
  TrajectoryWriter(const TrajectoryWriter&) = delete;
  TrajectoryWriter& operator=(const TrajectoryWriter&) = delete;

  // Error, as from a reader, for a group that a reader would refuse.
  void add(const TrajectoryGroup& group);
  void finish();  // gives the file its name

 private:
  struct File;
  std::unique_ptr<File> file_;
};

class TrajectoryReader {
 public:
  // Error unless the file is whole, of these schemas, and its arrays have the shapes that belong together.
  TrajectoryReader(const std::string& path, const TrajectorySchemas& schemas);
  ~TrajectoryReader();
  TrajectoryReader(const TrajectoryReader&) = delete;
  TrajectoryReader& operator=(const TrajectoryReader&) = delete;

  const TrajectoryManifest& manifest() const;
  std::size_t groups() const;
  // The next group in the file's order; false at the end. Error if its numbers can't be.
  bool next(TrajectoryGroup& group);

 private:
  struct File;
  std::unique_ptr<File> file_;
};

struct Trajectories {
  TrajectoryManifest manifest = {};
  std::vector<TrajectoryGroup> groups = {};
};

// The group as a model reads it: costs in cycles, increments in mean cycles.
void append_group(const TrajectoryGroup& group, Schedules& schedules);

Trajectories read_trajectories(const std::string& path, const TrajectorySchemas& schemas);

}  // namespace fuselage::learn
