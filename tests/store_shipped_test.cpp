// datasets/best.sqlite: what is shipped as best known for the five tasks is proven, and is what a search finds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/store.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle {
namespace {

TEST(ShippedStore, has_a_proven_plan_of_every_task_under_every_rule_set) {
  const Store store((std::filesystem::path(FUSELAGE_SOURCE_DIR) / "datasets/best.sqlite").string(),
                    Access::read);
  std::set<std::string> keys;
  for (const Record& record : store.list()) keys.insert(record.key);
  for (const walk::TaskSpec& task : walk::tasks()) {
    const Workload workload = walk::make_task(task);
    for (const auto& [rules, order] : {std::pair(walk::Rules::seed, walk::Order::fixed),
                                       std::pair(walk::Rules::seed_honest, walk::Order::fixed),
                                       std::pair(walk::Rules::physical, walk::Order::fixed),
                                       std::pair(walk::Rules::physical, walk::Order::free)}) {
      const std::string key = store_key(workload, rules, order);
      EXPECT_EQ(keys.erase(key), 1U) << task.name;
      const auto record = store.find(key);
      ASSERT_TRUE(record) << task.name;
      EXPECT_EQ(record->proof, search::Proof::optimal) << task.name;
      const double optimum = solve(workload, {.rules = rules, .order = order}).latency;
      EXPECT_NEAR(record->latency, optimum, 1e-9 * optimum) << task.name;
    }
  }
  EXPECT_TRUE(keys.empty());
}

}  // namespace
}  // namespace fuselage::oracle
