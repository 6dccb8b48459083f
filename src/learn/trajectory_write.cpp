#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fuselage/core/error.h"
#include "trajectory_layout.h"

namespace fuselage::learn {
namespace {

namespace fs = std::filesystem;

// A name beside `path` that is free.
fs::path temporary_name(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  const fs::path directory = parent.empty() ? "." : parent;
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail("{}: directory {} cannot be made: {}", path, directory.string(), error.message());
  for (int attempt = 0;; ++attempt) {
    fs::path name = directory / fmt::format(".fuselage-{}-{}.tmp", ::getpid(), attempt);
    if (!fs::exists(fs::symlink_status(name, error))) return name;
  }
}

// Names, units and meanings, a line a feature, for those who open the file with other tools.
std::string words_of(const Schema& schema) {
  std::string text;
  for (const Feature& feature : schema.features())
    text += fmt::format("{} [{}]: {}\n", feature.name, feature.unit, feature.meaning);
  return text;
}

std::string padded(const std::string& text, std::size_t bytes) {
  std::string result = text;
  result.resize(bytes, '\0');
  return result;
}

template <class T>
void append_one(hdf5::Rows& rows, T value) {
  rows.append(&value, 1);
}

}  // namespace

struct TrajectoryWriter::File {
  std::string path;
  fs::path temporary;
  TrajectoryManifest manifest;
  Widths widths;
  hdf5::File file;
  TrajectoryRows rows;
  std::size_t groups = 0;
  bool finished = false;

  ~File() {
    if (finished) return;
    std::error_code ignored;
    fs::remove(temporary, ignored);
  }

  void write_manifest(const TrajectorySchemas& schemas) {
    file.set("format", std::string(trajectory_format));
    file.set("format_version", trajectory_version);
    file.set("program", manifest.program);
    file.set("family", manifest.family);
    file.set("rules", manifest.rules);
    file.set("kind", manifest.kind);
    file.set("seed", manifest.seed);
    file.set("settings", manifest.settings);
    file.set("has_regret", std::uint64_t{manifest.has_regret});
    file.set("token_schema", schemas.token.fingerprint());
    file.set("state_schema", schemas.state.fingerprint());
    file.set("workload_schema", schemas.workload.fingerprint());
  }
  void add(const Trajectory& one) {
    append_one(rows.tokens, static_cast<std::int32_t>(one.size()));
    append_one(rows.sampler, static_cast<std::uint8_t>(one.sampler));
    append_one(rows.latency, one.latency);
    rows.features.append(one.tokens.data(), one.size());
    rows.kernel.append(one.kernel.data(), one.size());
    rows.prefix_cost.append(one.prefix_cost.data(), one.size());
    if (manifest.has_regret) rows.regret.append(one.regret.data(), one.size());
    rows.states.append(one.states.data(), one.size() + 1);
  }
};

TrajectoryWriter::TrajectoryWriter(const std::string& path, const TrajectoryManifest& manifest,
                                   const TrajectorySchemas& schemas)
    : file_(std::make_unique<File>()) {
  if (fs::is_directory(path)) fail("{}: is a directory; expected a writable file name", path);
  file_->path = path;
  file_->manifest = manifest;
  file_->widths = widths_of(schemas);
  file_->temporary = temporary_name(path);
  file_->file = hdf5::File::create(file_->temporary.string());
  file_->write_manifest(schemas);
  for (const char* group : {"groups", "schedules", "tokens", "states"}) file_->file.make_group(group);
  file_->rows.for_each(file_->widths, manifest.has_regret,
                       [&](hdf5::Rows& rows, const char* name, const hdf5::RowType& type) {
                         rows = file_->file.make_rows(name, type);
                       });
  file_->file.describe(file_->rows.features, "features", words_of(schemas.token));
  file_->file.describe(file_->rows.states, "features", words_of(schemas.state));
  file_->file.describe(file_->rows.workload, "features", words_of(schemas.workload));
}

TrajectoryWriter::~TrajectoryWriter() = default;

void TrajectoryWriter::add(const TrajectoryGroup& group) {
  check_group(group, file_->widths, file_->manifest.has_regret,
              {.source = file_->path, .group = file_->groups});
  TrajectoryRows& rows = file_->rows;
  rows.hash.append(group.graph_hash.data(), 1);
  rows.name.append(padded(group.name, name_bytes).data(), 1);
  append_one(rows.split, static_cast<std::uint8_t>(group.split));
  append_one(rows.schedules, static_cast<std::int32_t>(group.schedules.size()));
  append_one(rows.mean_cycles, group.mean_cycles);
  append_one(rows.best, group.best);
  append_one(rows.proven, std::uint8_t{group.proven});
  rows.workload.append(group.workload.data(), 1);
  for (const Trajectory& one : group.schedules) file_->add(one);
  ++file_->groups;
}

void TrajectoryWriter::finish() {
  file_->rows = {};
  file_->file.close();
  const int fd = ::open(file_->temporary.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  std::error_code error;
  if (synced) fs::rename(file_->temporary, file_->path, error);
  if (!synced || error)
    fail("{}: cannot be written: {}; expected a writable file name", file_->path,
         error ? error.message() : std::generic_category().message(errno));
  file_->finished = true;
}

}  // namespace fuselage::learn
