// Makes a data set of labelled states as a directory of JSON Lines shards. A shard is a range of graphs and
// depends on nothing but the settings: not on other shards, on the part of the work that a machine is given,
// on the number of threads, or on how often the work was stopped and taken up again. So a part can be made
// anywhere, and what was killed at any moment ends with the same bytes as what was not.
//
//   DIR/README.md, manifest.json            once complete
//   DIR/FORMAT/SPLIT-00003-of-00016.jsonl   each appears whole, or not at all
//   DIR/.work/                              settings and records of finished shards, until complete
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuselage/oracle/data_manifest.h"
#include "fuselage/oracle/data_rows.h"
#include "fuselage/oracle/labelled_graph.h"

namespace fuselage::oracle {

// Where labelled graphs come from, by their index.
class LabelSource {
 public:
  virtual ~LabelSource() = default;
  virtual std::size_t size() const = 0;
  // Called by several threads at once; the same index, the same graph. None if it was cancelled.
  virtual std::optional<LabelledGraph> label(std::size_t index, const std::atomic<bool>* cancel) const = 0;
};

struct DataOptions {
  std::string out;
  std::vector<RowFormat> formats;  // beside graphs, which is always written
  RowOptions rows = {};
  // Everything but `shards`. It says how rows are made; .graphs must be the source's size.
  DataManifest manifest = {};
  bool tasks_in_train = false;  // else graphs of the environment's fixed tasks are in the split `test`
  int threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  // Told how many of the part's graphs are done, from any thread, one at a time.
  std::function<void(std::size_t)> progress = {};
};

struct DataOutcome {
  bool complete = false;  // false: it was cancelled; the same call goes on from here
  std::size_t kept = 0;   // shards that were there already
  DataManifest manifest = {};
};

// Makes the data set, or the part of it, or what is missing. Error if another process is writing into the
// directory, if it holds something else or a data set of other settings, and if the disk is full: complete
// shards stay in all of these cases.
DataOutcome make_data_set(const LabelSource& source, const DataOptions& options);

// Joins the parts 0 ... n-1 of n, in any order, into the data set that one process would have made, to the
// byte. Error if one is missing, incomplete, of other settings or changed on the way.
DataManifest merge_data_set(std::span<const std::string> parts, const std::string& out);

}  // namespace fuselage::oracle
