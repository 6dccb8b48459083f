#include "fuselage/oracle/data_set.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>

#include "data_directory.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/output_file.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

// One shard on its way to the disk. Unless it is finished, nothing of it stays.
class ShardWriter {
 public:
  ShardWriter(const DataOptions& options, std::size_t index) : options_(options) {
    record_.index = index;
    formats_ = options.formats;
    if (std::find(formats_.begin(), formats_.end(), RowFormat::graphs) == formats_.end())
      formats_.insert(formats_.begin(), RowFormat::graphs);
    std::sort(formats_.begin(), formats_.end());
  }

  void add(const LabelledGraph& graph, std::size_t index) {
    const learn::Split split = split_for(graph);
    ++record_.graphs;
    record_.episodes += graph.episodes.size();
    record_.states += graph.states.size();
    record_.proven += static_cast<std::uint64_t>(
        std::count_if(graph.states.begin(), graph.states.end(),
                      [](const auto& state) { return state.proof == search::Proof::optimal; }));
    for (RowFormat format : formats_) {
      Output& output = output_of(format, split);
      output.file.rows += append_rows(format, graph, index, options_.rows, output.text);
      if (output.text.size() >= buffer_bytes) flush(output);
    }
  }

  // All files are on the disk before the first gets its name, and the record comes last.
  ShardRecord finish(const std::string& record_path) {
    std::erase_if(outputs_, [](const auto& output) { return output->file.rows == 0; });
    std::sort(outputs_.begin(), outputs_.end(), [](const auto& a, const auto& b) {
      return std::pair(a->file.format, a->file.split) < std::pair(b->file.format, b->file.split);
    });
    for (const auto& output : outputs_) {
      flush(*output);
      const OutputFile::Content content = output->writer->finish();
      output->file.bytes = content.bytes;
      output->file.sha256 = content.sha256;
      record_.files.push_back(output->file);
    }
    try {
      for (const auto& output : outputs_) output->writer->publish();
      write_file_atomically(record_path, shard_to_json(record_));
    } catch (...) {
      std::error_code ignored;
      for (const auto& output : outputs_) fs::remove(output->writer->path(), ignored);
      throw;
    }
    return record_;
  }

 private:
  struct Output {
    DataFile file;
    std::string text = {};
    std::unique_ptr<OutputFile> writer = nullptr;  // made when there is something to write
  };

  learn::Split split_for(const LabelledGraph& graph) const {
    if (!graph.is_fixed_task) return learn::split_of(graph.hash);
    return options_.tasks_in_train ? learn::Split::train : learn::Split::test;
  }

  Output& output_of(RowFormat format, learn::Split split) {
    for (const auto& output : outputs_)
      if (output->file.format == format && output->file.split == split) return *output;
    outputs_.push_back(std::make_unique<Output>(Output{.file = {.format = format, .split = split}}));
    return *outputs_.back();
  }

  void flush(Output& output) {
    if (!output.writer) {
      const fs::path path = fs::path(options_.out) / options_.manifest.path(record_, output.file);
      output.writer = std::make_unique<OutputFile>(path.string(), options_.manifest.zstd);
    }
    output.writer->write(output.text);
    output.text.clear();
  }

  const DataOptions& options_;
  std::vector<RowFormat> formats_;
  ShardRecord record_;
  std::vector<std::unique_ptr<Output>> outputs_;
};

// The work on one directory.
class Making {
 public:
  Making(const LabelSource& source, const DataOptions& options)
      : source_(source), options_(options), manifest_(options.manifest), root_(options.out) {
    manifest_.shards.clear();
  }

  DataOutcome run() {
    const DirectoryLock lock(options_.out);
    refuse_foreign(options_.out);
    clear_leftovers(options_.out);
    if (fs::exists(root_ / data_manifest_file)) return already_complete();
    begin();
    DataOutcome outcome{.complete = false, .kept = keep_finished()};
    make_missing();
    const bool all =
        std::all_of(made_.begin(), made_.end(), [](const auto& shard) { return shard.has_value(); });
    if (!all) return outcome;
    for (const std::optional<ShardRecord>& shard : made_) manifest_.shards.push_back(*shard);
    write_file_atomically(path(data_card_file), data_card(manifest_));
    write_file_atomically(path(data_manifest_file), manifest_to_json(manifest_));
    fs::remove_all(root_ / work_directory);
    outcome.complete = true;
    outcome.manifest = std::move(manifest_);
    return outcome;
  }

 private:
  std::string path(std::string_view name) const { return (root_ / name).string(); }
  std::string work_path(const std::string& name) const { return (root_ / work_directory / name).string(); }
  std::string record_path(std::size_t shard) const {
    return work_path(fmt::format("shard-{:05}.json", shard));
  }

  bool is_there(const std::string& name, const DataFile& data) const {
    std::error_code missing;
    const auto size = fs::file_size(root_ / name, missing);
    return !missing && size == data.bytes;
  }

  void refuse_other_settings(const DataManifest& there, const std::string& file) const {
    std::string difference = settings_difference(manifest_, there);
    if (difference.empty() && manifest_.part != there.part)
      difference = fmt::format("part: {}/{} here, {}/{} there", manifest_.part.index, manifest_.part.of,
                               there.part.index, there.part.of);
    if (!difference.empty())
      fail("{}: is of another data set: {}; expected the command that began it, or another directory", file,
           difference);
  }

  DataOutcome already_complete() {
    const std::string file = path(data_manifest_file);
    DataManifest there = read_manifest(read_file(file), file);
    refuse_other_settings(there, file);
    for (const ShardRecord& shard : there.shards)
      for (const DataFile& data : shard.files)
        if (!is_there(there.path(shard, data), data))
          fail(
              "{}: is missing, or not of the {} bytes that it had; expected the file as it was made: delete "
              "{} to make the data set again",
              path(there.path(shard, data)), data.bytes, file);
    fs::remove_all(root_ / work_directory);  // the one that finished it may have been killed just before
    return {.complete = true, .kept = there.shards.size(), .manifest = std::move(there)};
  }

  void begin() {
    const std::string settings = work_path(settings_file);
    if (fs::exists(settings)) {
      refuse_other_settings(read_manifest(read_file(settings), settings, ManifestKind::settings), settings);
    } else {
      write_file_atomically(settings, manifest_to_json(manifest_));
    }
    fs::create_directories(root_ / name(RowFormat::graphs));
    for (RowFormat format : options_.formats) fs::create_directories(root_ / name(format));
    made_.resize(manifest_.last_shard() - manifest_.first_shard());
  }

  // Records whose files are all there, in the size that was recorded.
  std::size_t keep_finished() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < made_.size(); ++i) {
      const std::size_t index = manifest_.first_shard() + i;
      const std::string file = record_path(index);
      if (!fs::exists(file)) continue;
      ShardRecord record = read_shard(read_file(file), file);
      const bool whole = record.index == index &&
                         std::all_of(record.files.begin(), record.files.end(), [&](const DataFile& data) {
                           return is_there(manifest_.path(record, data), data);
                         });
      if (!whole) continue;
      ++kept;
      count(record.graphs);
      made_[i] = std::move(record);
    }
    return kept;
  }

  void count(std::uint64_t graphs) {
    const std::scoped_lock guard(progress_lock_);
    done_ += graphs;
    if (options_.progress) options_.progress(done_);
  }

  bool stopped() const { return failed_ || (options_.cancel && *options_.cancel); }

  void make_missing() {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < made_.size(); ++i)
      if (!made_[i]) missing.push_back(i);
    std::atomic<std::size_t> next = 0;
    const auto work = [&](int) {
      try {
        for (std::size_t i = next++; i < missing.size() && !stopped(); i = next++) make(missing[i]);
      } catch (...) {
        failed_ = true;
        throw;
      }
    };
    tbb::task_arena arena(std::min(options_.threads, tbb::info::default_concurrency()));
    arena.execute([&] { tbb::parallel_for(0, options_.threads, 1, work, tbb::simple_partitioner()); });
  }

  void make(std::size_t i) {
    const std::size_t index = manifest_.first_shard() + i;
    const std::size_t first = index * manifest_.shard_size;
    const std::size_t last = std::min<std::size_t>(first + manifest_.shard_size, manifest_.graphs);
    ShardWriter writer(options_, index);
    for (std::size_t at = first; at < last; ++at) {
      if (stopped()) return;
      const std::optional<LabelledGraph> graph = source_.label(at, options_.cancel);
      if (!graph) return;
      writer.add(*graph, at);
      count(1);
    }
    made_[i] = writer.finish(record_path(index));
  }

  const LabelSource& source_;
  const DataOptions& options_;
  DataManifest manifest_;
  fs::path root_;
  std::vector<std::optional<ShardRecord>> made_;  // of the part; a thread writes its own only
  std::atomic<bool> failed_ = false;
  std::mutex progress_lock_;
  std::uint64_t done_ = 0;
};

}  // namespace

DataOutcome make_data_set(const LabelSource& source, const DataOptions& options) {
  return Making(source, options).run();
}

}  // namespace fuselage::oracle
