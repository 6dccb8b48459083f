// What `fuselage oracle` takes its graphs from, by family, and what the data set's manifest says of that.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/data_set.h"
#include "oracle_options.h"

namespace fuselage::cli {

// All that is read is read here, before any work begins.
struct OracleSource {
  std::unique_ptr<oracle::LabelSource> source;
  Family family = Family::walk;
  std::string rules = {};
  std::string words = {};  // options that say where graphs come from and who plays, with their defaults
  Json inputs = {};        // SHA-256 of each file, by path
  std::uint64_t steps = 0;
  std::string labels = {};       // DataManifest::labels
  std::string_view system = {};  // instructions, unless others are given
};
OracleSource walk_source(const OracleCommand& command);
OracleSource grid_source(const OracleCommand& command);

inline constexpr std::int64_t most_oracle_ops = 1'000;

// "a,b,c"
std::vector<std::string> split_list(const std::string& text);

// Collects both for a manifest.
class OracleInputs {
 public:
  void word(std::string text) { words_.push_back(std::move(text)); }
  // Error if the file's name is not UTF-8.
  void note(const std::string& file, const std::string& text);
  struct File {
    std::string name;
    std::string text;
  };
  // A file, or the files of a directory that end in one of `endings`, by name; each is noted.
  std::vector<File> read(const std::string& input, const std::vector<std::string>& endings);

  const std::vector<std::string>& words() const { return words_; }
  const Json& noted() const { return noted_; }

 private:
  std::vector<std::string> words_;
  Json noted_ = Json::object();
};

}  // namespace fuselage::cli
