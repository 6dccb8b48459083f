// Data sets as directories: the same bytes however the work was divided, no graph in two splits, and one
// writer at a time.

#include "fuselage/oracle/data_set.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "data_sets.h"
#include "e2e/command.h"
#include "error_of.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/oracle/data_source.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Fails at one graph, and takes the others from another source.
class Failing : public LabelSource {
 public:
  Failing(const LabelSource& source, std::size_t at) : source_(source), at_(at) {}
  std::size_t size() const override { return source_.size(); }
  std::optional<LabelledGraph> label(std::size_t index, const std::atomic<bool>* cancel) const override {
    if (index == at_) fail("graph {} fails", index);
    return source_.label(index, cancel);
  }

 private:
  const LabelSource& source_;
  std::size_t at_;
};

class DataSet : public CommandTest {
 protected:
  static WalkSource source(std::uint64_t seed = 1, std::size_t graphs = 40) {
    WalkSourceOptions options{.drawn = {.count = graphs, .draw = DrawOptions{.min_ops = 2, .max_ops = 6}}};
    options.labels = {.mix = parse_policy_mix("optimal,random", "mix"), .episodes = 2, .seed = seed};
    return WalkSource(std::move(options));
  }
  DataOptions options(const std::string& out, DataPart part = {}, bool zstd = false) const {
    DataOptions options{.out = path(out).string(),
                        .formats = {RowFormat::sft, RowFormat::dpo, RowFormat::prm}};
    options.manifest = {.program = "p",
                        .family = "walk",
                        .rules = "seed-honest",
                        .command = "c",
                        .license = "mit",
                        .zstd = zstd,
                        .graphs = 40,
                        .shard_size = 8,
                        .part = part};
    return options;
  }
  std::map<std::string, std::string> make(const std::string& out, int threads = 1, DataPart part = {},
                                          bool zstd = false) const {
    DataOptions made = options(out, part, zstd);
    made.threads = threads;
    EXPECT_TRUE(make_data_set(source(), made).complete);
    return tree_of(path(out));
  }
};

TEST_F(DataSet, is_the_same_however_many_threads_make_it) {
  const auto one = make("one", 1);
  EXPECT_GT(one.size(), 15U);
  EXPECT_FALSE(one.contains(".work"));
  EXPECT_EQ(difference_of(one, make("two", 2)), "");
  EXPECT_EQ(difference_of(one, make("many", 9)), "");
}

TEST_F(DataSet, of_parts_is_the_whole) {
  for (const bool zstd : {false, true}) {
    const std::size_t of = zstd ? 5 : 3;
    const auto whole = make(fmt::format("whole{}", of), 1, {}, zstd);
    std::vector<std::string> parts;
    for (std::size_t i = of; i-- > 0;) {
      const std::string name = fmt::format("{}of{}", i, of);
      parts.push_back(path(name).string());
      make(name, 2, {.index = i, .of = of}, zstd);
    }
    const std::string merged = fmt::format("merged{}", of);
    merge_data_set(parts, path(merged).string());
    EXPECT_EQ(difference_of(tree_of(path(merged)), whole), "") << of;
  }
}

TEST_F(DataSet, parts_that_do_not_fit_are_refused) {
  const auto part = [&](const std::string& name, DataPart which) {
    make(name, 1, which);
    return path(name).string();
  };
  const std::string first = part("first", {.index = 0, .of = 2}),
                    second = part("second", {.index = 1, .of = 2});
  const std::string third = part("third", {.index = 2, .of = 3});
  const auto said = [&](std::vector<std::string> parts, const std::string& out = "out") {
    return error_of([&] { merge_data_set(parts, path(out).string()); });
  };
  EXPECT_THAT(said({}), HasSubstr("no parts"));
  EXPECT_THAT(said({first}), HasSubstr("part 1 of 2 is missing"));
  EXPECT_THAT(said({second}), HasSubstr("part 0 of 2 is missing"));
  EXPECT_THAT(said({first, first}), HasSubstr("are both part 0 of 2"));
  EXPECT_THAT(said({first, third}), HasSubstr("expected parts of one division"));
  EXPECT_THAT(said({first, path("none").string()}), HasSubstr("is no complete part"));
  EXPECT_THAT(said({first, second}, "first"), HasSubstr("holds a data set already"));
  DataOptions other = options("other", {.index = 1, .of = 2});
  other.manifest.command = "d";
  make_data_set(source(), other);
  EXPECT_THAT(said({first, other.out}),
              AllOf(HasSubstr("is of another data set"), HasSubstr("command: c here, d there")));
  EXPECT_FALSE(std::filesystem::exists(path("out/manifest.json")));
  // One that another data set is being made in stays as it is.
  const std::atomic<bool> cancel = true;
  other.out = path("begun").string();
  other.cancel = &cancel;
  make_data_set(source(), other);
  const auto before = tree_of(path("begun"));
  EXPECT_THAT(said({first, second}, "begun"), HasSubstr("settings.json: is of another data set"));
  EXPECT_EQ(difference_of(tree_of(path("begun")), before), "");
  // A part that was changed on the way.
  const std::string shard = "second/graphs/train-00004-of-00005.jsonl";
  std::string text = read(shard);
  text[20] ^= 1;
  write(shard, text);
  EXPECT_THAT(said({first, second}), AllOf(HasSubstr(shard), HasSubstr("SHA-256")));
  EXPECT_FALSE(std::filesystem::exists(path("out/manifest.json")));
}

TEST_F(DataSet, of_another_seed_is_another) {
  make("one");
  make_data_set(source(2), options("two"));
  EXPECT_NE(read("one/graphs/train-00000-of-00005.jsonl"), read("two/graphs/train-00000-of-00005.jsonl"));
}

TEST_F(DataSet, no_graph_is_in_two_splits_and_hashes_decide) {
  std::map<std::string, std::string> split_of_hash;
  std::map<std::string, int> rows;
  for (const auto& [name, text] : make("d")) {
    if (!name.starts_with("graphs/")) continue;
    const std::string split = name.substr(7, name.find('-') - 7);
    for (const auto& row : rows_in(text)) {
      const std::string hash = row.at("graph_hash");
      EXPECT_EQ(split_of_hash.try_emplace(hash, split).first->second, split);
      EXPECT_EQ(learn::split_names[static_cast<std::size_t>(learn::split_of(hash))], split);
      ++rows[split];
    }
  }
  EXPECT_EQ(rows["train"] + rows["validation"] + rows["test"], 40);
  EXPECT_GT(rows["train"], 20);
}

// The fixed tasks, their graphs on other machines included, and however they come.
TEST_F(DataSet, fixed_tasks_are_in_train_only_if_asked) {
  WalkSourceOptions given;
  for (const walk::TaskSpec& task : walk::tasks()) {
    Workload workload = walk::make_task(task);
    given.given.push_back({workload});
    workload.hardware.fast_mem_capacity *= 3;
    workload.name = "mine";
    given.given.push_back({workload});
    std::string line = workload_to_json_line(workload);
    given.given.push_back({read_workloads(line, "line").front()});
  }
  given.labels = {.mix = parse_policy_mix("greedy", "mix"), .episodes = 1};
  const WalkSource tasks(std::move(given));
  for (const bool in_train : {false, true}) {
    DataOptions made = options(in_train ? "asked" : "not");
    made.manifest.graphs = tasks.size();
    made.tasks_in_train = in_train;
    const DataManifest::Totals totals = make_data_set(tasks, made).manifest.totals();
    for (const auto& [format, by_split] : totals.by_split) {
      EXPECT_EQ(by_split.size(), 1U) << name(format);
      EXPECT_TRUE(by_split.contains(in_train ? learn::Split::train : learn::Split::test)) << name(format);
    }
  }
}

TEST_F(DataSet, goes_on_where_it_was_stopped) {
  const auto whole = make("whole");
  DataOptions made = options("d");
  std::atomic<bool> cancel = false;
  made.cancel = &cancel;
  std::size_t limit = 0, stops = 0;
  made.progress = [&](std::size_t done) { cancel = done >= limit; };
  for (bool complete = false; !complete; ++stops) {
    cancel = false;
    limit += 9;
    complete = make_data_set(source(), made).complete;
    if (!complete) {
      EXPECT_FALSE(std::filesystem::exists(path("d/manifest.json")));
    }
    ASSERT_LT(stops, 20U);
  }
  EXPECT_GT(stops, 3U);
  EXPECT_EQ(difference_of(tree_of(path("d")), whole), "");
}

TEST_F(DataSet, finished_shards_survive_a_failure) {
  const auto whole = make("whole");
  const WalkSource good = source();
  EXPECT_THAT(error_of([&] { make_data_set(Failing(good, 28), options("d")); }), HasSubstr("graph 28 fails"));
  std::size_t there = 0;
  for (const auto& [name, text] : tree_of(path("d"))) {
    EXPECT_FALSE(name.ends_with(".partial")) << name;
    if (name.find(".jsonl") == std::string::npos) continue;
    EXPECT_EQ(text, whole.at(name));
    ++there;
  }
  EXPECT_GT(there, 3U);
  EXPECT_EQ(make_data_set(good, options("d")).kept, 3U);
  EXPECT_EQ(difference_of(tree_of(path("d")), whole), "");
}

// A finished shard whose file went is made again; so is one whose record went.
TEST_F(DataSet, what_is_missing_is_made_again) {
  const auto whole = make("whole");
  const WalkSource good = source();
  error_of([&] { make_data_set(Failing(good, 28), options("d")); });
  std::filesystem::remove(path("d/sft/train-00001-of-00005.jsonl"));
  write("d/sft/train-00002-of-00005.jsonl", "short\n");
  std::filesystem::remove(path("d/.work/shard-00000.json"));
  EXPECT_EQ(make_data_set(good, options("d")).kept, 0U);
  EXPECT_EQ(difference_of(tree_of(path("d")), whole), "");
}

TEST_F(DataSet, complete_is_left_alone_unless_a_file_is_gone) {
  const auto before = make("d");
  const auto written = std::filesystem::last_write_time(path("d/manifest.json"));
  const DataOutcome again = make_data_set(source(), options("d"));
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.kept, 5U);
  EXPECT_EQ(std::filesystem::last_write_time(path("d/manifest.json")), written);
  EXPECT_EQ(difference_of(tree_of(path("d")), before), "");
  std::filesystem::remove(path("d/sft/train-00001-of-00005.jsonl"));
  EXPECT_THAT(error_of([&] { make_data_set(source(), options("d")); }),
              AllOf(HasSubstr("sft/train-00001-of-00005.jsonl"), HasSubstr("is missing")));
}

TEST_F(DataSet, foreign_directories_are_refused_and_left_alone) {
  write("file", "x");
  EXPECT_THAT(error_of([&] { make("file"); }), HasSubstr("cannot be made"));
  std::filesystem::create_directories(path("d/sft"));
  write("d/.mine.partial", "x");
  write("d/sft/.fuselage-1.tmp", "x");
  const auto before = tree_of(path("d"));
  EXPECT_THAT(error_of([&] { make("d"); }), HasSubstr("and no data set"));
  EXPECT_EQ(difference_of(tree_of(path("d")), before), "");
}

TEST_F(DataSet, says_which_setting_differs) {
  make("d", 1, {.index = 1, .of = 4});
  const auto said = [&](const std::function<void(DataOptions&)>& change) {
    DataOptions other = options("d", {.index = 1, .of = 4});
    change(other);
    return error_of([&] { make_data_set(source(), other); });
  };
  EXPECT_EQ(said([](DataOptions&) {}), "no error");
  EXPECT_THAT(said([](DataOptions& o) { o.manifest.command = "d"; }), HasSubstr("command: d here, c there"));
  EXPECT_THAT(said([](DataOptions& o) { o.manifest.system = "s"; }), HasSubstr("system: s here"));
  EXPECT_THAT(said([](DataOptions& o) { o.manifest.inputs = R"({"a":"1"})"; }),
              HasSubstr("inputs: {\"a\":\"1\"} here, {} there"));
  EXPECT_THAT(said([](DataOptions& o) { o.manifest.part.index = 2; }),
              HasSubstr("part: 2/4 here, 1/4 there"));
}

TEST_F(DataSet, manifest_is_read_as_it_was_written) {
  make("d", 1, {.index = 1, .of = 4}, true);
  const std::string text = read("d/manifest.json");
  EXPECT_EQ(manifest_to_json(read_manifest(text, "manifest.json")), text);
}

// The front matter is YAML that the hub reads: a configuration for each format, with the splits that it has.
TEST_F(DataSet, card_names_every_file_once) {
  const auto files = make("d");
  const std::string card = files.at("README.md");
  ASSERT_TRUE(card.starts_with("---\n"));
  const std::string front = card.substr(4, card.find("\n---\n") - 4);
  std::set<std::string> patterns;
  std::string config;
  for (const std::string& line : lines(front)) {
    if (line.starts_with("- config_name: ")) config = line.substr(15);
    if (const std::size_t at = line.find("path: "); at != std::string::npos) {
      patterns.insert(line.substr(at + 6));
      EXPECT_TRUE(line.substr(at + 6).starts_with(config + "/")) << line;
    }
  }
  for (const auto& [name, text] : files) {
    if (name.find(".jsonl") == std::string::npos) continue;
    EXPECT_TRUE(patterns.contains(name.substr(0, name.find('-')) + "-*.jsonl")) << name;
  }
  EXPECT_EQ(front.find("default: true"), front.rfind("default: true"));
  EXPECT_THAT(front, HasSubstr("- config_name: sft\n  default: true\n"));
}

}  // namespace
}  // namespace fuselage::oracle
