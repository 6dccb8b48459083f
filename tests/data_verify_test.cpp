// `verify` finds what was changed, also by who could change the hashes.

#include "fuselage/oracle/data_verify.h"

#include <gmock/gmock.h>

#include "data_sets.h"
#include "e2e/command.h"
#include "error_of.h"
#include "fuselage/oracle/data_source.h"
#include "fuselage/walk/memory_bound.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Verify : public CommandTest {
 protected:
  // One task in every format: one shard, all of it in the split test.
  void make(bool plain = false, std::uint64_t steps = 1'000'000) const {
    PythonRandom random(8);
    WalkSourceOptions source{.given = {{walk::make_task(walk::tasks()[0])},
                                       {walk::generate_memory_bound({.num_ops = 10}, random)}}};
    source.labels = {.mix = parse_policy_mix("optimal,eps0.6,random", "mix"), .episodes = 3, .seed = 2};
    source.labels.budget.steps = steps;
    DataOptions options{.out = path("d").string(), .formats = all_formats()};
    options.rows = {.system = "Decide.", .plain = plain};
    options.manifest = {.program = "p",
                        .family = "walk",
                        .rules = "seed-honest",
                        .command = "c",
                        .license = "mit",
                        .system = "Decide.",
                        .graphs = 2,
                        .shard_size = 5};
    ASSERT_TRUE(make_data_set(WalkSource(std::move(source)), options).complete);
  }
  static std::vector<RowFormat> all_formats() {
    std::vector<RowFormat> formats;
    for (std::size_t i = 0; i < row_format_names.size(); ++i) formats.push_back(static_cast<RowFormat>(i));
    return formats;
  }
  VerifyReport verify(std::size_t sample = 100'000) const {
    return verify_data_set(path("d").string(), {.sample = sample});
  }
  static std::string file(const std::string& format) { return format + "/test-00000-of-00001.jsonl"; }
  // The one fault of the data set after a row was changed and hashes were made to fit.
  std::string fault_of(const std::string& format, const std::function<void(ordered_json&)>& change,
                       std::size_t line = 0) const {
    const std::string before = file_text(path("d") / file(format));
    const std::string manifest = file_text(path("d/manifest.json"));
    forge_row(path("d"), file(format), line, change);
    const VerifyReport report = verify();
    write("d/" + file(format), before);
    write("d/manifest.json", manifest);
    EXPECT_THAT(report.faults, SizeIs(1)) << format;
    return report.faults.empty() ? "none" : report.faults.front();
  }
};

TEST_F(Verify, finds_nothing_in_what_was_made) {
  for (const bool plain : {false, true}) {
    make(plain);
    const VerifyReport report = verify();
    EXPECT_THAT(report.faults, IsEmpty());
    EXPECT_EQ(report.played, report.rows);
    EXPECT_GT(report.rows, 300U);
    EXPECT_EQ(verify(10).played, 10U);
    EXPECT_EQ(verify(0).played, 0U);
    EXPECT_EQ(verify(10).rows, report.rows);
    std::filesystem::remove_all(path("d"));
  }
}

// What a small budget left unproven is no fault, unless it is impossible.
TEST_F(Verify, holds_unproven_figures_against_their_bounds) {
  make(false, 10);
  EXPECT_THAT(verify().faults, IsEmpty());
  const auto totals = ordered_json::parse(read("d/manifest.json")).at("totals");
  EXPECT_LT(totals.at("proven"), totals.at("states"));
}

TEST_F(Verify, finds_a_byte_a_file_and_a_stranger) {
  make();
  const std::string text = read("d/" + file("sft"));
  std::string flipped = text;
  flipped[text.size() / 2] ^= 1;
  write("d/" + file("sft"), flipped);
  EXPECT_THAT(verify(0).faults, ElementsAre(AllOf(HasSubstr(file("sft")), HasSubstr("SHA-256"))));
  write("d/" + file("sft"), text.substr(0, text.size() - 1));
  EXPECT_THAT(verify(0).faults, ElementsAre(HasSubstr(file("sft"))));
  write("d/" + file("sft"), text + "{}\n");
  EXPECT_THAT(verify(0).faults, Contains(HasSubstr("rows, the manifest says")));
  std::filesystem::remove(path("d/" + file("sft")));
  EXPECT_THAT(verify(0).faults, ElementsAre(AllOf(HasSubstr(file("sft")), HasSubstr("cannot be opened"))));
  write("d/" + file("sft"), text);
  write("d/sft/train-00007-of-00009.jsonl", "{}\n");
  EXPECT_THAT(verify(0).faults, ElementsAre("sft/train-00007-of-00009.jsonl: is not in the manifest"));
}

TEST_F(Verify, finds_labels_that_were_edited) {
  make();
  const std::string bad = R"({"fuse_with_prev": false, "tile": 32, "retain": []})";
  EXPECT_THAT(fault_of("sft", [&](auto& row) { row["messages"][2]["content"] = bad; }), HasSubstr("line 1"));
  EXPECT_THAT(fault_of("prompt-completion", [&](auto& row) { row["completion"][0]["content"] = bad; }),
              HasSubstr("simulate finds"));
  EXPECT_THAT(fault_of("dpo", [](auto& row) { std::swap(row["chosen"], row["rejected"]); }),
              HasSubstr("simulate finds"));
  EXPECT_THAT(
      fault_of("dpo", [](auto& row) { row["q_rejected"] = row["q_rejected"].template get<double>() + 1; }),
      HasSubstr("q_rejected"));
  EXPECT_THAT(fault_of("kto", [](auto& row) { row["label"] = !row["label"].template get<bool>(); }),
              HasSubstr("label"));
  EXPECT_THAT(fault_of("kto", [](auto& row) { row["q"] = row["q"].template get<double>() * 1.01; }),
              HasSubstr("q: "));
  EXPECT_THAT(fault_of("prm", [](auto& row) { row["labels"][1] = !row["labels"][1].template get<bool>(); }),
              HasSubstr("labels[1]"));
  EXPECT_THAT(fault_of("prm",
                       [](auto& row) {
                         row["regrets"][0] = 5000.0;
                         row["labels"][0] = false;
                       }),
              HasSubstr("add up to"));
  EXPECT_THAT(fault_of("prm", [](auto& row) { row["completions"].erase(0); }), HasSubstr("completions"));
  EXPECT_THAT(fault_of("raw", [](auto& row) { row["q"][1] = row["q"][1].template get<double>() * 2; }),
              HasSubstr("q: "));
  EXPECT_THAT(fault_of("raw", [](auto& row) { row["optimal"][0] = !row["optimal"][0].template get<bool>(); }),
              HasSubstr("optimal"));
  EXPECT_THAT(fault_of("raw", [](auto& row) { row["best"] = "{\"tile\": 32, \"retain\": []}"; }),
              HasSubstr("simulate finds"));
  EXPECT_THAT(
      fault_of("grpo",
               [](auto& row) { row["advantage"][0] = row["advantage"][0].template get<double>() - 9999; }),
      HasSubstr("simulate finds"));
}

// A worse answer with its true price: right in itself, but no label of the best.
TEST_F(Verify, finds_a_consistent_lie) {
  make();
  const auto pairs = rows_in(read("d/" + file("dpo")));
  const ordered_json& pair = pairs.front();
  const auto rows = rows_in(read("d/" + file("sft")));
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.at("id") == pair.at("id"); });
  EXPECT_THAT(fault_of(
                  "sft",
                  [&](auto& row) {
                    row["messages"][2] = pair.at("rejected")[0];
                    row["latency"] = row["latency"].template get<double>() +
                                     pair.at("q_difference").template get<double>();
                  },
                  static_cast<std::size_t>(at - rows.begin())),
              HasSubstr("the state: the row says"));
}

TEST_F(Verify, finds_prompts_and_columns_that_were_edited) {
  make();
  EXPECT_THAT(fault_of("sft", [](auto& row) { row["messages"][1]["content"] = "{\"step\":1}"; }),
              HasSubstr("is not the observation"));
  EXPECT_THAT(fault_of("sft", [](auto& row) { row["messages"][0]["content"] = "Lie."; }),
              HasSubstr("instructions"));
  EXPECT_THAT(fault_of("dpo", [](auto& row) { row["prompt"].push_back(row["prompt"][1]); }),
              HasSubstr("prompt"));
  EXPECT_THAT(fault_of("kto", [](auto& row) { row["completion"][0]["role"] = "user"; }), HasSubstr("role"));
  EXPECT_THAT(fault_of("prm",
                       [](auto& row) {
                         row["prompt"] =
                             "Decide.\n\nNow. " + row["prompt"].template get<std::string>().substr(9);
                       }),
              HasSubstr("is not the observation"));
  EXPECT_THAT(fault_of("raw", [](auto& row) { row.erase("node"); }), HasSubstr("node"));
  EXPECT_THAT(fault_of("raw", [](auto& row) { row["node"] = nullptr; }), HasSubstr("is null"));
  EXPECT_THAT(fault_of("raw", [](auto& row) { row["more"] = 1; }), HasSubstr("more"));
  EXPECT_THAT(fault_of("sft", [](auto& row) { row["id"] = "0.99.0"; }), HasSubstr("id: "));
  EXPECT_THAT(fault_of("sft", [](auto& row) { row["id"] = "7.0.0"; }), HasSubstr("graph 7"));
}

TEST_F(Verify, refuses_what_is_no_complete_data_set) {
  EXPECT_THAT(error_of([&] { verify(); }), HasSubstr("has no manifest.json; expected a directory that"));
  std::filesystem::create_directories(path("d/.work"));
  EXPECT_THAT(error_of([&] { verify(); }), HasSubstr("is not complete yet: run its command again"));
  make();
  const std::string manifest = read("d/manifest.json");
  const auto refused = [&](const char* from, const char* to) {
    std::string text = manifest;
    text.replace(text.find(from), std::string(from).size(), to);
    write("d/manifest.json", text);
    return error_of([&] { verify(); });
  };
  EXPECT_THAT(refused("\"format\": \"graphs\"", "\"format\": \"../x\""),
              AllOf(HasSubstr("manifest.json"), HasSubstr("shards[0].files[0].format")));
  EXPECT_THAT(refused("\"sha256\": \"", "\"sha256\": \"x"), HasSubstr("sha256"));
  EXPECT_THAT(refused("\"shard_size\": 5", "\"shard_size\": 0"), HasSubstr("shard_size"));
  EXPECT_THAT(refused("\"shard_size\": 5", "\"shard_size\": 1"), HasSubstr("shards"));
  EXPECT_THAT(refused("\"of\": 1", "\"of\": 0"), HasSubstr("of"));
  EXPECT_THAT(refused("fuselage data set 1", "fuselage data set 9"), HasSubstr("kind"));
  EXPECT_THAT(refused("}", ""), HasSubstr("manifest.json"));
}

TEST_F(Verify, stops_when_told_to) {
  make();
  const std::atomic<bool> cancel = true;
  EXPECT_TRUE(verify_data_set(path("d").string(), {.cancel = &cancel}).cancelled);
}

}  // namespace
}  // namespace fuselage::oracle
