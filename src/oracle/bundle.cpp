#include "fuselage/oracle/bundle.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/hash.h"
#include "fuselage/core/json.h"
#include "fuselage/grid/features_decision.h"

namespace fuselage::oracle {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view format = "fuselage bundle 1";
constexpr std::string_view manifest_file = "bundle.json";
constexpr std::string_view schema_file = "schema.json";
constexpr std::string_view card_file = "README.md";

struct FamilySchemas {
  std::string_view family;
  std::vector<std::pair<std::string_view, const Schema*>> schemas;
  std::vector<std::string_view> files;
};

const std::vector<FamilySchemas>& families() {
  static const std::vector<FamilySchemas> all = {
      {.family = "walk",
       .schemas = {{"token", &walk::token_schema()},
                   {"state", &walk::state_schema()},
                   {"workload", &walk::workload_schema()},
                   {"decision", &walk::decision_schema()}},
       .files = {walk_schedules_file, walk_decisions_file, walk_value_file}},
      {.family = "grid",
       .schemas = {{"decision", &grid::decision_schema()}},
       .files = {grid_decisions_file}}};
  return all;
}

std::string path_of(const std::string& directory, std::string_view file) {
  return directory + "/" + std::string(file);
}

bool has_family(const BundleManifest& manifest, std::string_view family) {
  return family == "walk" ? manifest.walk : manifest.grid;
}

std::string schemas_json(const BundleManifest& manifest) {
  ordered_json json;
  for (const FamilySchemas& family : families()) {
    if (!has_family(manifest, family.family)) continue;
    for (const auto& [name, schema] : family.schemas) {
      ordered_json& entry = json[std::string(family.family)][std::string(name)];
      entry = {
          {"name", schema->name()}, {"version", schema->version()}, {"fingerprint", schema->fingerprint()}};
      for (const Feature& feature : schema->features())
        entry["features"].push_back(
            {{"name", feature.name}, {"unit", feature.unit}, {"meaning", feature.meaning}});
    }
  }
  return json.dump(1) + "\n";
}

ordered_json manifest_json(const BundleManifest& manifest) {
  ordered_json json = {{"format", format}, {"program", manifest.program}, {"seed", manifest.seed}};
  for (const FamilySchemas& family : families()) {
    if (!has_family(manifest, family.family)) continue;
    for (const auto& [name, schema] : family.schemas)
      json["schemas"][std::string(family.family)][std::string(name)] = schema->fingerprint();
  }
  for (const BundleFile& file : manifest.files)
    json["files"][file.name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  json["metrics"] = ordered_json::parse(manifest.metrics);
  return json;
}

// The parsed manifest, and what it says.
struct Opened {
  std::string source;
  Json json;
  BundleManifest manifest;
};

Opened open(const std::string& directory) {
  Opened opened{.source = path_of(directory, manifest_file), .json = {}, .manifest = {}};
  opened.json = parse_json(read_file(opened.source), opened.source, {.object_only = true});
  const JsonField file(opened.json, opened.source);
  const JsonField kind = file.required("format");
  if (kind.string() != format) kind.refuse("is unknown", quote(format));
  BundleManifest& manifest = opened.manifest;
  manifest.program = file.required("program").string();
  manifest.seed = static_cast<std::uint64_t>(file.required("seed").integer(0));
  const JsonField schemas = file.required("schemas");
  constexpr std::array<std::string_view, 2> known = {"walk", "grid"};
  schemas.only(known);
  manifest.walk = schemas.has("walk");
  manifest.grid = schemas.has("grid");
  const JsonField files = file.required("files");
  if (!files.value().is_object()) files.refuse("is no object", "the bundle's files by name");
  for (const auto& [name, value] : files.value().items()) {
    const JsonField entry = files.required(name);
    const JsonField digest = entry.required("sha256");
    manifest.files.push_back({.name = name,
                              .bytes = static_cast<std::uint64_t>(entry.required("bytes").integer(0)),
                              .sha256 = digest.string()});
  }
  const JsonField metrics = file.required("metrics");
  if (!metrics.value().is_object()) metrics.refuse("is no object", "what was measured, by name");
  manifest.metrics = metrics.value().dump();
  return opened;
}

// Looks at everything that a bundle says about itself; `found` is told of each fault.
void check_schemas(const Opened& opened, const std::function<void(const std::string&)>& found) {
  const JsonField file(opened.json, opened.source);
  const JsonField schemas = file.required("schemas");
  for (const FamilySchemas& family : families()) {
    if (!has_family(opened.manifest, family.family)) continue;
    const JsonField of_family = schemas.required(family.family);
    for (const auto& [name, schema] : family.schemas) {
      const JsonField stored = of_family.required(name);
      if (stored.string() == schema->fingerprint()) continue;
      found(
          fmt::format("{}: {}: {} is the fingerprint of other features; expected {} ({} {}, {} features): "
                      "train the bundle again, or use the program that made it, {}",
                      opened.source, stored.path(), stored.string(), schema->fingerprint(), schema->name(),
                      schema->version(), schema->size(), opened.manifest.program));
    }
  }
}

void check_file(const std::string& directory, const BundleFile& file,
                const std::function<void(const std::string&)>& found) {
  const std::string path = path_of(directory, file.name);
  if (file.name.find("..") != std::string::npos || file.name.starts_with('/')) {
    found(fmt::format("{}: files: {} lies outside of the bundle; expected a name within it",
                      path_of(directory, manifest_file), quote(file.name)));
    return;
  }
  const std::string content = read_file(path);
  if (content.size() != file.bytes)
    found(
        fmt::format("{}: {} bytes; expected {} as {} says", path, content.size(), file.bytes, manifest_file));
  else if (const std::string digest = sha256_hex(content); digest != file.sha256)
    found(fmt::format("{}: SHA-256 {}; expected {} as {} says: the file was changed", path, digest,
                      file.sha256, manifest_file));
}

void check_complete(const Opened& opened, const std::function<void(const std::string&)>& found) {
  for (const FamilySchemas& family : families()) {
    if (!has_family(opened.manifest, family.family)) continue;
    for (const std::string_view needed : family.files)
      if (std::none_of(opened.manifest.files.begin(), opened.manifest.files.end(),
                       [&](const BundleFile& file) { return file.name == needed; }))
        found(fmt::format("{}: files: {} is missing; expected it in a bundle of the {} family", opened.source,
                          needed, family.family));
  }
  if (!opened.manifest.walk && !opened.manifest.grid)
    found(fmt::format("{}: schemas: neither walk nor grid; expected models of at least one family",
                      opened.source));
}

std::shared_ptr<const learn::FlatTrees> read_ranker(const std::string& path, std::size_t features) {
  auto trees = std::make_shared<const learn::FlatTrees>(learn::read_flat_trees(path));
  if (std::cmp_not_equal(trees->features(), features))
    fail("{}: {} features; expected the {} of the decision schema", path, trees->features(), features);
  return trees;
}

WalkModels read_walk(const std::string& directory) {
  WalkModels models;
  models.decisions = read_ranker(path_of(directory, walk_decisions_file), walk::decision_schema().size());
  models.schedules = std::make_shared<const learn::ScheduleModel>(
      learn::ScheduleModel::load(path_of(directory, walk_schedules_file), schedule_fingerprints()));
  models.value = std::make_shared<const learn::ValueHead>(
      learn::ValueHead::load(path_of(directory, walk_value_file), value_fingerprints()));
  if (models.schedules->latent() > most_latent)
    fail("{}: latents of {} numbers; expected {} at most", path_of(directory, walk_schedules_file),
         models.schedules->latent(), most_latent);
  if (std::cmp_not_equal(models.value->inputs(), value_inputs(*models.schedules)))
    fail("{}: {} inputs; expected {}, a latent and the features of a state",
         path_of(directory, walk_value_file), models.value->inputs(), value_inputs(*models.schedules));
  return models;
}

}  // namespace

learn::ScheduleModel::Fingerprints schedule_fingerprints() {
  return {{"token", walk::token_schema().fingerprint()}, {"workload", walk::workload_schema().fingerprint()}};
}

learn::ValueHead::Fingerprints value_fingerprints() {
  auto both = schedule_fingerprints();
  both.emplace_back("state", walk::state_schema().fingerprint());
  return both;
}

BundleManifest read_bundle_manifest(const std::string& directory) {
  return open(directory).manifest;
}

Bundle read_bundle(const std::string& directory) {
  const Opened opened = open(directory);
  const auto refuse = [](const std::string& fault) { throw Error(fault); };
  check_schemas(opened, refuse);
  check_complete(opened, refuse);
  for (const BundleFile& file : opened.manifest.files) check_file(directory, file, refuse);
  Bundle bundle{.path = directory, .manifest = opened.manifest};
  if (bundle.manifest.walk) bundle.walk = read_walk(directory);
  if (bundle.manifest.grid)
    bundle.grid = read_ranker(path_of(directory, grid_decisions_file), grid::decision_schema().size());
  return bundle;
}

std::vector<std::string> verify_bundle(const std::string& directory) {
  std::vector<std::string> faults;
  const auto note = [&](const std::string& fault) { faults.push_back(fault); };
  const auto attempt = [&](const std::function<void()>& what) {
    try {
      what();
    } catch (const Error& error) {
      note(error.what());
    }
  };
  const Opened opened = open(directory);
  attempt([&] { check_schemas(opened, note); });
  attempt([&] { check_complete(opened, note); });
  for (const BundleFile& file : opened.manifest.files) attempt([&] { check_file(directory, file, note); });
  if (!faults.empty()) return faults;
  attempt([&] { read_bundle(directory); });
  return faults;
}

std::string find_default_bundle() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  for (fs::path at = self.parent_path(); at.has_relative_path(); at = at.parent_path())
    if (fs::is_regular_file(at / "models" / "default" / manifest_file, ignored))
      return (at / "models" / "default").string();
  return {};
}

void seal_bundle(const std::string& directory, const BundleManifest& about, const std::string& card) {
  write_file_atomically(path_of(directory, schema_file), schemas_json(about));
  write_file_atomically(path_of(directory, card_file), card);
  BundleManifest manifest = about;
  manifest.files.clear();
  const auto add = [&](std::string_view name) {
    const std::string content = read_file(path_of(directory, name));
    manifest.files.push_back({std::string(name), content.size(), sha256_hex(content)});
  };
  for (const FamilySchemas& family : families())
    if (has_family(manifest, family.family))
      for (const std::string_view name : family.files) add(name);
  add(schema_file);
  add(card_file);
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const BundleFile& a, const BundleFile& b) { return a.name < b.name; });
  write_file_atomically(path_of(directory, manifest_file), manifest_json(manifest).dump(2) + "\n");
}

}  // namespace fuselage::oracle
