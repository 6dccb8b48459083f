#include "fuselage/oracle/data_manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::oracle {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kind = "fuselage data set 1";
constexpr std::int64_t most = std::int64_t{1} << 53;

template <class Names>
std::size_t index_of(const JsonField& field, const Names& names) {
  const auto at = std::find(names.begin(), names.end(), field.string());
  if (at == names.end()) field.refuse("is unknown", "one of " + join_names(names));
  return static_cast<std::size_t>(at - names.begin());
}

std::uint64_t count(const JsonField& parent, std::string_view key, std::int64_t min = 0) {
  return static_cast<std::uint64_t>(parent.required(key).integer(min, most));
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

ordered_json shard_json(const ShardRecord& shard) {
  ordered_json files = ordered_json::array();
  for (const DataFile& file : shard.files)
    files.push_back({{"format", name(file.format)},
                     {"split", learn::split_names[static_cast<std::size_t>(file.split)]},
                     {"rows", file.rows},
                     {"bytes", file.bytes},
                     {"sha256", file.sha256}});
  return {{"index", shard.index},   {"graphs", shard.graphs}, {"episodes", shard.episodes},
          {"states", shard.states}, {"proven", shard.proven}, {"files", std::move(files)}};
}

ShardRecord shard_of(const JsonField& field) {
  ShardRecord shard{.index = count(field, "index"),
                    .graphs = count(field, "graphs"),
                    .episodes = count(field, "episodes"),
                    .states = count(field, "states"),
                    .proven = count(field, "proven")};
  const JsonField files = field.required("files");
  for (std::size_t i = 0; i < files.array_size(); ++i) {
    const JsonField file = files.element(i);
    shard.files.push_back(
        {.format = static_cast<RowFormat>(index_of(file.required("format"), row_format_names)),
         .split = static_cast<learn::Split>(index_of(file.required("split"), learn::split_names)),
         .rows = count(file, "rows"),
         .bytes = count(file, "bytes"),
         .sha256 = file.required("sha256").string()});
    if (!is_sha256(shard.files.back().sha256))
      file.required("sha256").refuse("is no SHA-256", "64 lower-case hex digits");
  }
  return shard;
}

void read_shards(const JsonField& root, DataManifest& manifest) {
  const JsonField shards = root.required("shards");
  for (std::size_t i = 0; i < shards.array_size(); ++i) {
    const JsonField shard = shards.element(i);
    manifest.shards.push_back(shard_of(shard));
    if (manifest.shards.back().index != manifest.first_shard() + i)
      shard.required("index").refuse(fmt::format("{} is out of order", manifest.shards.back().index),
                                     fmt::format("{}: shards {} to {}, each once", manifest.first_shard() + i,
                                                 manifest.first_shard(), manifest.last_shard() - 1));
  }
  if (manifest.shards.size() != manifest.last_shard() - manifest.first_shard())
    shards.refuse(fmt::format("holds {} shards", manifest.shards.size()),
                  fmt::format("{}", manifest.last_shard() - manifest.first_shard()));
}

}  // namespace

std::string DataManifest::path(const ShardRecord& shard, const DataFile& file) const {
  return fmt::format("{}/{}-{:05}-of-{:05}.jsonl{}", name(file.format),
                     learn::split_names[static_cast<std::size_t>(file.split)], shard.index, all_shards(),
                     zstd ? ".zst" : "");
}

DataManifest::Totals DataManifest::totals() const {
  Totals totals;
  for (const ShardRecord& shard : shards) {
    totals.graphs += shard.graphs;
    totals.episodes += shard.episodes;
    totals.states += shard.states;
    totals.proven += shard.proven;
    for (const DataFile& file : shard.files) {
      totals.rows += file.rows;
      totals.bytes += file.bytes;
      totals.by_split[file.format][file.split] += file.rows;
      totals.bytes_of[file.format] += file.bytes;
    }
  }
  return totals;
}

std::string manifest_to_json(const DataManifest& manifest) {
  ordered_json json = {{"kind", kind},
                       {"program", manifest.program},
                       {"family", manifest.family},
                       {"rules", manifest.rules},
                       {"command", manifest.command},
                       {"inputs", ordered_json::parse(manifest.inputs)},
                       {"license", manifest.license},
                       {"system", manifest.system},
                       {"threshold", manifest.threshold},
                       {"zstd", manifest.zstd},
                       {"graphs", manifest.graphs},
                       {"shard_size", manifest.shard_size},
                       {"part", {{"index", manifest.part.index}, {"of", manifest.part.of}}}};
  if (!manifest.labels.empty()) json["labels"] = ordered_json::parse(manifest.labels);
  const DataManifest::Totals totals = manifest.totals();
  json["totals"] = {{"graphs", totals.graphs}, {"episodes", totals.episodes}, {"states", totals.states},
                    {"proven", totals.proven}, {"rows", totals.rows},         {"bytes", totals.bytes}};
  json["shards"] = ordered_json::array();
  for (const ShardRecord& shard : manifest.shards) json["shards"].push_back(shard_json(shard));
  return json.dump(1) + "\n";
}

DataManifest read_manifest(std::string_view text, const std::string& source, ManifestKind wanted) {
  const Json json = parse_json(text, source, {.object_only = true});
  const JsonField root(json, source);
  const JsonField kind_field = root.required("kind");
  if (kind_field.string() != kind) kind_field.refuse("is another kind of file", quote(kind));
  DataManifest manifest{.program = root.required("program").string(),
                        .family = root.required("family").string(),
                        .rules = root.required("rules").string(),
                        .command = root.required("command").string(),
                        .inputs = ordered_json::parse(root.required("inputs").value().dump()).dump(),
                        .license = root.required("license").string(),
                        .system = root.required("system").string(),
                        .threshold = root.required("threshold").number(0),
                        .zstd = root.required("zstd").boolean(),
                        .graphs = count(root, "graphs", 1),
                        .shard_size = count(root, "shard_size", 1)};
  if (const auto labels = root.optional("labels")) manifest.labels = labels->value().dump();
  const JsonField part = root.required("part");
  manifest.part.of = count(part, "of", 1);
  manifest.part.index = static_cast<std::size_t>(
      part.required("index").integer(0, static_cast<std::int64_t>(manifest.part.of) - 1));
  if (wanted == ManifestKind::complete) read_shards(root, manifest);
  return manifest;
}

std::string shard_to_json(const ShardRecord& shard) {
  return shard_json(shard).dump(1) + "\n";
}

ShardRecord read_shard(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source, {.object_only = true});
  return shard_of(JsonField(json, source));
}

std::string settings_difference(const DataManifest& here, const DataManifest& there) {
  const auto differ = [](std::string_view field, const auto& a, const auto& b) {
    return a == b ? std::string() : fmt::format("{}: {} here, {} there", field, a, b);
  };
  for (const std::string& difference :
       {differ("program", here.program, there.program), differ("command", here.command, there.command),
        differ("inputs", here.inputs, there.inputs), differ("system", here.system, there.system),
        differ("graphs", here.graphs, there.graphs)})
    if (!difference.empty()) return difference;
  return {};
}

}  // namespace fuselage::oracle
