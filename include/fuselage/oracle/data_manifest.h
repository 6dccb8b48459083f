// What a data set directory says of itself, as manifest.json: how it was made, and size, rows and SHA-256 of
// each file. A directory that has one is complete; one that is still being made has the record of each
// finished shard in .work instead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/learn/trajectory_file.h"
#include "fuselage/oracle/data_rows.h"

namespace fuselage::oracle {

inline constexpr std::string_view data_manifest_file = "manifest.json";
inline constexpr std::string_view data_card_file = "README.md";

// The part `index` of `of` of the shards: a contiguous block of them.
struct DataPart {
  std::size_t index = 0;
  std::size_t of = 1;
  friend bool operator==(const DataPart&, const DataPart&) = default;
};

struct DataFile {
  RowFormat format = RowFormat::sft;
  learn::Split split = learn::Split::train;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // on the disk
  std::string sha256 = {};  // of these
};

// Graphs [index * shard_size, ...) of the data set. A format and split without rows has no file.
struct ShardRecord {
  std::size_t index = 0;
  std::uint64_t graphs = 0;
  std::uint64_t episodes = 0;
  std::uint64_t states = 0;
  std::uint64_t proven = 0;  // of the states, those whose proof is `optimal`
  std::vector<DataFile> files = {};
};

struct DataManifest {
  std::string program = {};  // that made it, with its version
  std::string family = {};   // walk or grid
  std::string rules = {};
  std::string command = {};  // that makes it again, without directories and threads
  // What the command's inputs were: a JSON object of file names and SHA-256, in one line.
  std::string inputs = "{}";
  // grid: what labels a problem again (data_source_grid.h), a JSON object in one line; else empty.
  std::string labels = {};
  std::string license = {};
  std::string system = {};
  double threshold = 0;
  bool zstd = false;
  std::uint64_t graphs = 0;  // of the whole data set
  std::size_t shard_size = 1;
  DataPart part = {};
  std::vector<ShardRecord> shards = {};  // of the part, by index

  std::size_t all_shards() const { return (graphs + shard_size - 1) / shard_size; }
  // The shards of the part, [first, last).
  std::size_t first_shard() const { return all_shards() * part.index / part.of; }
  std::size_t last_shard() const { return all_shards() * (part.index + 1) / part.of; }
  // "sft/train-00003-of-00016.jsonl"
  std::string path(const ShardRecord& shard, const DataFile& file) const;

  struct Totals {
    std::uint64_t graphs = 0, episodes = 0, states = 0, proven = 0, rows = 0, bytes = 0;
    // Rows by format and split; a format that has none of a split has no entry.
    std::map<RowFormat, std::map<learn::Split, std::uint64_t>> by_split = {};
    std::map<RowFormat, std::uint64_t> bytes_of = {};
  };
  Totals totals() const;
};

std::string manifest_to_json(const DataManifest& manifest);
// Of a complete directory, or of one that is being made: then no shards are read.
enum class ManifestKind : std::uint8_t { complete, settings };
// Error with `source` and the field for what is no such manifest.
DataManifest read_manifest(std::string_view text, const std::string& source,
                           ManifestKind kind = ManifestKind::complete);

std::string shard_to_json(const ShardRecord& shard);
ShardRecord read_shard(std::string_view text, const std::string& source);

// In which of two manifests' settings they differ: "command: ... here, ... there"; empty if in none. Parts
// and shards don't count.
std::string settings_difference(const DataManifest& here, const DataManifest& there);

// The data set's card: how it is loaded, its splits, what the columns mean, how it was made.
std::string data_card(const DataManifest& manifest);

}  // namespace fuselage::oracle
