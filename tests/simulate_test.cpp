// The independent check against recorded figures, to the bit. Prices worked out by hand are
// simulate_prices_test.cpp; that it refuses what is wrong is illegal_plans_test.cpp.
#include "fuselage/oracle/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "golden_graph.h"

namespace fuselage::oracle {
namespace {

using nlohmann::json;
using walk::Rules;

walk::Order order_of(const json& row) {
  return walk::parse_order(row.at("order").get<std::string>()).value();
}

void check_physical(const json& row) {
  SCOPED_TRACE(row.at("name").get<std::string>());
  const Workload w = golden_workload(row.at("graph"));
  const auto result = simulate(w.graph, w.hardware, golden_plan(row.at("plan")),
                               {.rules = Rules::physical, .order = order_of(row)});
  ASSERT_TRUE(result.legal()) << result.fault->message;
  EXPECT_EQ(result.latency, row.at("optimum").get<double>());
  ASSERT_EQ(result.kernels.size(), row.at("plan").size());
  for (std::size_t i = 0; i < result.kernels.size(); ++i) {
    SCOPED_TRACE(i);
    const json& kernel = row.at("plan")[i];
    EXPECT_EQ(result.kernels[i].latency, kernel.at("latency").get<double>());
    EXPECT_EQ(result.kernels[i].working_set, kernel.at("working_set").get<std::int64_t>());
    EXPECT_EQ(result.kernels[i].loads, kernel.at("loads").get<std::vector<NodeId>>());
    EXPECT_EQ(result.kernels[i].writes, kernel.at("writes").get<std::vector<NodeId>>());
    EXPECT_EQ(result.kernels[i].launches, 1);
    EXPECT_FALSE(result.kernels[i].fallback);
  }
}

void check_physical_file(const std::string& path) {
  for (const json& row : read_lines(path))
    if (row.at("feasible").get<bool>()) check_physical(row);
}

void check_illegal_file(const std::string& path) {
  for (const json& row : read_lines(path)) {
    SCOPED_TRACE(row.at("name").get<std::string>());
    const Workload w = golden_workload(row.at("graph"));
    const auto result = simulate(w.graph, w.hardware, golden_plan(row.at("plan")),
                                 {.rules = Rules::physical, .order = order_of(row)});
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(name(result.fault->code), row.at("code").get<std::string>()) << result.fault->message;
    const json& kernel = row.at("kernel");
    EXPECT_EQ(result.fault->kernel, kernel.is_null() ? std::nullopt : std::optional(kernel.get<int>()))
        << result.fault->message;
  }
}

void check_optima_file(const std::string& path) {
  for (const json& row : read_lines(path)) {
    const Workload w = golden_workload(row.at("graph"));
    for (Rules rules : {Rules::seed, Rules::seed_honest}) {
      SCOPED_TRACE(row.at("name").get<std::string>() + " under " + std::string(walk::name(rules)));
      const json& best = row.at(walk::name(rules));
      const auto result = simulate(w.graph, w.hardware, golden_plan(best.at("groups")), {.rules = rules});
      ASSERT_TRUE(result.legal()) << result.fault->message;
      const double optimum = best.at("optimum").get<double>();
      EXPECT_EQ(result.latency, optimum);
    }
  }
}

// The groups that an episode built, as a plan; a tile and ids that an agent may not say become what the rules
// make of them.
walk::Plan plan_of_episode(const json& row, int n) {
  walk::Plan plan;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const json& action = row.at("actions")[i];
    const bool fused =
        !plan.empty() && action.at("fuse_with_prev").get<bool>() && row.at("steps")[i].at("error").is_null();
    if (!fused) plan.emplace_back();
    walk::PlanKernel& kernel = plan.back();
    kernel.nodes.push_back(row.at("topo_order")[i].get<NodeId>());
    kernel.tile = action.at("tile").get<int>();
    if (std::ranges::find(walk::tiles, kernel.tile) == walk::tiles.end()) kernel.tile = walk::default_tile;
    kernel.retain = action.at("retain").get<std::vector<NodeId>>();
    std::erase_if(kernel.retain, [n](NodeId id) { return id < 0 || id >= n; });
  }
  return plan;
}

// The total that the episode showed once the kernel was charged: at the step that began the next one.
void check_totals(const json& row, const walk::Plan& plan, const Simulation& result) {
  std::size_t begin = 0;
  int launches = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    SCOPED_TRACE("kernel " + std::to_string(i));
    begin += plan[i].nodes.size();
    launches += result.kernels[i].launches;
    if (begin + 1 == row.at("steps").size()) continue;  // the last step charged two kernels
    const json& step = row.at("steps")[std::min(begin, row.at("steps").size() - 1)];
    EXPECT_EQ(result.kernels[i].total, step.at("total_latency").get<double>());
    EXPECT_EQ(launches, step.at("kernel_launches").get<int>());
  }
  EXPECT_EQ(result.latency, row.at("final_latency").get<double>());
  EXPECT_EQ(result.kernels.back().resident_after,
            row.at("steps").back().at("fast_mem").get<std::vector<NodeId>>());
}

TEST(Simulate, physical_optima_price_to_the_bit) {
  check_physical_file(small_golden_dir() + "/physical_small.jsonl");
}

TEST(Simulate, recorded_illegal_plans_are_refused) {
  check_illegal_file(small_golden_dir() + "/physical_illegal_small.jsonl");
}

TEST(Simulate, seed_optima_price_to_the_bit) {
  check_optima_file(small_golden_dir() + "/optima_small.jsonl");
}

TEST(SimulateFull, physical) {
  if (!has_golden("physical.jsonl")) GTEST_SKIP() << "no full golden files";
  check_physical_file(golden_dir() + "/physical.jsonl");
}

TEST(SimulateFull, physical_illegal) {
  if (!has_golden("physical_illegal.jsonl")) GTEST_SKIP() << "no full golden files";
  check_illegal_file(golden_dir() + "/physical_illegal.jsonl");
}

TEST(SimulateFull, optima) {
  if (!has_golden("optima.jsonl")) GTEST_SKIP() << "no full golden files";
  check_optima_file(golden_dir() + "/optima.jsonl");
}

// Every finished episode is a legal plan, whatever its agent did: fallbacks, penalties and phantoms included.
TEST(SimulateFull, groups_of_episodes) {
  if (!has_golden("episodes.jsonl")) GTEST_SKIP() << "no full golden files";
  int fallbacks = 0;
  int penalties = 0;
  for (const json& row : read_lines(golden_dir() + "/episodes.jsonl")) {
    if (row.at("steps").size() < row.at("topo_order").size()) continue;  // cut by max_steps
    SCOPED_TRACE(row.at("id").get<int>());
    const Workload w = golden_workload(row.at("graph"));
    const walk::Plan plan = plan_of_episode(row, w.graph.size());
    const auto result = simulate(w.graph, w.hardware, plan, {.rules = Rules::seed});
    ASSERT_TRUE(result.legal()) << result.fault->message;
    check_totals(row, plan, result);
    for (const KernelReport& kernel : result.kernels) {
      fallbacks += kernel.fallback && kernel.launches > 1;
      penalties += kernel.fallback && kernel.latency >= walk::oom_penalty;
    }
  }
  EXPECT_GT(fallbacks, 0);
  EXPECT_GT(penalties, 0);
}

}  // namespace
}  // namespace fuselage::oracle
