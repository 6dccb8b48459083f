// Stores that are damaged, locked, full, or tell lies: what the library says and does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/store_grid.h"
#include "grid_problems.h"
#include "store_records.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;
using search::Proof;
using testing::AllOf;
using testing::HasSubstr;

class StoreDamage : public testing::Test {
 protected:
  const Folder folder;
  const std::string path = folder / "best.sqlite";

  StoreTrouble trouble_of(const std::function<void()>& action) const {
    try {
      action();
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), HasSubstr(folder / ""));
      return error.trouble();
    }
    ADD_FAILURE() << "no StoreError";
    return StoreTrouble::misplaced;
  }
  StoreTrouble trouble_of_file(const std::string& file) const {
    return trouble_of([&] { Store(file).offer(record_of_tile(256)); });
  }
};

Record proven(Record record) {
  record.lower_bound = record.cost;
  record.proof = Proof::optimal;
  return record;
}

// ---- rows that aren't true

TEST_F(StoreDamage, ARowThatIsNotTrueIsReplacedByWhatIsKnown) {
  const Record cheap = record_of_tile(256);
  for (const char* lie : {"cost = 1, latency = 1",
                          "cost = 1e300, latency = 1e300",
                          "cost = 9e999, latency = 9e999",
                          "cost = -1",
                          "lower_bound = 1e9",
                          "lower_bound = -1",
                          "lower_bound = 9e999",
                          "proof = 'optimal'",
                          "proof = 'surely'",
                          "rules = 'none'",
                          "visit_order = 'none'",
                          "name = 'other'",
                          "ops = 4",
                          "family = 'maze'",
                          "family = 'grid'",
                          "time = 'never'",
                          "traffic = 1",
                          "plan = ''",
                          "plan = '{}'",
                          "plan = 'no JSON'",
                          "plan = replace(plan, '\"tile\": 128', '\"tile\": 256')",
                          "plan = replace(plan, '{\"nodes\": [2]', '{\"nodes\": [1]')"}) {
    fs::remove(path);
    Store(path).offer(record_of_tile(128));
    run_sql(path, fmt::format("UPDATE best SET {}", lie));
    Store store(path);
    EXPECT_NE(error_of([&] { store.find(cheap.key); }), "no error") << lie;
    EXPECT_EQ(store.offer(proven(cheap)), Offer::added) << lie;
    EXPECT_EQ(record_to_line(store.find(cheap.key).value()), record_to_line(proven(cheap))) << lie;
  }
}

// A row that looks sound, whose bound no plan could meet.
TEST_F(StoreDamage, AnImpossibleBoundGivesWayToAProvenPlan) {
  const Record dear = record_of_tile(32);
  const Record cheap = record_of_tile(256);
  Store store(path);
  store.offer(proven(dear));
  EXPECT_THAT(error_of([&] { store.offer(cheap); }), HasSubstr("below the lower bound that is stored"));
  EXPECT_EQ(store.offer(proven(cheap)), Offer::added);
  EXPECT_EQ(record_to_line(store.find(cheap.key).value()), record_to_line(proven(cheap)));
}

// Costs with a price are taken on trust, until somebody proves that there is no such plan.
TEST_F(StoreDamage, AnImpossibleCostGivesWayToAProvenPlan) {
  const Solution best = solve(small_workload(), {.price = {.launch = 5}});
  ASSERT_EQ(best.proof, Proof::optimal);
  walk::PlanFile plan{.workload = small_workload(), .kernels = best.plan};
  plan.latency = best.latency;
  const Record known = make_record(
      plan, origin,
      {.price = {.launch = 5}, .cost = best.cost, .lower_bound = best.cost, .proof = Proof::optimal});
  Record lie = known;
  lie.cost = lie.latency + 1;
  lie.lower_bound = 0;
  lie.proof = Proof::none;
  Store store(path);
  store.offer(lie);
  EXPECT_EQ(store.offer(known), Offer::added);
  EXPECT_EQ(store.find(known.key)->cost, best.cost);
  // A claim of a proof that its own plan refutes changes nothing.
  Record worse = known;
  worse.cost = worse.lower_bound = best.cost * 2;
  EXPECT_THAT(error_of([&] { store.offer(worse); }), HasSubstr("nothing is changed"));
  EXPECT_EQ(store.find(known.key)->cost, best.cost);
}

// ---- files that are no store

TEST_F(StoreDamage, TroublesAreToldApart) {
  const auto file = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder / name, text);
    return folder / name;
  };
  EXPECT_EQ(trouble_of_file(file("text", "just some words\n")), StoreTrouble::damaged);
  EXPECT_EQ(trouble_of_file(file("zeros", std::string(8192, '\0'))), StoreTrouble::damaged);
  fs::create_directory(folder / "directory");
  EXPECT_EQ(trouble_of_file(folder / "directory"), StoreTrouble::unusable);
  EXPECT_EQ(trouble_of_file(folder / "text/best.sqlite"), StoreTrouble::misplaced);
  run_sql(folder / "foreign", "CREATE TABLE t(x)");
  EXPECT_EQ(trouble_of_file(folder / "foreign"), StoreTrouble::unusable);
  Store(folder / "newer").offer(record_of_tile(256));
  run_sql(folder / "newer", "PRAGMA user_version = 3");
  EXPECT_EQ(trouble_of_file(folder / "newer"), StoreTrouble::unusable);
  Store(folder / "without").offer(record_of_tile(256));
  run_sql(folder / "without", "DROP TABLE best");
  EXPECT_EQ(trouble_of_file(folder / "without"), StoreTrouble::damaged);
  EXPECT_EQ(Store(file("empty", "")).offer(record_of_tile(256)), Offer::added);
}

TEST_F(StoreDamage, EveryTruncationIsDamageOrNothingAtAll) {
  Store(path).offer(record_of_tile(256));
  const std::string whole = read_file(path);
  ASSERT_GT(whole.size(), 8192U);
  for (std::size_t size = 1; size < whole.size(); size = size < 200 ? size + 9 : size + 911) {
    write_file_atomically(path, whole.substr(0, size));
    try {
      Store store(path);
      store.find(record_of_tile(256).key);
      store.offer(record_of_tile(256));
      EXPECT_TRUE(store.find(record_of_tile(256).key)) << size;  // what is missing was not in use
    } catch (const StoreError& error) {
      EXPECT_EQ(error.trouble(), StoreTrouble::damaged) << size;
    }
  }
}

TEST_F(StoreDamage, SetAsideUnderANameThatWasFree) {
  for (const char* name : {"best.sqlite.damaged", "best.sqlite", "best.sqlite-journal"})
    write_file_atomically(folder / name, name);
  EXPECT_EQ(set_store_aside(path), path + ".damaged-2");
  EXPECT_EQ(read_file(path + ".damaged"), "best.sqlite.damaged");
  EXPECT_EQ(read_file(path + ".damaged-2"), "best.sqlite");
  EXPECT_EQ(read_file(path + ".damaged-2-journal"), "best.sqlite-journal");
  EXPECT_FALSE(fs::exists(path) || fs::exists(path + "-journal"));
  EXPECT_THAT(error_of([&] { set_store_aside(path); }), HasSubstr("cannot be moved out of the way"));
  EXPECT_FALSE(fs::exists(path + ".damaged-3"));
}

// ---- locks

TEST_F(StoreDamage, AWaitIsToldOnceAndEnds) {
  Store(path).offer(record_of_tile(128));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::vector<std::string> notices;
  StorePatience patience{.most_seconds = 0.05, .quiet_seconds = 0};
  patience.notice = [&](const std::string& text) { notices.push_back(text); };
  EXPECT_EQ(trouble_of([&] { Store(path, Access::write, patience).list(); }), StoreTrouble::locked);
  EXPECT_THAT(notices,
              testing::ElementsAre(AllOf(HasSubstr(path), HasSubstr("another program has locked it"))));
  // Who waits long enough goes on.
  patience.most_seconds = 600;
  patience.notice = [&](const std::string&) { sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr); };
  EXPECT_EQ(Store(path, Access::write, patience).list().size(), 1U);
  sqlite3_close(other);
}

// ---- no room

TEST_F(StoreDamage, AFullDiskLeavesTheStoreAsItWas) {
  const Record first = record_of_tile(128);
  Store(path).offer(first);
  const std::string before = read_file(path);
  Record large = priced_record(1, 1e6);
  large.plan.insert(large.plan.rfind('}'), std::string(1 << 16, ' '));
  struct rlimit old = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {.rlim_cur = before.size(), .rlim_max = old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const StoreTrouble trouble = trouble_of([&] { Store(path).offer(large); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(trouble, StoreTrouble::unusable);
  EXPECT_EQ(Store(path).find(first.key)->plan, first.plan);
  EXPECT_EQ(Store(path).list().size(), 1U);
}

}  // namespace
}  // namespace fuselage::oracle
