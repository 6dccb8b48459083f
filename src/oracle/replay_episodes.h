// Where the episodes of a run are, by their id, for the rows of observations that refer to them. Places in
// files are kept, not rows, so that files may be large; episodes from the standard input and pipes, which
// can't be read twice, are not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "fuselage/core/json.h"
#include "replay_lines.h"

namespace fuselage::oracle {

class EpisodePlaces {
 public:
  struct Row {
    Json json;
    std::string source;  // file:line
  };

  void add(const std::string& path, const JsonField& id, const LinePlace& place);

  // The episode row for an id met in `observations_path`. Throws Error if there is none, or more than one in
  // the same file.
  Row find(const JsonField& id, const std::string& observations_path);

 private:
  using File = std::unordered_map<std::int64_t, std::vector<LinePlace>>;

  const std::string& file_beside(const std::string& observations_path);
  void scan(const std::string& path);
  static Row read(const std::string& path, const LinePlace& place);

  std::map<std::string, File> files_;
  std::vector<std::string> latest_last_;        // keys of files_
  std::map<std::string, std::string> besides_;  // by path of observations: what lies beside it, or ""
};

}  // namespace fuselage::oracle
