// Replays golden files: figures that were recorded on the public environment, or computed by programs that
// share nothing with this one, are worked out anew and compared. It is what "bit for bit" rests on, so it has
// one tolerance only (optima and mlsys latencies, 1e-9 relative), names the first figure of a row that
// differs, and refuses a row that it can't check in full: a field that it doesn't know would pass unseen.
//
// A row's kind shows in its fields, so files can have any name and mix kinds:
// - episodes: actions and steps, with each step's reward, state and score (and observation) under `seed`;
// - observations: {id, observations}, the texts of the episode of that id in another file;
// - generator: kind (generate_graph or training), the graph drawn and the next number of the random stream;
// - optima: the optimum under `seed` and `seed-honest`, with groups and actions that reach it;
// - physical: order, and an optimum with its plan, or why the graph has no schedule;
// - physical-illegal: a plan, and the code with which it is refused;
// - tasks: fixed tasks by name, each with its graph and baselines;
// - fusionops: a grid problem and steps, with each step's action as read, latency, reward and state;
// - mlsys: a grid problem and a solution, with each step's latency and working set, or the rule it breaks.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fuselage::oracle {

struct ReplayReport {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::map<std::string, std::size_t> rows;  // by kind
  // The first difference of each failed row: "file:line: row: field: expected ..., got ...". Of a report the
  // first max_differences are kept.
  std::vector<std::string> differences;
  double seconds = 0;
};

inline constexpr std::size_t max_differences = 20;

// One run over any number of files. Observations look for their episodes in the file beside theirs (the name
// of theirs with "episodes" in the place of "observations", then episodes.jsonl), then among all files
// checked before, the latest first.
class Replay {
 public:
  Replay();
  ~Replay();

  // Checks a file, line by line (JSON Lines) or as one JSON value; "-" is the standard input. Throws Error
  // with file, line and field for a row that is malformed or of no known kind, for observations without their
  // episode, and for a file without rows.
  ReplayReport check(const std::string& path);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

// What `path` stands for: the golden files of a directory (*.jsonl and tasks*.json, sorted by name, not of
// directories within it), or itself. Error for a directory that holds none.
std::vector<std::string> golden_files(const std::string& path);

}  // namespace fuselage::oracle
