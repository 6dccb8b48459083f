// datasets/best.sqlite: what is shipped as best known for the five walk tasks is proven, and is what a search
// finds; for the four grid tasks it is a legal plan as good as exhaustive search found elsewhere.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/store.h"
#include "fuselage/oracle/store_grid.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle {
namespace {

Store shipped() {
  return Store((std::filesystem::path(FUSELAGE_SOURCE_DIR) / "datasets/best.sqlite").string(), Access::read);
}

std::set<std::string> keys_of(const std::string& family) {
  std::set<std::string> keys;
  for (const Record& record : shipped().list())
    if (record.family == family) keys.insert(record.key);
  return keys;
}

TEST(ShippedStore, has_a_proven_plan_of_every_walk_task_under_every_rule_set) {
  const Store store = shipped();
  std::set<std::string> keys = keys_of("walk");
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

// Latencies that an exhaustive search over tiles, traversals and retained tensors found.
struct Known {
  const char* task;
  double honest;
  double fusionops;
  bool is_proven;
};
constexpr std::array<Known, 4> known = {{{"task1_linear", 3900, 3900, true},
                                         {"task2_diamond", 6600, 6600, true},
                                         {"task3_matmul", 8553.6, 7776.8, false},
                                         {"task4_multistage", 9534.4, 9296, false}}};

void expect_grid_record(const grid::Instance& instance, const grid::Rules& rules, const Record& record,
                        double latency) {
  EXPECT_NEAR(record.latency, latency, 1e-9 * latency);
  EXPECT_EQ(record.cost, record.latency);
  EXPECT_GT(record.lower_bound, 0.75 * latency);
  EXPECT_LE(record.lower_bound, record.latency);
  // The plan itself, run by the judge for the task's own instance.
  const nlohmann::json plan = nlohmann::json::parse(record.plan);
  const grid::PlanFile file = grid::read_plan(plan.at("solution").dump(), "record");
  const grid::Evaluation judged = grid::evaluate(instance, rules, file.plan);
  ASSERT_TRUE(judged.valid()) << judged.violation->message;
  EXPECT_NEAR(judged.latency, latency, 1e-9 * latency);
  ASSERT_EQ(file.latencies.size(), judged.kernels.size());
  for (std::size_t i = 0; i < file.latencies.size(); ++i)
    EXPECT_NEAR(file.latencies[i], judged.kernels[i].latency, 1e-9 * latency);
}

TEST(ShippedStore, has_the_best_plan_of_every_grid_task_under_both_rule_sets) {
  const Store store = shipped();
  std::set<std::string> keys = keys_of("grid");
  for (const auto& [name, honest, fusionops, is_proven] : known)
    for (const grid::RuleSet set : {grid::RuleSet::fusionops_honest, grid::RuleSet::fusionops}) {
      SCOPED_TRACE(fmt::format("{} {}", name, grid::name(set)));
      const grid::FusionopsTask* task = grid::find_fusionops_task(name);
      ASSERT_NE(task, nullptr);
      const grid::Rules rules{.set = set};
      const std::string key = store_key(task->instance, rules);
      EXPECT_EQ(keys.erase(key), 1U);
      const auto record = store.find(key);
      ASSERT_TRUE(record);
      EXPECT_EQ(record->name, name);
      EXPECT_NE(record->proof, search::Proof::none);
      if (is_proven) {
        EXPECT_EQ(record->proof, search::Proof::optimal);
      }
      expect_grid_record(task->instance, rules, *record,
                         set == grid::RuleSet::fusionops_honest ? honest : fusionops);
    }
  EXPECT_TRUE(keys.empty());
}

}  // namespace
}  // namespace fuselage::oracle
