// The trials of a tuner on disk, one JSON line each, written as soon as they are answered: measurements are
// dear, and whatever ends a run, they aren't made twice. A run that is resumed proposes the same plans again
// and takes the answers from here as far as they go, so it ends as if it had never stopped.
//
//   {"fuselage_tune": 1, "graph": 0, "name": ..., "problem": ..., what else decides which plans are proposed}
//   {"graph": 0, "trial": 1, "latency": 123.4, "failure": null, "attempts": 1, "kernels": [...]}
//
// Trials of a batch are in the order of their answers.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/oracle/tune.h"

namespace fuselage::cli {

class TuneLog {
 public:
  // An empty path: no log. Error if the file exists and `resume` is false, or if it can't be read or written.
  // A last line without an end was being written when the run was killed, and is dropped.
  TuneLog(std::string path, bool resume);
  ~TuneLog();
  TuneLog(const TuneLog&) = delete;
  TuneLog& operator=(const TuneLog&) = delete;

  // The graph that comes now, and all that decides about its trials. Error, which names the field, if the log
  // has it with something else.
  void begin(const nlohmann::ordered_json& header);
  // Of the present graph. Error if that trial was another plan's.
  std::optional<oracle::Measurement> recall(std::int64_t trial, const walk::Plan& plan);
  void add(const oracle::Trial& trial);

  std::int64_t recalled() const { return recalled_; }  // of the present graph

 private:
  struct Entry {
    walk::Plan plan;
    oracle::Measurement measured;
  };
  void read(const std::string& text);
  void append(const std::string& line);

  std::string path_;
  int fd_ = -1;
  std::map<std::int64_t, nlohmann::json> headers_;                  // by graph
  std::map<std::pair<std::int64_t, std::int64_t>, Entry> entries_;  // by graph and trial
  std::int64_t graph_ = 0;
  std::int64_t recalled_ = 0;
};

}  // namespace fuselage::cli
