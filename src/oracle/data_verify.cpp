#include "fuselage/oracle/data_verify.h"

#include <filesystem>
#include <map>
#include <set>

#include "data_row_check.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/line_source.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;

// Row numbers of the whole data set, sorted.
std::set<std::uint64_t> draw_rows(std::uint64_t rows, const VerifyOptions& options) {
  std::set<std::uint64_t> drawn;
  if (rows <= options.sample) {
    for (std::uint64_t i = 0; i < rows; ++i) drawn.insert(i);
    return drawn;
  }
  search::SplitMix random(options.seed);
  while (drawn.size() < options.sample) drawn.insert(random.below(rows));
  return drawn;
}

struct SampledRow {
  RowFormat format;
  std::string source;  // "FILE: line N"
  std::string text;
};

class Verifying {
 public:
  Verifying(const std::string& directory, const VerifyOptions& options)
      : root_(directory), options_(options), manifest_(manifest_of(directory)) {
    budget_.steps = options.steps;
    budget_.cancel = options.cancel;
    sample_ = draw_rows(manifest_.totals().rows, options);
  }

  VerifyReport run() {
    for (const ShardRecord& shard : manifest_.shards) {
      if (stopped()) break;
      check_shard(shard);
    }
    find_strangers();
    report_.cancelled = stopped();
    return std::move(report_);
  }

 private:
  static DataManifest manifest_of(const std::string& directory) {
    const fs::path root(directory);
    const std::string file = (root / data_manifest_file).string();
    if (fs::exists(file)) return read_manifest(read_file(file), file);
    fail("{}: {}; expected a directory that 'fuselage oracle' completed", directory,
         fs::exists(root / ".work") ? "is not complete yet: run its command again to go on"
                                    : "has no manifest.json");
  }

  bool stopped() const { return options_.cancel && *options_.cancel; }
  void fault(const std::string& source, const std::string& what) {
    report_.faults.push_back(source + ": " + what);
  }

  void check_shard(const ShardRecord& shard) {
    graphs_.clear();
    std::vector<SampledRow> rows;
    const std::uint64_t in_shard = rows_of(shard);
    const bool sampled = sample_.lower_bound(seen_) != sample_.lower_bound(seen_ + in_shard);
    for (const DataFile& file : shard.files) check_file(manifest_.path(shard, file), file, sampled, rows);
    for (const SampledRow& row : rows) {
      if (stopped()) return;
      check_row(row);
    }
  }

  // Files that nobody made, but that whoever loads SPLIT-* would read.
  void find_strangers() {
    std::set<std::string> known;
    for (const ShardRecord& shard : manifest_.shards)
      for (const DataFile& file : shard.files) known.insert(manifest_.path(shard, file));
    std::set<std::string> strangers;
    for (std::string_view format : row_format_names) {
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(root_ / format, none)) {
        std::string name = fmt::format("{}/{}", format, entry.path().filename().string());
        if (!known.contains(name)) strangers.insert(std::move(name));
      }
    }
    for (const std::string& name : strangers) fault(name, "is not in the manifest");
  }

  static std::uint64_t rows_of(const ShardRecord& shard) {
    std::uint64_t rows = 0;
    for (const DataFile& file : shard.files) rows += file.rows;
    return rows;
  }

  void check_file(const std::string& name, const DataFile& file, bool sampled,
                  std::vector<SampledRow>& rows) {
    ++report_.files;
    const std::uint64_t first = seen_;
    seen_ += file.rows;
    try {
      LineSource lines((root_ / name).string());
      std::uint64_t count = 0;
      while (const std::string* line = lines.next()) {
        ++count;
        const std::string source = fmt::format("{}: line {}", name, count);
        if (sample_.contains(first + count - 1))
          rows.push_back({.format = file.format, .source = source, .text = *line});
        if (sampled && file.format == RowFormat::graphs) remember_graph(*line, source);
      }
      report_.rows += count;
      if (count != file.rows) fault(name, fmt::format("has {} rows, the manifest says {}", count, file.rows));
      const std::string sha256 = lines.sha256();
      if (lines.bytes() != file.bytes || sha256 != file.sha256)
        fault(name, fmt::format("has {} bytes and SHA-256 {}, the manifest says {} and {}", lines.bytes(),
                                sha256, file.bytes, file.sha256));
    } catch (const Error& error) {
      report_.faults.push_back(error.what());
    }
  }

  void remember_graph(const std::string& line, const std::string& source) {
    const Json json = parse_json(line, source, {.object_only = true});
    const JsonField row(json, source);
    graphs_[static_cast<std::size_t>(row.required("index").integer(0))] = {.source = source, .text = line};
  }

  void check_row(const SampledRow& sampled) {
    try {
      const Json json = parse_json(sampled.text, sampled.source, {.object_only = true});
      const JsonField row(json, sampled.source);
      refuse_other_columns(row, sampled.format);
      const std::optional<std::string> what = graph_of(row, sampled.format).fault_of(sampled.format, row);
      if (stopped()) return;
      ++report_.played;
      if (what) fault(sampled.source, *what);
    } catch (const Error& error) {
      report_.faults.push_back(error.what());
    }
  }

  static void refuse_other_columns(const JsonField& row, RowFormat format) {
    std::vector<std::string_view> names;
    for (const RowColumn& column : columns_of(format)) {
      names.push_back(column.name);
      const JsonField field = row.required(column.name);
      if (field.is_null()) field.refuse("is null", "a value in every row");
    }
    row.only(names);
  }

  GraphCheck& graph_of(const JsonField& row, RowFormat format) {
    std::size_t index = 0;
    if (format == RowFormat::graphs) {
      index = static_cast<std::size_t>(row.required("index").integer(0));
    } else {
      const JsonField field = row.required("id");
      const std::optional<RowId> id = parse_row_id(field.string());
      if (!id) field.refuse("is no id", "GRAPH.EPISODE.STEP");
      index = id->graph;
    }
    const auto found = graphs_.find(index);
    if (found == graphs_.end()) row.refuse(fmt::format("graph {} is not in the shard's graphs", index));
    Graph& graph = found->second;
    if (!graph.check) {
      const Json json = parse_json(graph.text, graph.source, {.object_only = true});
      const JsonField row_of_graph(json, graph.source);
      const CheckOptions options = {.budget = budget_,
                                    .system = manifest_.system,
                                    .threshold = manifest_.threshold,
                                    .labels = manifest_.labels};
      graph.check =
          manifest_.family == "grid" ? grid_check(row_of_graph, options) : walk_check(row_of_graph, options);
    }
    return *graph.check;
  }

  struct Graph {
    std::string source;
    std::string text;  // its row
    std::unique_ptr<GraphCheck> check = nullptr;
  };

  fs::path root_;
  VerifyOptions options_;
  DataManifest manifest_;
  Budget budget_;
  std::set<std::uint64_t> sample_;
  std::uint64_t seen_ = 0;               // rows of the files before
  std::map<std::size_t, Graph> graphs_;  // of the shard, by index
  VerifyReport report_;
};

}  // namespace

VerifyReport verify_data_set(const std::string& directory, const VerifyOptions& options) {
  return Verifying(directory, options).run();
}

}  // namespace fuselage::oracle
