// What a report shows of a plan is what the judges say, kernel by kernel, and it adds up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fuselage/oracle/explain.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/report/schedule.h"
#include "grid_random.h"
#include "report_plans.h"

namespace fuselage::report {
namespace {

void check_sums(const Subject& subject, const Schedule& schedule, const std::string& name) {
  double now = 0;
  double compute = 0;
  for (const Kernel& kernel : schedule.kernels) {
    EXPECT_EQ(kernel.start, now) << name;
    EXPECT_NEAR(kernel.end - kernel.start, kernel.latency, 1e-9 * (1 + kernel.end)) << name;
    std::int64_t held = 0;
    for (const TensorId id : kernel.held) held += subject.tensors[static_cast<std::size_t>(id)].size;
    EXPECT_EQ(kernel.held_size, held) << name;
    EXPECT_LE(held, kernel.working_set) << name << ": more than the working set counts";
    EXPECT_LE(kernel.launch, kernel.latency * (1 + 1e-9)) << name;
    EXPECT_TRUE(std::ranges::is_sorted(kernel.held)) << name;
    now = kernel.end;
    compute += kernel.compute;
  }
  EXPECT_EQ(now, schedule.latency) << name;
  EXPECT_EQ(compute, schedule.totals.compute) << name;
}

void check_against_explain(const walk::PlanFile& plan, const std::string& name) {
  const Graph& graph = plan.workload.graph;
  const Hardware& hardware = plan.workload.hardware;
  const nlohmann::json expected = oracle::explain_json(
      graph, hardware, plan.kernels,
      oracle::simulate(graph, hardware, plan.kernels, {.rules = plan.rules, .order = plan.order}));
  const Schedule schedule = schedule_of(plan, "plan");
  EXPECT_EQ(schedule.legal(), expected["legal"].get<bool>()) << name;
  ASSERT_EQ(schedule.kernels.size(), expected["kernels"].size()) << name;
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    const auto& row = expected["kernels"][k];
    EXPECT_EQ(kernel.ops, row["nodes"].get<std::vector<OpId>>()) << name;
    EXPECT_EQ(kernel.loads, row["loads"].get<std::vector<OpId>>()) << name;
    EXPECT_EQ(kernel.stores, row["stores"].get<std::vector<OpId>>()) << name;
    EXPECT_EQ(kernel.loaded, row["load_bytes"].get<double>()) << name;
    EXPECT_EQ(kernel.stored, row["store_bytes"].get<double>()) << name;
    EXPECT_EQ(kernel.compute, row["compute_cycles"].get<double>()) << name;
    EXPECT_EQ(kernel.memory, row["memory_cycles"].get<double>()) << name;
    EXPECT_EQ(kernel.latency, row["latency"].get<double>()) << name;
    EXPECT_EQ(kernel.bound, row["bound"].get<std::string>()) << name;
    EXPECT_EQ(kernel.launches, row["launches"].get<int>()) << name;
    EXPECT_EQ(kernel.working_set, row["working_set"].get<std::int64_t>()) << name;
    EXPECT_EQ(kernel.working_set_share, row["working_set_share"].get<double>()) << name;
  }
  EXPECT_EQ(schedule.latency, expected["totals"]["latency"].get<double>()) << name;
  EXPECT_EQ(schedule.totals.memory, expected["totals"]["memory_cycles"].get<double>()) << name;
  EXPECT_EQ(schedule.totals.loaded, expected["totals"]["load_bytes"].get<double>()) << name;
  EXPECT_EQ(schedule.totals.launches, expected["totals"]["launches"].get<int>()) << name;
  EXPECT_EQ(schedule.totals.largest_working_set,
            expected["totals"]["largest_working_set"].get<std::int64_t>());
  check_sums(subject_of(plan.workload), schedule, name);
}

TEST(ReportSchedule, ShowsWhatExplainSays) {
  Dice dice(11);
  int fallbacks = 0;
  for (int round = 0; round < 150; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 2 + round % 9});
    const std::string name = fmt::format("graph {}", round);
    for (const walk::Rules rules : {walk::Rules::seed, walk::Rules::seed_honest}) {
      const walk::PlanFile plan = diced_plan(workload, rules, dice);
      check_against_explain(plan, name);
      for (const Kernel& kernel : schedule_of(plan, "").kernels) fallbacks += kernel.bound == "fallback";
    }
    if (const auto best = best_plan(workload, walk::Rules::physical)) check_against_explain(*best, name);
  }
  EXPECT_GT(fallbacks, 10);
}

TEST(ReportSchedule, HoldsWhatIsReadForTheLastTime) {
  // Under physical rules the working set has all residents, in full.
  Dice dice(12);
  int last_reads = 0;
  for (int round = 0; round < 100; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 8});
    const auto best = best_plan(workload, walk::Rules::physical);
    if (!best) continue;
    const Schedule schedule = schedule_of(*best, "best");
    for (std::size_t k = 1; k < schedule.kernels.size(); ++k)
      for (const TensorId id : best->kernels[k - 1].retain) {
        const auto& now = best->kernels[k].retain;
        const auto& consumers = workload.graph.consumers(id);
        const bool reads = std::ranges::any_of(
            consumers, [&](NodeId node) { return std::ranges::count(best->kernels[k].nodes, node) > 0; });
        if (!reads || std::ranges::count(now, id) > 0) continue;
        ++last_reads;
        EXPECT_TRUE(std::ranges::binary_search(schedule.kernels[k].held, id)) << "kernel " << k;
      }
  }
  EXPECT_GT(last_reads, 10);
}

TEST(ReportSchedule, FalseClaimsAreDoubted) {
  Dice dice(13);
  walk::PlanFile plan = *best_plan(random_workload(dice, {.nodes = 6}), walk::Rules::seed_honest);
  plan.lower_bound = plan.latency;
  plan.proof = "optimal";
  plan.greedy_latency = 2 * plan.latency;
  EXPECT_EQ(schedule_of(plan, "true").doubt, "");
  EXPECT_EQ(schedule_of(plan, "true").proof, "optimal");
  plan.latency *= 1.1;
  plan.lower_bound = plan.latency;
  const Schedule doubted = schedule_of(plan, "false");
  EXPECT_NE(doubted.doubt, "");
  EXPECT_EQ(doubted.proof, "none");
  EXPECT_EQ(doubted.lower_bound, std::nullopt);
  EXPECT_EQ(doubted.greedy_latency, std::nullopt);
}

TEST(ReportSchedule, APenaltyIsNoLaunch) {
  // One node that fits no tile: it pays its penalty.
  const Workload workload = {.name = "w",
                             .graph = Graph({derived_node(fuselage::Op::matmul, 256, 256, {})}),
                             .hardware = {100, 8, 5e6, 2}};
  const Schedule schedule = schedule_of(
      plan_of(workload, walk::Rules::seed, {{.nodes = {0}, .tile = 128, .retain = {}}}), "penalty");
  ASSERT_EQ(schedule.kernels.size(), 1U);
  EXPECT_EQ(schedule.kernels[0].latency, walk::oom_penalty);
  EXPECT_EQ(schedule.kernels[0].launch, 0);
  EXPECT_EQ(schedule.totals.launch, 0);
}

TEST(ReportSchedule, EndsAtTheKernelAtFault) {
  Dice dice(3);
  const Workload workload = random_workload(dice, {.nodes = 6});
  walk::PlanFile plan = *best_plan(workload, walk::Rules::seed_honest, oracle::Engine::naive);
  plan.kernels[3].tile = 77;
  const Schedule schedule = schedule_of(plan, "bad");
  ASSERT_FALSE(schedule.legal());
  EXPECT_EQ(schedule.fault->code, "TILE");
  EXPECT_EQ(schedule.fault->kernel, 3);
  EXPECT_EQ(schedule.kernels.size(), 3U);
  check_against_explain(plan, "bad");
}

TEST(ReportSchedule, ShowsWhatTheJudgeOfGridPlansSays) {
  std::mt19937 random(5);
  int both = 0;
  int held = 0;
  for (int round = 0; round < 60; ++round) {
    const grid::Instance instance = grid::random_instance(random, {.ops = 7});
    for (const grid::RuleSet set :
         {grid::RuleSet::fusionops, grid::RuleSet::fusionops_honest, grid::RuleSet::mlsys}) {
      const grid::Rules rules = {.set = set};
      const oracle::GridSolution solution =
          oracle::solve_grid(instance, {.rules = rules, .engine = oracle::Engine::beam, .width = 2});
      const grid::Evaluation evaluation = grid::evaluate(instance, rules, solution.plan);
      const Schedule schedule = schedule_of(instance, rules, solution.plan, "beam");
      ASSERT_EQ(schedule.kernels.size(), evaluation.kernels.size());
      EXPECT_EQ(schedule.latency, evaluation.latency);
      for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
        const Kernel& kernel = schedule.kernels[k];
        EXPECT_EQ(kernel.latency, evaluation.kernels[k].latency);
        EXPECT_EQ(kernel.compute, evaluation.kernels[k].compute);
        EXPECT_EQ(kernel.memory, evaluation.kernels[k].transferred / instance.machine().bandwidth);
        EXPECT_EQ(kernel.stored == 0, kernel.stores.empty()) << "kernel " << k;
        both += kernel.bound == "both";
        held += !kernel.held.empty();
      }
      check_sums(subject_of(instance, "p"), schedule, fmt::format("problem {}", round));
    }
  }
  EXPECT_GT(both, 5);
  EXPECT_GT(held, 5);
}

TEST(ReportSchedule, ASubjectIsOpsAndTensors) {
  const Workload workload = {.name = "w",
                             .graph = Graph({derived_node(fuselage::Op::matmul, 4, 8, {}),
                                             derived_node(fuselage::Op::add, 4, 8, {0, 0})}),
                             .hardware = {.fast_mem_capacity = 1024,
                                          .slow_mem_bandwidth = 2,
                                          .kernel_launch_cost = 5,
                                          .max_fusion_depth = 3},
                             .node_names = {"first", ""}};
  const Subject subject = subject_of(workload);
  ASSERT_EQ(subject.ops.size(), 2U);
  EXPECT_EQ(subject.ops[0].name, "first");
  EXPECT_EQ(subject.ops[1].kind, "add");
  EXPECT_EQ(subject.ops[1].shape, "4 x 8");
  EXPECT_EQ(subject.ops[1].inputs, (std::vector<TensorId>{0})) << "read twice, drawn once";
  EXPECT_EQ(subject.tensors[1].size, 128);
  EXPECT_EQ(subject.machine.max_fusion_depth, 3);
  Workload other = workload;
  other.node_names.clear();
  EXPECT_EQ(subject.key, subject_of(other).key) << "a name is a label";
  other.hardware.kernel_launch_cost = 6;
  EXPECT_NE(subject.key, subject_of(other).key);
}

}  // namespace
}  // namespace fuselage::report
