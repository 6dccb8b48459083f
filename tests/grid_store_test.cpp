// Grid problems in the best-known store: keys, what a record must hold, and both families in one file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/oracle/store_grid.h"
#include "grid_problems.h"
#include "store_records.h"

namespace fuselage::oracle {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const grid::Rules mlsys = {};
const grid::Rules honest = {.set = grid::RuleSet::fusionops_honest};

// A chain of two pointwise ops between tensors of 128 x 128.
grid::Instance chain(double base_cost = 100) {
  return {grid::squares(3, 128),
          {grid::pointwise({0}, 1, base_cost), grid::pointwise({1}, 2, 200)},
          grid::machine_of(60'000)};
}

// Fused, in tiles of this size; apart, which takes twice as long, if it is 0.
grid::Plan chain_plan(std::int64_t tile) {
  if (tile == 0) return {{grid::kernel_of({0}, {128, 128, 1}), grid::kernel_of({1}, {128, 128, 1})}};
  return {{grid::kernel_of({0, 1}, {tile, tile, 1})}};
}

Record chain_record(std::int64_t tile, double lower_bound = 0, const grid::Rules& rules = mlsys) {
  const grid::Instance instance = chain();
  const grid::Plan plan = chain_plan(tile);
  return make_record(instance,
                     {.name = "chain",
                      .rules = rules,
                      .plan = plan,
                      .evaluation = grid::evaluate(instance, rules, plan),
                      .lower_bound = lower_bound},
                     origin);
}

class GridStore : public testing::Test {
 protected:
  Folder folder;
  std::string path = folder / "best.sqlite";
};

TEST_F(GridStore, keys_are_about_content_and_rules) {
  std::set<std::string> keys;
  const auto add = [&](const grid::Instance& instance, const grid::Rules& rules) {
    const std::string key = store_key(instance, rules);
    EXPECT_EQ(key.size(), 64U);
    EXPECT_TRUE(keys.insert(key).second) << grid::rules_text(rules);
  };
  for (const grid::RuleSet set : {grid::RuleSet::fusionops, grid::RuleSet::fusionops_honest})
    add(chain(), {.set = set});
  for (const grid::Compute compute : {grid::Compute::k, grid::Compute::native_k})
    for (const bool co_consumers : {false, true})
      add(chain(), {.compute = compute, .co_consumers = co_consumers});
  add(chain(101), mlsys);
  const auto changed = [](auto change) {
    std::vector<grid::Tensor> tensors = grid::squares(3, 128);
    std::vector<grid::Op> ops = {grid::pointwise({0}, 1, 100), grid::pointwise({1}, 2, 200)};
    grid::Machine machine = grid::machine_of(60'000);
    change(tensors, ops, machine);
    return grid::Instance(tensors, ops, machine);
  };
  add(changed([](auto& tensors, auto&, auto&) { tensors[0].width = 127; }), mlsys);
  add(changed([](auto& tensors, auto&, auto&) { tensors[0].height = 127; }), mlsys);
  add(changed([](auto& tensors, auto&, auto&) { tensors.push_back({.width = 1, .height = 1}); }), mlsys);
  add(changed([](auto&, auto& ops, auto&) { ops[1].inputs = {0, 1}; }), mlsys);
  add(changed([](auto&, auto& ops, auto&) { ops[1].inputs = {1, 0}; }), mlsys);
  add(changed([](auto&, auto& ops, auto&) { ops[1] = grid::matmul(1, 1, 2, 200); }), mlsys);
  add(changed([](auto&, auto&, auto& machine) { machine.capacity = 59'999; }), mlsys);
  add(changed([](auto&, auto&, auto& machine) { machine.bandwidth = 10.5; }), mlsys);
  add(changed([](auto&, auto&, auto& machine) { machine.native_width = 64; }), mlsys);
  add(changed([](auto&, auto&, auto& machine) { machine.native_height = 64; }), mlsys);
  EXPECT_FALSE(keys.insert(store_key(chain(), mlsys)).second);
  // The flags are about mlsys only.
  EXPECT_EQ(store_key(chain(), {.set = grid::RuleSet::fusionops, .co_consumers = true}),
            store_key(chain(), {.set = grid::RuleSet::fusionops}));
}

TEST_F(GridStore, a_record_comes_back_with_its_plan) {
  Store store(path);
  for (const grid::Rules& rules : {mlsys, honest}) {
    const Record record = chain_record(128, 10, rules);
    EXPECT_EQ(store.offer(record), Offer::added);
    const auto found = store.find(record.key);
    ASSERT_TRUE(found);
    EXPECT_EQ(record_to_line(*found), record_to_line(record));
    EXPECT_EQ(found->family, "grid");
    EXPECT_EQ(found->grid_rules, rules);
    EXPECT_DOUBLE_EQ(found->latency, 3276.8);
    const GridRecordPlan plan = checked_grid_plan(*found, "x");
    EXPECT_EQ(plan.file.plan, chain_plan(128));
    EXPECT_EQ(store_key(plan.instance, rules), record.key);
    EXPECT_EQ(plan.evaluation.latency, found->latency);
  }
}

TEST_F(GridStore, it_only_improves) {
  Store store(path);
  const Record dear = chain_record(0);
  EXPECT_EQ(store.offer(dear), Offer::added);
  EXPECT_EQ(store.offer(dear), Offer::kept);
  EXPECT_EQ(store.offer(bounded(dear, 100)), Offer::bound_improved);
  EXPECT_EQ(store.offer(chain_record(128)), Offer::better);
  EXPECT_EQ(store.offer(dear), Offer::kept);
  const auto best = store.find(dear.key);
  ASSERT_TRUE(best);
  EXPECT_DOUBLE_EQ(best->cost, 3276.8);
  EXPECT_EQ(best->lower_bound, 100);
  EXPECT_THAT(error_of([&] { store.offer(bounded(dear, dear.cost)); }),
              HasSubstr("above the cost of the plan that is stored"));
  EXPECT_EQ(store.offer(bounded(chain_record(128), 3276.8)), Offer::bound_improved);
  EXPECT_EQ(store.find(dear.key)->proof, search::Proof::optimal);
}

TEST_F(GridStore, what_is_not_true_is_refused) {
  Store store(path);
  const auto refused = [&](auto change, const std::string& message) {
    Record record = chain_record(128, 10);
    change(record);
    EXPECT_THAT(error_of([&] { store.offer(record); }), HasSubstr(message));
  };
  const auto replace = [](Record& record, const std::string& part, const std::string& by) {
    const std::size_t at = record.plan.find(part);
    ASSERT_NE(at, std::string::npos) << record.plan;
    record.plan.replace(at, part.size(), by);
  };
  refused([](Record& r) { r.latency = r.cost = 3276; }, "latency: 3276.0 is claimed; expected 3276.8");
  refused([](Record& r) { r.cost = 4000; }, "cost: 4000.0 is claimed; expected the latency");
  refused([](Record& r) { r.ops = 3; }, "ops: 3 is claimed; expected 2");
  refused([](Record& r) { r.key[0] = r.key[0] == '0' ? '1' : '0'; }, "key: ");
  refused([](Record& r) { r.grid_rules.co_consumers = true; }, "key: ");
  refused([](Record& r) { r.grid_rules = honest; }, "key: ");
  refused([](Record& r) { r.price.launch = 1; }, "price: a grid problem has none");
  refused([](Record& r) { r.lower_bound = 5000; },
          "lower_bound: 5000.0 is claimed; expected at most the cost");
  refused([](Record& r) { r.proof = search::Proof::optimal; }, "proof: \"optimal\" is claimed");
  refused([](Record& r) { r.family = "walk"; }, "plan: ");
  refused([](Record& r) { r.plan = ""; }, "plan");
  refused([](Record& r) { r.time = "today"; }, "time: \"today\" is no time");
  refused([&](Record& r) { replace(r, "[0, 1]\n", "[0]\n"); }, "plan: is illegal, COVERAGE");
  refused([&](Record& r) { replace(r, "[128, 128, 1]", "[128, 256, 1]"); }, "plan: is illegal, SUPERNATIVE");
  refused([&](Record& r) { replace(r, "3276.8", "3276.7"); },
          "plan.solution.subgraph_latencies[0]: 3276.7 is claimed; expected 3276.8");
  refused([&](Record& r) { replace(r, "60000", "60001"); }, "key: ");
  EXPECT_TRUE(store.list().empty());
  EXPECT_THAT(error_of([] { checked_plan(chain_record(128), "here"); }), StartsWith("here: family: "));
  EXPECT_THAT(error_of([] { checked_grid_plan(record_of_tile(128), "here"); }), StartsWith("here: family: "));
}

TEST_F(GridStore, what_somebody_wrote_into_the_file_is_checked_when_it_is_read) {
  const Record record = chain_record(128);
  Store(path).offer(record);
  run_sql(path, "UPDATE best SET latency = 1, cost = 1");
  EXPECT_THAT(error_of([&] { static_cast<void>(Store(path).find(record.key)); }),
              HasSubstr("latency: 1.0 is claimed"));
  run_sql(path, "UPDATE best SET rules = 'mlsys'");
  EXPECT_THAT(error_of([&] { static_cast<void>(Store(path).list()); }),
              HasSubstr("rules: \"mlsys\" is unknown to this version"));
}

TEST_F(GridStore, both_families_share_a_file_and_an_export) {
  Store store(path);
  store.offer(record_of_tile(128));
  store.offer(chain_record(128, 0, honest));
  store.offer(chain_record(0, 0, mlsys));
  std::string lines;
  std::vector<std::string> rules;
  for (const Record& record : store.list()) {
    rules.push_back(record.family + " " + rules_text(record));
    lines += record_to_line(store.find(record.key).value());
  }
  EXPECT_EQ(rules,
            (std::vector<std::string>{"grid fusionops-honest", "grid mlsys, compute k", "walk seed-honest"}));

  Store other(folder / "other.sqlite");
  EXPECT_EQ(other.import_lines(lines, "lines")[0], 3U);
  std::string again;
  for (const Record& record : other.list()) again += record_to_line(other.find(record.key).value());
  EXPECT_EQ(again, lines);
}

TEST_F(GridStore, import_takes_all_lines_or_none) {
  Store store(path);
  const std::string good = record_to_line(chain_record(128));
  const auto refused = [&](const std::string& part, const std::string& by, const std::string& message) {
    std::string bad = record_to_line(chain_record(0));
    const std::size_t at = bad.find(part);
    ASSERT_NE(at, std::string::npos) << bad;
    bad.replace(at, part.size(), by);
    EXPECT_THAT(error_of([&] { store.import_lines(good + bad, "f"); }), StartsWith("f:2: " + message));
    EXPECT_TRUE(store.list().empty());
  };
  refused("\"mlsys, compute k\"", "\"mlsys\"", "rules: \"mlsys\" is unknown");
  refused("\"family\":\"grid\"", "\"family\":\"maze\"", "family: \"maze\" is no family of this version");
  refused("\"ops\":2", "\"ops\":2,\"order\":\"fixed\"", "order: ");
  refused("\"problem\"", "\"puzzle\"", "plan.puzzle: ");
  refused("\"widths\":[128", "\"widths\":[0", "plan.problem.widths[0]: 0");
  refused("[128,128,1]", "[128,128]", "plan.solution.granularities[0]: ");
}

// Format 1 is that of stores of walk graphs; a grid record makes it 2. The store is one that a program which
// knew no grid problems wrote.
TEST_F(GridStore, old_stores_go_on) {
  const std::string old = folder / "old.sqlite";
  write_file_atomically(
      old,
      read_file((std::filesystem::path(FUSELAGE_SOURCE_DIR) / "tests/golden/store_format1.sqlite").string()));
  ASSERT_EQ(run_sql(old, "PRAGMA user_version"), "1");
  const std::size_t before = Store(old, Access::read).list().size();
  EXPECT_GT(before, 0U);
  Store(old).offer(record_of_tile(128));
  EXPECT_EQ(run_sql(old, "PRAGMA user_version"), "1") << "an older program may go on using it";
  Store(old).offer(chain_record(128));
  EXPECT_EQ(run_sql(old, "PRAGMA user_version"), "2");
  EXPECT_EQ(Store(old, Access::read).list().size(), before + 2);
  Store(old).offer(record_of_tile(256));
  EXPECT_EQ(run_sql(old, "PRAGMA user_version"), "2");
}

TEST_F(GridStore, every_task_has_its_own_key) {
  std::set<std::string> keys;
  for (const grid::FusionopsTask& task : grid::fusionops_tasks())
    for (const grid::Rules& rules : {mlsys, honest, grid::Rules{.set = grid::RuleSet::fusionops}})
      EXPECT_TRUE(keys.insert(store_key(task.instance, rules)).second) << task.name;
}

}  // namespace
}  // namespace fuselage::oracle
