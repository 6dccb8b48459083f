#include "fuselage/oracle/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "store_records.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;
using search::Proof;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using walk::Order;
using walk::Price;
using walk::Rules;

std::string key_of(const Workload& workload) {
  return store_key(workload, Rules::seed_honest, Order::fixed);
}

// Stored keys would be lost if this changed.
TEST(StoreKey, IsTheRecordedOne) {
  EXPECT_EQ(key_of(small_workload()), "36f645399b5f16a377c5a491f5c63c54201c0b1544a240df292efb8ba16e9b9d");
}

TEST(StoreKey, EveryFieldOfTheProblemChangesIt) {
  const Workload base = small_workload();
  std::vector<Workload> others;
  const auto add_node_change = [&](auto change) {
    std::vector<Node> nodes(base.graph.nodes().begin(), base.graph.nodes().end());
    change(nodes);
    others.push_back({base.name, Graph(std::move(nodes)), base.hardware});
  };
  add_node_change([](auto& nodes) { nodes[1].op = Op::gelu; });
  add_node_change([](auto& nodes) { nodes[1].height = 257; });
  add_node_change([](auto& nodes) { nodes[1].width = 127; });
  add_node_change([](auto& nodes) { std::swap(nodes[1].height, nodes[1].width); });
  add_node_change([](auto& nodes) { nodes[2].inputs = {0, 1}; });
  add_node_change([](auto& nodes) { nodes[2].inputs = {1}; });
  add_node_change([](auto& nodes) { nodes[0].flops = std::nextafter(nodes[0].flops, 0); });
  add_node_change([](auto& nodes) { nodes[0].output_bytes += 1; });
  add_node_change([](auto& nodes) { nodes.push_back(nodes.back()); });
  const auto add_hardware_change = [&](auto change) { change(others.emplace_back(base).hardware); };
  add_hardware_change([](Hardware& h) { h.fast_mem_capacity += 1; });
  add_hardware_change([](Hardware& h) { h.slow_mem_bandwidth = std::nextafter(8.5, 9); });
  add_hardware_change([](Hardware& h) { h.kernel_launch_cost = 101; });
  add_hardware_change([](Hardware& h) { h.max_fusion_depth = 4; });
  std::set<std::string> keys = {key_of(base)};
  for (const Workload& other : others) EXPECT_TRUE(keys.insert(key_of(other)).second) << keys.size();
  for (const Rules rules : {Rules::seed, Rules::physical})
    EXPECT_TRUE(keys.insert(store_key(base, rules, Order::fixed)).second);
  EXPECT_TRUE(keys.insert(store_key(base, Rules::physical, Order::free)).second);
  for (const Price& price : {Price{.traffic = 1}, Price{.launch = 1}, Price{.residency = 1}})
    EXPECT_TRUE(keys.insert(store_key(base, Rules::seed_honest, Order::fixed, price)).second);
}

TEST(StoreKey, NamesDontChangeIt) {
  Workload renamed = small_workload();
  renamed.name = "other";
  EXPECT_EQ(key_of(renamed), key_of(small_workload()));
}

class StoreFile : public testing::Test {
 protected:
  const Folder folder;
  const std::string path = folder / "best.sqlite";
};

TEST_F(StoreFile, GivesBackWhatItWasGiven) {
  const Record record = priced_record(3, 5e5, 0.1 + 0.2);
  Store store(folder / "new/and/deeper/best.sqlite");
  EXPECT_EQ(store.offer(record), Offer::added);
  const std::optional<Record> found = store.find(record.key);
  ASSERT_TRUE(found);
  EXPECT_EQ(record_to_line(*found), record_to_line(record));
  EXPECT_EQ(found->plan, record.plan);
  EXPECT_FALSE(store.find("0"));
}

TEST_F(StoreFile, OnlyImproves) {
  const Record dear = record_of_tile(32);
  const Record cheap = record_of_tile(256);
  ASSERT_LT(cheap.cost, dear.cost);
  Store store(path);
  EXPECT_EQ(store.offer(bounded(dear, 10)), Offer::added);
  EXPECT_EQ(store.offer(bounded(dear, 5)), Offer::kept);
  EXPECT_EQ(store.offer(bounded(dear, 20)), Offer::bound_improved);
  EXPECT_EQ(store.offer(cheap), Offer::better);
  EXPECT_EQ(store.find(cheap.key)->lower_bound, 20) << "a bound doesn't go with its plan";
  EXPECT_EQ(store.offer(bounded(dear, 30)), Offer::bound_improved) << "a worse plan may know a better bound";
  EXPECT_EQ(store.offer(dear), Offer::kept);
  EXPECT_EQ(store.find(cheap.key)->plan, cheap.plan);
  EXPECT_EQ(store.find(cheap.key)->lower_bound, 30);
  EXPECT_EQ(store.list().size(), 1U);
}

TEST_F(StoreFile, AnEqualPlanDoesNotReplaceTheOldOne) {
  Record later = record_of_tile(256);
  later.engine = "mcts";
  Store store(path);
  store.offer(record_of_tile(256));
  EXPECT_EQ(store.offer(later), Offer::kept);
  EXPECT_EQ(store.find(later.key)->engine, "exact");
}

TEST_F(StoreFile, ABoundThatMeetsTheCostIsAProof) {
  const Record cheap = record_of_tile(256);
  Store store(path);
  EXPECT_EQ(store.offer(cheap), Offer::added);
  EXPECT_EQ(store.offer(bounded(record_of_tile(32), cheap.cost * (1 - 5e-10))), Offer::bound_improved);
  EXPECT_EQ(store.find(cheap.key)->proof, Proof::optimal);
  EXPECT_EQ(store.offer(cheap), Offer::kept);
  EXPECT_EQ(store.find(cheap.key)->proof, Proof::optimal) << "a proof is not lost";
}

// A version whose bounds were raised to the cost may have stored one that no plan has.
TEST_F(StoreFile, ABetterPlanTakesABoundDownThatItRefutesByLessThanCounts) {
  const double dear = 200'000'000'002;
  const double cheap = 200'000'000'001;
  Record claimed = priced_record(1, dear, dear);
  claimed.proof = Proof::optimal;
  Record better = priced_record(1, cheap, cheap);
  better.proof = Proof::optimal;
  Store store(path);
  EXPECT_EQ(store.offer(claimed), Offer::added);
  EXPECT_EQ(store.offer(better), Offer::better);
  EXPECT_EQ(store.find(better.key)->cost, cheap);
  EXPECT_EQ(store.find(better.key)->lower_bound, cheap) << "a bound above the best plan";
  EXPECT_EQ(store.find(better.key)->proof, Proof::optimal);
  EXPECT_EQ(store.offer(claimed), Offer::kept);
  EXPECT_EQ(store.find(better.key)->lower_bound, cheap);
  // A record that has both in it.
  EXPECT_EQ(store.offer(priced_record(2, cheap, dear)), Offer::added);
  EXPECT_EQ(store.find(priced_record(2, 0).key)->lower_bound, cheap);
}

TEST_F(StoreFile, BestOfASpaceIsSaidOfItsPlanOnly) {
  Record dear = record_of_tile(32);
  dear.proof = Proof::optimal_in_declared_space;
  Store store(path);
  store.offer(record_of_tile(32));
  EXPECT_EQ(store.offer(dear), Offer::bound_improved) << "a stronger proof";
  EXPECT_EQ(store.find(dear.key)->proof, Proof::optimal_in_declared_space);
  EXPECT_EQ(store.offer(record_of_tile(256)), Offer::better);
  EXPECT_EQ(store.find(dear.key)->proof, Proof::none);
  EXPECT_EQ(store.offer(dear), Offer::kept) << "refuted by the cheaper plan";
}

TEST_F(StoreFile, ContradictionsAreRefused) {
  const Record cheap = record_of_tile(256);
  const Record dear = record_of_tile(32);
  Store store(path);
  store.offer(bounded(dear, dear.cost));
  EXPECT_THAT(
      error_of([&] { store.offer(cheap); }),
      AllOf(StartsWith("small ("), HasSubstr("cost: "), HasSubstr("below the lower bound that is stored")));
  EXPECT_EQ(store.find(dear.key)->plan, dear.plan);
  Store other(folder / "other.sqlite");
  other.offer(cheap);
  EXPECT_THAT(error_of([&] { other.offer(bounded(dear, dear.cost)); }),
              HasSubstr("above the cost of the plan that is stored"));
  EXPECT_EQ(other.find(cheap.key)->lower_bound, 0);
}

TEST_F(StoreFile, RecordsThatAreNotTrueAreRefused) {
  Store store(path);
  const auto refused = [&](auto change, const std::string& message) {
    Record record = record_of_tile(128);
    change(record);
    EXPECT_THAT(error_of([&] { store.offer(record); }), HasSubstr(message));
  };
  const auto replace_in_plan = [](Record& record, const std::string& part, const std::string& by) {
    const std::size_t at = record.plan.find(part);
    ASSERT_NE(at, std::string::npos);
    record.plan.replace(at, part.size(), by);
  };
  refused([](Record& r) { r.latency *= 1 - 1e-8; }, "latency: ");
  refused([](Record& r) { r.cost *= 1 - 1e-8; }, "cost: ");
  refused([](Record& r) { r.cost = std::nan(""); }, "cost: nan is out of range");
  refused([](Record& r) { r.price.launch = -1; }, "price.launch: -1 is out of range");
  refused([](Record& r) { r.price.launch = 1; }, "key: ");
  refused([](Record& r) { r.lower_bound = 1e9; }, "lower_bound: ");
  refused([](Record& r) { r.proof = Proof::optimal; }, "proof: \"optimal\" is claimed");
  refused([](Record& r) { r.name = "other"; }, "name: other is claimed; expected small, as its plan has it");
  refused([](Record& r) { r.ops = 2; }, "ops: 2 is claimed; expected 3");
  refused([](Record& r) { r.rules = Rules::seed; }, "rules: seed is claimed");
  refused([](Record& r) { r.key[0] = r.key[0] == '0' ? '1' : '0'; }, "key: ");
  refused([](Record& r) { r.engine = "two\nlines"; }, "engine: ");
  refused([](Record& r) { r.time = "yesterday"; }, "time: \"yesterday\" is no time");
  refused([](Record& r) { r.family = "maze"; }, "family: \"maze\" is no family of this version");
  refused([](Record& r) { r.family = "grid"; }, "plan: family: \"walk\" is the value of an unknown field");
  refused([&](Record& r) { replace_in_plan(r, "{\"nodes\": [2]", "{\"nodes\": [1]"); }, "plan: is illegal, ");
  refused([&](Record& r) { replace_in_plan(r, "\"tile\": 128", "\"tile\": 256"); }, "latency: ");
  refused([](Record& r) { r.plan = "{}"; }, "plan: fuselage_plan");
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(error_of([&] { store.offer(record_of_tile(128)); }), "no error");
}

TEST_F(StoreFile, WhatSomebodyWroteIntoTheFileIsCheckedWhenItIsRead) {
  const Record record = record_of_tile(128);
  Store(path).offer(record);
  const auto found_after = [&](const std::string& sql) {
    fs::copy_file(path, folder / "copy", fs::copy_options::overwrite_existing);
    run_sql(folder / "copy", sql);
    return error_of([&] { Store(folder / "copy").find(record.key); });
  };
  EXPECT_EQ(found_after("SELECT 1"), "no error");
  EXPECT_THAT(
      found_after("UPDATE best SET cost = 1, latency = 1"),
      AllOf(StartsWith(folder / "copy: small ("), HasSubstr("latency: 1.0 cycles are claimed; expected ")));
  EXPECT_THAT(found_after("UPDATE best SET plan = replace(plan, '\"tile\": 128', '\"tile\": 32')"),
              HasSubstr("latency: "));
  EXPECT_THAT(found_after("UPDATE best SET proof = 'surely'"), HasSubstr("proof: \"surely\" is unknown"));
  EXPECT_THAT(found_after("DROP TABLE best"), HasSubstr("no such table"));
}

TEST_F(StoreFile, ListsByNameThenRulesOrderAndKey) {
  Store store(path);
  std::vector<std::string> expected;
  for (const char* graph : {"b", "a"})
    for (const Rules rules : {Rules::physical, Rules::seed_honest, Rules::seed}) {
      Workload workload = small_workload();
      workload.name = graph;
      workload.hardware.fast_mem_capacity += graph[0];
      store.offer(make_record(plan_of(workload, 128, rules), origin));
    }
  std::vector<std::string> names;
  for (const Record& record : store.list())
    names.push_back(record.name + " " + std::string(name(record.rules)));
  EXPECT_THAT(names,
              ElementsAre("a seed", "a seed-honest", "a physical", "b seed", "b seed-honest", "b physical"));
}

TEST_F(StoreFile, ExportImportExportIsTheSame) {
  Store store(path);
  store.offer(record_of_tile(64));
  store.offer(priced_record(1, 1e16 / 3, 1e-7));
  store.offer(make_record(plan_of(small_workload(), 32, Rules::physical), origin));
  const auto exported = [](const Store& from) {
    std::string lines;
    for (const Record& record : from.list()) lines += record_to_line(from.find(record.key).value());
    return lines;
  };
  Store copy(folder / "copy.sqlite");
  EXPECT_THAT(copy.import_lines(exported(store), "a.jsonl"), ElementsAre(3, 0, 0, 0));
  EXPECT_EQ(exported(copy), exported(store));
  EXPECT_THAT(copy.import_lines(exported(store), "a.jsonl"), ElementsAre(0, 0, 0, 3));
}

TEST_F(StoreFile, ImportsAllLinesOrNone) {
  const std::string good = record_to_line(record_of_tile(128));
  const std::string better = record_to_line(record_of_tile(256));
  Store store(path);
  const auto refused = [&](const std::string& line, const std::string& message) {
    SCOPED_TRACE(line.substr(0, 60));
    EXPECT_THAT(error_of([&] { store.import_lines(good + "\n" + line + "\n", "in.jsonl"); }),
                StartsWith(message));
    EXPECT_TRUE(store.list().empty());
  };
  const auto with = [&](const std::string& field, const nlohmann::json& value) {
    nlohmann::json json = nlohmann::json::parse(better);
    json[nlohmann::json::json_pointer(field)] = value;
    return json.dump();
  };
  refused("{\"fuselage_best\": 1", "in.jsonl: line 3, column 20");
  refused("[]", "in.jsonl: line 3, column 1");
  refused(with("/fuselage_best", 2), "in.jsonl:3: fuselage_best: 2 is out of range");
  refused(with("/surprise", 2), "in.jsonl:3: surprise: ");
  refused(with("/price/traffic", -2), "in.jsonl:3: price.traffic: -2");
  refused(with("/proof", "surely"),
          "in.jsonl:3: proof: \"surely\" is unknown; expected one of none, optimal in");
  refused(with("/cost", 1), "in.jsonl:3: cost: 1.0 is claimed");
  refused(with("/plan/kernels/0/tile", "x"), "in.jsonl:3: plan: kernels[0].tile: \"x\"");
  refused(with("/plan/kernels/0/tile", 64), "in.jsonl:3: latency: ");
  refused(with("/plan/kernels/0/tile", 257), "in.jsonl:3: plan: is illegal, TILE: ");
  // A contradiction is found in the middle of the transaction.
  refused(record_to_line(bounded(record_of_tile(32), record_of_tile(32).cost)), "in.jsonl:3: lower_bound: ");
  EXPECT_THAT(store.import_lines(good + better + good, "in.jsonl"), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(store.import_lines("", "in.jsonl"), ElementsAre(0, 0, 0, 0));
}

TEST_F(StoreFile, FilesOfOthersAreRefusedAndLeftAlone) {
  const auto refused = [&](const std::string& file, const std::string& message) {
    const auto before = fs::is_regular_file(file) ? read_file(file) : "";
    EXPECT_THAT(error_of([&] { Store store(file); }), AllOf(HasSubstr(file), HasSubstr(message)));
    EXPECT_EQ(fs::is_regular_file(file) ? read_file(file) : "", before);
  };
  write_file_atomically(folder / "text", std::string(5000, 'x'));
  refused(folder / "text", "is no SQLite database");
  write_file_atomically(folder / "short", "{}");
  refused(folder / "short", "is no SQLite database");
  run_sql(folder / "foreign", "CREATE TABLE t(x)");
  refused(folder / "foreign", "is an SQLite database of another program");
  run_sql(folder / "numbered", "PRAGMA application_id = 5");
  refused(folder / "numbered", "is an SQLite database of another program");
  Store(folder / "newer").offer(record_of_tile(256));
  run_sql(folder / "newer", "PRAGMA user_version = 3");
  refused(folder / "newer", "has the format 3, and this version of fuselage knows 1 to 2");
  fs::create_directory(folder / "directory");
  refused(folder / "directory", "is a directory");
  refused(folder / "text/best.sqlite", "directory");
  refused("/dev/null", "is no regular file");
  refused("/proc/self/fuselage/best.sqlite", "directory /proc/self/fuselage cannot be made");
  EXPECT_THAT(error_of([] { Store store(""); }), HasSubstr("name of a store is empty"));
  EXPECT_THAT(error_of([&] { Store store(path, Access::read); }), HasSubstr("No such file"));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(StoreFile, DamageIsAnErrorWhereverItLies) {
  {
    Store store(path);
    std::string lines;
    for (int problem = 0; problem < 40; ++problem) lines += record_to_line(priced_record(problem, 1e6));
    store.import_lines(lines, "lines");
  }
  const std::string whole = read_file(path);
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 509) {
    std::string damaged = whole;
    for (std::size_t i = at; i < std::min(at + 64, whole.size()); ++i) damaged[i] = static_cast<char>(0xa5);
    write_file_atomically(folder / "damaged", damaged);
    refused += error_of([&] {
                 const Store store(folder / "damaged", Access::read);
                 for (const Record& record : store.list()) store.find(record.key);
               }) != "no error";
  }
  EXPECT_GT(refused, 10);
  write_file_atomically(folder / "truncated", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(error_of([&] { Store(folder / "truncated").list(); }), HasSubstr("is damaged"));
}

TEST_F(StoreFile, ReadOnlyFilesCanBeReadOnly) {
  Store(path).offer(record_of_tile(128));
  const Store reader(path, Access::read);
  EXPECT_EQ(reader.list().size(), 1U);
  EXPECT_THAT(error_of([&] { Store(path, Access::read).offer(record_of_tile(256)); }),
              AllOf(HasSubstr(path), HasSubstr("cannot be written")));
  EXPECT_EQ(reader.find(record_of_tile(128).key)->plan, record_of_tile(128).plan);
}

TEST_F(StoreFile, PermissionsAreErrors) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads and writes everything";
  Store(path).offer(record_of_tile(128));
  ::chmod(path.c_str(), 0444);
  EXPECT_EQ(Store(path).list().size(), 1U);
  EXPECT_THAT(error_of([&] { Store(path).offer(record_of_tile(256)); }), HasSubstr("cannot be written"));
  ::chmod(path.c_str(), 0);
  EXPECT_THAT(error_of([&] { Store store(path); }), HasSubstr("cannot be opened: Permission denied"));
}

TEST(UtcNow, HasTheFormOfARecord) {
  Record record = record_of_tile(256);
  record.time = utc_now();
  EXPECT_EQ(error_of([&] { checked_plan(record, "here"); }), "no error");
  EXPECT_GT(record.time, "2024");
}

}  // namespace
}  // namespace fuselage::oracle
