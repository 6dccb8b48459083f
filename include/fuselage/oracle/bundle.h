// A bundle: everything learned that guides a search, as one directory.
//
//   bundle.json                 format, maker, fingerprints of the schemas, size and SHA-256 of every other
//   file,
//                               and what was measured when it was trained
//   schema.json                 the features by name, with unit and meaning, for people and other programs
//   README.md                   the card: data, figures with intervals, limits
//   walk/schedules.safetensors  the recurrent world model (learn/schedule_model.h)
//   walk/decisions.json         the ranker of the next kernel, XGBoost's JSON
//   walk/value.safetensors      the head for the cost to go (learn/value_head.h)
//   grid/decisions.json         the ranker of the grid family
//
// A family may be missing. A bundle that doesn't fit (made for other features, changed on the way, cut short)
// is refused, with the name and the number that differ: a model that is asked about other features answers
// nonsense in a firm voice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/oracle/walk_guide.h"

namespace fuselage::oracle {

inline constexpr std::string_view walk_schedules_file = "walk/schedules.safetensors";
inline constexpr std::string_view walk_decisions_file = "walk/decisions.json";
inline constexpr std::string_view walk_value_file = "walk/value.safetensors";
inline constexpr std::string_view grid_decisions_file = "grid/decisions.json";

struct BundleFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct BundleManifest {
  std::string program = {};  // that made it, with its version
  std::uint64_t seed = 0;
  bool walk = false;  // are the files of the family there?
  bool grid = false;
  std::string metrics = "{}";          // a JSON object
  std::vector<BundleFile> files = {};  // sorted by name
};

struct Bundle {
  std::string path;
  BundleManifest manifest;
  WalkModels walk = {};                                    // null if the family is missing
  std::shared_ptr<const learn::FlatTrees> grid = nullptr;  // the same
};

// Fingerprints of what the walk family's models are asked about, for their files.
learn::ScheduleModel::Fingerprints schedule_fingerprints();
learn::ValueHead::Fingerprints value_fingerprints();

// Error with file, field, value and what would be right for a directory that isn't one of these.
Bundle read_bundle(const std::string& directory);
// The manifest alone: says what a bundle is that this program can't use.
BundleManifest read_bundle_manifest(const std::string& directory);
// What is wrong, one sentence each; empty: nothing. Unlike read_bundle it goes on after the first.
std::vector<std::string> verify_bundle(const std::string& directory);

// models/default in the program's directory or one above it: that of the sources, wherever this is run from.
// Empty if there is none.
std::string find_default_bundle();

// Writes schema.json, the card and, last, bundle.json beside the models that are in the directory.
void seal_bundle(const std::string& directory, const BundleManifest& about, const std::string& card);

}  // namespace fuselage::oracle
