#include <algorithm>
#include <filesystem>
#include <fstream>

#include "data_directory.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/output_file.h"
#include "fuselage/oracle/data_set.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;

struct Part {
  std::string directory;
  DataManifest manifest;
};

std::vector<Part> read_parts(std::span<const std::string> directories) {
  if (directories.empty())
    fail("merge: no parts; expected directories that 'fuselage oracle --shard-of' made");
  std::vector<Part> parts;
  for (const std::string& directory : directories) {
    const std::string file = (fs::path(directory) / data_manifest_file).string();
    if (!fs::exists(file))
      fail("{}: is no complete part; expected one that has {}: run its command again", directory,
           data_manifest_file);
    parts.push_back({.directory = directory, .manifest = read_manifest(read_file(file), file)});
    const std::string difference = settings_difference(parts.front().manifest, parts.back().manifest);
    if (!difference.empty())
      fail("{}: is of another data set than {}: {}", directory, parts.front().directory, difference);
    if (parts.back().manifest.part.of != parts.front().manifest.part.of)
      fail("{}: is a part of {}, {} is one of {}; expected parts of one division", directory,
           parts.back().manifest.part.of, parts.front().directory, parts.front().manifest.part.of);
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.manifest.part.index < b.manifest.part.index; });
  return parts;
}

void refuse_gaps(const std::vector<Part>& parts) {
  const std::size_t of = parts.front().manifest.part.of;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t index = parts[i].manifest.part.index;
    if (i > 0 && parts[i - 1].manifest.part.index == index)
      fail("{} and {}: are both part {} of {}; expected each part once", parts[i - 1].directory,
           parts[i].directory, index, of);
    if (index != i) fail("part {} of {} is missing; expected all of them", i, of);
  }
  if (parts.size() != of) fail("part {} of {} is missing; expected all of them", parts.size(), of);
}

void copy_file(const fs::path& from, const fs::path& to, const DataFile& expected) {
  std::ifstream in(from, std::ios::binary);
  if (!in) fail("{}: cannot be opened; expected a file of the part", from.string());
  fs::create_directories(to.parent_path());
  OutputFile out(to.string(), false);
  std::string block(std::size_t{1} << 20, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0)
    out.write(std::string_view(block.data(), static_cast<std::size_t>(in.gcount())));
  const OutputFile::Content content = out.finish();
  if (content.bytes != expected.bytes || content.sha256 != expected.sha256)
    fail("{}: has SHA-256 {}, its manifest says {}; expected the file as it was made", from.string(),
         content.sha256, expected.sha256);
  out.publish();
}

// Of a merge that was killed just before its end only .work is left over.
DataManifest already_merged(const fs::path& root, const DataManifest& whole) {
  const std::string file = (root / data_manifest_file).string();
  DataManifest there = read_manifest(read_file(file), file);
  if (!settings_difference(whole, there).empty() || there.part != whole.part ||
      !fs::exists(root / work_directory))
    fail("{}: holds a data set already; expected a new directory", root.string());
  fs::remove_all(root / work_directory);
  return there;
}

}  // namespace

DataManifest merge_data_set(std::span<const std::string> directories, const std::string& out) {
  const std::vector<Part> parts = read_parts(directories);
  refuse_gaps(parts);
  const DirectoryLock lock(out);
  refuse_foreign(out);
  const fs::path root(out);
  DataManifest whole = parts.front().manifest;
  whole.part = {};
  whole.shards.clear();
  if (fs::exists(root / data_manifest_file)) return already_merged(root, whole);
  const std::string settings = (root / work_directory / settings_file).string();
  if (fs::exists(settings)) {
    const DataManifest there = read_manifest(read_file(settings), settings, ManifestKind::settings);
    const std::string difference = settings_difference(whole, there);
    if (!difference.empty())
      fail("{}: is of another data set: {}; expected another directory", settings, difference);
  }
  clear_leftovers(out);
  write_file_atomically(settings, manifest_to_json(whole));
  for (const Part& part : parts) {
    for (const ShardRecord& shard : part.manifest.shards) {
      for (const DataFile& file : shard.files)
        copy_file(fs::path(part.directory) / whole.path(shard, file), root / whole.path(shard, file), file);
      whole.shards.push_back(shard);
    }
    // Formats without rows have a directory all the same.
    for (std::string_view format : row_format_names)
      if (fs::exists(fs::path(part.directory) / format)) fs::create_directories(root / format);
  }
  write_file_atomically((root / data_card_file).string(), data_card(whole));
  write_file_atomically((root / data_manifest_file).string(), manifest_to_json(whole));
  fs::remove_all(root / work_directory);
  return whole;
}

}  // namespace fuselage::oracle
