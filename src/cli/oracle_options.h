// What `fuselage oracle` was asked for, and what that means to the library.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "families.h"
#include "fuselage/core/number_text.h"
#include "fuselage/oracle/data_set.h"
#include "fuselage/oracle/trajectories.h"
#include "range_option.h"

namespace CLI {
class App;
}

namespace fuselage::cli {

struct OracleCommand {
  std::optional<std::int64_t> graphs, episodes, seed, shard_size, threads, steps, candidates;
  std::optional<double> time;  // seconds
  std::string tasks, transcripts, policy, system_file;
  std::optional<NumberRange> curriculum;
  std::optional<IntRange> ops;
  std::optional<double> threshold;
  std::vector<oracle::RowFormat> formats = {oracle::RowFormat::sft};  // sorted, each once
  oracle::DataPart part = {};
  std::vector<std::string> inputs;
  std::optional<oracle::GraphKind> kind;
  FamilyOptions family = {};  // its rules: at most one
  bool tasks_in_train = false;
  bool plain = false;
  bool zstd = false;
  bool json = false;
  std::string license = "apache-2.0";
  std::string out;
};

void add_oracle_options(CLI::App& app, OracleCommand& command);

// All that is read is read here, before any work begins.
struct OracleJob {
  std::unique_ptr<oracle::LabelSource> source;
  oracle::DataOptions options;
};
OracleJob oracle_job(const OracleCommand& command);

}  // namespace fuselage::cli
