// What the tests of replaying share: a directory of golden files that they write and spoil.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuselage/oracle/replay.h"
#include "golden_graph.h"

namespace fuselage {

// The rows of a small golden file, "episodes_small.jsonl".
inline std::vector<nlohmann::json> small_rows(const std::string& file) {
  return read_lines(small_golden_dir() + "/" + file);
}

// The row with this name or id.
inline nlohmann::json small_row(const std::string& file, const nlohmann::json& name) {
  for (nlohmann::json& row : small_rows(file))
    if (row.value("name", nlohmann::json()) == name || row.value("id", nlohmann::json()) == name) return row;
  throw std::runtime_error(file + " has no such row");
}

class GoldenDirectory {
 public:
  GoldenDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fuselage-replay-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
  }
  GoldenDirectory(const GoldenDirectory&) = delete;
  GoldenDirectory& operator=(const GoldenDirectory&) = delete;
  ~GoldenDirectory() { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& file) const { return (directory_ / file).string(); }
  // Both give the path.
  std::string write(const std::string& file, const std::string& text) const {
    std::filesystem::remove(path(file));  // writing over a file waits for the disk on ext4
    std::ofstream out(path(file), std::ios::binary);
    if (!(out << text).flush()) throw std::runtime_error(path(file) + " can't be written");
    return path(file);
  }
  std::string write_rows(const std::string& file, const std::vector<nlohmann::json>& rows) const {
    std::string text;
    for (const nlohmann::json& row : rows) text += row.dump() + '\n';
    return write(file, text);
  }
  oracle::ReplayReport replay_rows(const std::vector<nlohmann::json>& rows) const {
    return oracle::Replay().check(write_rows("rows.jsonl", rows));
  }
  // The one difference of a row; the path of the file is left out. "passed" if there is none.
  std::string difference_of(const nlohmann::json& row) const {
    const oracle::ReplayReport report = replay_rows({row});
    return report.failed == 0 ? "passed" : report.differences.at(0).substr(path("rows.jsonl").size());
  }

 private:
  std::filesystem::path directory_;
};

}  // namespace fuselage
