// Bundles of learned models: what is sealed reads back, and what doesn't fit or was changed on the way is
// refused with the name and the number that differ.
#include "fuselage/oracle/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/core/hash.h"
#include "fuselage/grid/features_decision.h"
#include "fuselage/oracle/solve.h"
#include "walk_models.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Bundles : public testing::Test {
 protected:
  Bundles() {
    std::string name = (fs::temp_directory_path() / "fuselage-bundle-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    write_tiny_bundle(directory_.string(), about);
  }
  ~Bundles() override { fs::remove_all(directory_); }

  std::string path(std::string_view name) const { return (directory_ / name).string(); }
  void seal() const { seal_bundle(directory_.string(), about, "# card\n"); }
  Bundle load() const { return read_bundle(directory_.string()); }
  std::vector<std::string> faults() const { return verify_bundle(directory_.string()); }
  // Both ways to look at it refuse it; the message of read_bundle.
  std::string refusal() const {
    const std::string error = error_of([&] { (void)load(); });
    std::string first = error_of([&] {
      const std::vector<std::string> all = faults();
      if (!all.empty()) throw Error(all.front());
    });
    EXPECT_EQ(first, error);
    return error;
  }
  void write(std::string_view name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }
  void change(std::string_view name, const std::function<void(std::string&)>& how) const {
    std::string text = read_file(path(name));
    how(text);
    write(name, text);
  }
  void change_manifest(const std::function<void(ordered_json&)>& how) const {
    change("bundle.json", [&](std::string& text) {
      ordered_json json = ordered_json::parse(text);
      how(json);
      text = json.dump();
    });
  }

  const BundleManifest about = {
      .program = "test 1", .seed = 7, .walk = true, .grid = true, .metrics = R"({"a": {"b": 1.5}})"};
  fs::path directory_;
};

TEST_F(Bundles, what_is_sealed_reads_back) {
  EXPECT_THAT(faults(), IsEmpty());
  const Bundle bundle = load();
  EXPECT_EQ(bundle.path, directory_.string());
  EXPECT_EQ(bundle.manifest.program, "test 1");
  EXPECT_EQ(bundle.manifest.seed, 7U);
  EXPECT_TRUE(bundle.manifest.walk);
  EXPECT_TRUE(bundle.manifest.grid);
  EXPECT_EQ(ordered_json::parse(bundle.manifest.metrics), ordered_json::parse(R"({"a": {"b": 1.5}})"));
  std::vector<std::string> names;
  for (const BundleFile& file : bundle.manifest.files) {
    names.push_back(file.name);
    EXPECT_EQ(file.bytes, fs::file_size(path(file.name)));
    EXPECT_EQ(file.sha256, sha256_hex(read_file(path(file.name))));
  }
  EXPECT_THAT(names, ElementsAre("README.md", "grid/decisions.json", "schema.json", "walk/decisions.json",
                                 "walk/schedules.safetensors", "walk/value.safetensors"));
  // The models are those that were saved.
  const Workload w = draw_workload({.min_ops = 12, .max_ops = 12}, 5);
  const WalkModels saved = tiny_models();
  SolveOptions options = {.engine = Engine::beam};
  options.guide_options = {.value = true, .lookahead = 1};
  options.guide = &saved;
  const Solution one = solve(w, options);
  options.guide = &bundle.walk;
  const Solution two = solve(w, options);
  EXPECT_EQ(one.plan, two.plan);
  EXPECT_EQ(one.steps, two.steps);
}

TEST_F(Bundles, sealing_again_gives_the_same_bytes) {
  const std::string manifest = read_file(path("bundle.json")), schema = read_file(path("schema.json"));
  seal();
  EXPECT_EQ(read_file(path("bundle.json")), manifest);
  EXPECT_EQ(read_file(path("schema.json")), schema);
}

TEST_F(Bundles, the_schema_names_every_feature) {
  const ordered_json json = ordered_json::parse(read_file(path("schema.json")));
  const auto expect = [](const ordered_json& entry, const Schema& schema) {
    EXPECT_EQ(entry.at("fingerprint"), schema.fingerprint());
    ASSERT_EQ(entry.at("features").size(), schema.size());
    for (std::size_t i = 0; i < schema.size(); ++i) {
      EXPECT_EQ(entry.at("features").at(i).at("name"), schema.features()[i].name);
      EXPECT_EQ(entry.at("features").at(i).at("unit"), schema.features()[i].unit);
    }
  };
  expect(json.at("walk").at("decision"), walk::decision_schema());
  expect(json.at("walk").at("token"), walk::token_schema());
  expect(json.at("walk").at("state"), walk::state_schema());
  expect(json.at("walk").at("workload"), walk::workload_schema());
  expect(json.at("grid").at("decision"), grid::decision_schema());
}

TEST_F(Bundles, a_family_may_be_missing) {
  seal_bundle(directory_.string(), {.program = "test", .walk = true}, "");
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_EQ(load().grid, nullptr);
  EXPECT_NE(load().walk.decisions, nullptr);
  seal_bundle(directory_.string(), {.program = "test", .grid = true}, "");
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_EQ(load().walk.decisions, nullptr);
  EXPECT_NE(load().grid, nullptr);
  seal_bundle(directory_.string(), {.program = "test"}, "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr(path("bundle.json")), HasSubstr("schemas")));
}

TEST_F(Bundles, a_changed_byte_is_seen_in_every_file) {
  for (const BundleFile& file : load().manifest.files) {
    const std::string before = read_file(path(file.name));
    for (const std::size_t at : {std::size_t{0}, before.size() / 2, before.size() - 1}) {
      change(file.name, [&](std::string& text) { text[at] = static_cast<char>(text[at] ^ 1); });
      const std::string digest = sha256_hex(read_file(path(file.name)));
      EXPECT_EQ(refusal(),
                fmt::format("{}: SHA-256 {}; expected {} as bundle.json says: the file was changed",
                            path(file.name), digest, file.sha256));
      write(file.name, before);
    }
  }
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Bundles, files_cut_short_and_files_that_are_missing) {
  const std::vector<BundleFile> files = load().manifest.files;
  for (const BundleFile& file : files) {
    const std::string before = read_file(path(file.name));
    write(file.name, before.substr(0, before.size() / 2));
    EXPECT_EQ(refusal(), fmt::format("{}: {} bytes; expected {} as bundle.json says", path(file.name),
                                     before.size() / 2, before.size()));
    fs::remove(path(file.name));
    EXPECT_THAT(refusal(), HasSubstr(path(file.name)));
    fs::create_directories(path(file.name));
    EXPECT_THAT(refusal(), HasSubstr(path(file.name)));
    fs::remove(path(file.name));
    write(file.name, before);
  }
  // verify goes on after the first.
  for (const char* name : {"README.md", "walk/decisions.json", "grid/decisions.json"}) fs::remove(path(name));
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("README.md"), HasSubstr("grid/decisions.json"),
                                    HasSubstr("walk/decisions.json")));
}

TEST_F(Bundles, other_features_are_named_with_both_fingerprints) {
  const std::string other(64, '0');
  const std::vector<std::pair<std::string, std::string>> schemas = {
      {"walk", "token"}, {"walk", "state"}, {"walk", "workload"}, {"walk", "decision"}, {"grid", "decision"}};
  for (const auto& [family, schema] : schemas) {
    change_manifest([&](ordered_json& json) { json["schemas"][family][schema] = other; });
    EXPECT_THAT(
        refusal(),
        AllOf(StartsWith(fmt::format("{}: schemas.{}.{}: {}", path("bundle.json"), family, schema, other)),
              HasSubstr("test 1")));
    change_manifest([&](ordered_json& json) { json["schemas"][family].erase(schema); });
    EXPECT_THAT(refusal(),
                AllOf(HasSubstr(path("bundle.json")), HasSubstr("schemas." + family), HasSubstr(schema)));
    seal();
  }
  change_manifest([&](ordered_json& json) {
    for (const auto& [family, schema] : schemas) json["schemas"][family][schema] = other;
  });
  EXPECT_EQ(faults().size(), schemas.size());
}

TEST_F(Bundles, names_that_lead_elsewhere_are_not_followed) {
  write("../fuselage-bundle-outside", "secret");
  for (const std::string name : {"../fuselage-bundle-outside", "walk/../../fuselage-bundle-outside",
                                 "/etc/hostname", "", ".", "walk", "walk//decisions.json/"}) {
    change_manifest([&](ordered_json& json) {
      json["files"][name] = {{"bytes", 6}, {"sha256", sha256_hex("secret")}};
    });
    const std::string error = refusal();
    EXPECT_THAT(error, HasSubstr(directory_.string())) << name;
    EXPECT_NE(error, "no error") << name;
    if (name.find("..") != std::string::npos || name.starts_with('/')) {
      EXPECT_EQ(error, fmt::format("{}: files: \"{}\" lies outside of the bundle; expected a name within it",
                                   path("bundle.json"), name));
    }
    seal();
  }
  fs::remove(path("../fuselage-bundle-outside"));
}

TEST_F(Bundles, manifests_that_are_none) {
  const std::string whole = read_file(path("bundle.json"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 3}) {
    write("bundle.json", whole.substr(0, size));
    EXPECT_THAT(error_of([&] { (void)load(); }), HasSubstr(path("bundle.json"))) << size;
    EXPECT_THAT(error_of([&] { (void)faults(); }), HasSubstr(path("bundle.json"))) << size;
  }
  for (const char* text : {"[]", "null", "7", "{}", "\"fuselage bundle 1\""}) {
    write("bundle.json", text);
    EXPECT_THAT(error_of([&] { (void)load(); }), HasSubstr(path("bundle.json"))) << text;
  }
  fs::remove(path("bundle.json"));
  EXPECT_THAT(error_of([&] { (void)load(); }), HasSubstr(path("bundle.json")));
  EXPECT_THAT(error_of([] { (void)read_bundle("no/such/bundle"); }), HasSubstr("no/such/bundle/bundle.json"));
}

TEST_F(Bundles, every_field_of_a_manifest_is_checked) {
  struct Case {
    std::string field;
    ordered_json value;  // null: erased
  };
  const Case cases[] = {{"format", "fuselage bundle 2"},
                        {"format", 1},
                        {"format", nullptr},
                        {"program", 3},
                        {"program", nullptr},
                        {"seed", -1},
                        {"seed", "x"},
                        {"seed", nullptr},
                        {"schemas", nullptr},
                        {"schemas", ordered_json::array()},
                        {"schemas", {{"maze", {}}}},
                        {"files", nullptr},
                        {"files", ordered_json::array()},
                        {"metrics", nullptr},
                        {"metrics", 5},
                        {"metrics", ordered_json::array()}};
  for (const Case& one : cases) {
    change_manifest([&](ordered_json& json) {
      if (one.value.is_null())
        json.erase(one.field);
      else
        json[one.field] = one.value;
    });
    EXPECT_THAT(error_of([&] { (void)load(); }), AllOf(HasSubstr(path("bundle.json")), HasSubstr(one.field)))
        << one.field << ' ' << one.value;
    EXPECT_THAT(error_of([&] { (void)read_bundle_manifest(directory_.string()); }),
                AllOf(HasSubstr(path("bundle.json")), HasSubstr(one.field)))
        << one.field << ' ' << one.value;
    seal();
  }
  for (const auto& [field, value] : std::vector<std::pair<std::string, ordered_json>>{
           {"bytes", -1}, {"bytes", "6"}, {"bytes", 1.5}, {"sha256", 5}, {"sha256", "short"}}) {
    change_manifest([&](ordered_json& json) { json["files"]["walk/decisions.json"][field] = value; });
    EXPECT_THAT(error_of([&] { (void)load(); }), HasSubstr("walk/decisions.json")) << field << value;
    seal();
  }
}

TEST_F(Bundles, a_family_needs_all_its_models) {
  for (const auto name : {walk_schedules_file, walk_decisions_file, walk_value_file, grid_decisions_file}) {
    change_manifest([&](ordered_json& json) { json["files"].erase(std::string(name)); });
    EXPECT_EQ(refusal(), fmt::format("{}: files: {} is missing; expected it in a bundle of the {} family",
                                     path("bundle.json"), name, name.substr(0, 4)));
    seal();
  }
}

// Sealed as they are: the hash is right, and the model still is none.
TEST_F(Bundles, models_are_not_believed_because_their_hash_is_right) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string bytes(reinterpret_cast<const char*>(&nan), sizeof nan);
  for (const auto name : {walk_schedules_file, walk_value_file}) {
    const std::string before = read_file(path(name));
    change(name, [&](std::string& text) { text.replace(text.size() - sizeof nan, sizeof nan, bytes); });
    seal();
    EXPECT_THAT(refusal(), HasSubstr(path(name)));
    write(name, before.substr(0, before.size() - 4));
    seal();
    EXPECT_THAT(refusal(), HasSubstr(path(name)));
    write(name, before);
  }
  for (const auto name : {walk_decisions_file, grid_decisions_file}) {
    const std::string before = read_file(path(name));
    const std::size_t features =
        name == walk_decisions_file ? walk::decision_schema().size() : grid::decision_schema().size();
    write(name, ranker_of(features - 1));
    seal();
    EXPECT_EQ(refusal(), fmt::format("{}: {} features; expected the {} of the decision schema", path(name),
                                     features - 1, features));
    write(name, before.substr(0, before.size() / 2));
    seal();
    EXPECT_THAT(refusal(), HasSubstr(path(name)));
    write(name, before);
  }
}

TEST_F(Bundles, models_must_go_together) {
  const learn::ScheduleModel wider = untrained_schedules(9);
  wider.save(path(walk_schedules_file), schedule_fingerprints());
  seal();
  EXPECT_EQ(refusal(),
            fmt::format("{}: {} inputs; expected {}, a latent and the features of a state",
                        path(walk_value_file), value_inputs(*tiny_models().schedules), value_inputs(wider)));
  untrained_schedules(most_latent + 1).save(path(walk_schedules_file), schedule_fingerprints());
  seal();
  EXPECT_EQ(refusal(),
            fmt::format("{}: latents of 65 numbers; expected 64 at most", path(walk_schedules_file)));
  // Trained on other tokens, whatever the manifest says.
  auto other = schedule_fingerprints();
  other[0].second = std::string(64, 'f');
  tiny_models().schedules->save(path(walk_schedules_file), other);
  seal();
  EXPECT_THAT(refusal(), AllOf(HasSubstr(path(walk_schedules_file)), HasSubstr(other[0].second)));
}

}  // namespace
}  // namespace fuselage::oracle
