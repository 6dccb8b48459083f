// Steps of fusionops: figures to the bit against loops that share no code with them, the order of the checks,
// tasks, scores and whole plans.

#include "fuselage/grid/fusionops.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <random>

#include "brute_fusionops.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/problem_json.h"
#include "grid_problems.h"
#include "replay_rows.h"

namespace fuselage::grid {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

// Random graphs with tensors of unlike shapes, ops of up to three inputs (some twice) and two outputs.
class RandomGrid {
 public:
  explicit RandomGrid(unsigned seed) : random_(seed) {}

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
  }

  Instance instance() {
    const int inputs = static_cast<int>(pick(1, 3));
    std::vector<Op> ops;
    int tensors = inputs;
    for (std::int64_t i = 0, count = pick(1, 6); i < count; ++i) {
      Op op{.kind = pick(0, 1) == 0 ? OpKind::pointwise : OpKind::matmul, .base_cost = cost()};
      for (std::int64_t n = op.kind == OpKind::matmul ? 2 : pick(1, 3); n > 0; --n)
        op.inputs.push_back(static_cast<TensorId>(pick(std::max(0, tensors - 4), tensors - 1)));
      for (std::int64_t n = pick(1, 5) == 1 ? 2 : 1; n > 0; --n) op.outputs.push_back(tensors++);
      ops.push_back(std::move(op));
    }
    std::vector<Tensor> shapes;
    for (int i = 0; i < tensors; ++i) shapes.push_back({.width = pick(1, 40), .height = pick(1, 40)});
    return {
        std::move(shapes),
        std::move(ops),
        {.capacity = pick(1000, 20000), .bandwidth = cost() + 0.1, .native_width = 16, .native_height = 8}};
  }

  Kernel step(const Instance& instance) {
    Kernel step{.ops = {}, .granularity = {.w = pick(1, 45), .h = pick(1, 45), .k = pick(1, 45)}};
    for (OpId id = 0; id < instance.op_count(); ++id)
      if (pick(0, 1) == 1) step.ops.push_back(id);
    std::shuffle(step.ops.begin(), step.ops.end(), random_);
    for (const OpId id : step.ops)
      for (const TensorId output : instance.op(id).outputs)
        if (pick(0, 2) == 0) step.retain.push_back(output);
    return step;
  }

  std::vector<std::int64_t> order(std::int64_t tiles) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(tiles));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    return order;
  }

 private:
  double cost() { return std::uniform_real_distribution<double>(0, 50)(random_); }

  std::mt19937 random_;
};

std::set<TensorId> resident(const StepState& state) {
  std::set<TensorId> ids;
  for (std::size_t id = 0; id < state.resident.size(); ++id)
    if (state.resident[id]) ids.insert(static_cast<TensorId>(id));
  return ids;
}

void expect_same(const StepCost& got, const BruteStep& expected) {
  EXPECT_EQ(bits(got.latency), bits(expected.latency)) << got.latency << " " << expected.latency;
  EXPECT_EQ(got.working_set, expected.working_set);
  EXPECT_EQ(got.tiles, expected.tiles);
  EXPECT_EQ(got.iterations, expected.iterations);
  EXPECT_NEAR(got.transferred, expected.transferred, 1e-9 * expected.transferred);
  EXPECT_NEAR(got.stored, expected.stored, 1e-9 * expected.stored);
}

TEST(Fusionops, StepsCostWhatTheLoopsOfTheRulesAddUp) {
  int valid = 0;
  int oom = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    RandomGrid random(seed);
    const Instance instance = random.instance();
    StepState state(instance);
    for (int i = 0; i < 12; ++i) {
      Kernel step = random.step(instance);
      if (random.pick(0, 2) == 0) {
        const std::set<TensorId> none;
        const std::int64_t tiles = BruteFusionops(instance, none, step).run().tiles;
        step.traversal = random.order(tiles);
      }
      const StepJudgement judged = judge_step(instance, {}, state, step);
      if (judged.error && judged.error->fault != StepFault::memory) continue;
      const std::set<TensorId> fast = resident(state);
      const BruteStep expected = BruteFusionops(instance, fast, step).run();
      EXPECT_EQ(judged.error.has_value(), expected.working_set > double(instance.machine().capacity));
      if (judged.error) {
        ++oom;
        EXPECT_THAT(judged.error->message,
                    StartsWith(fmt::format("OOM: working set {:.0f} exceeds", expected.working_set)));
        continue;
      }
      ++valid;
      expect_same(judged.cost, expected);
      apply_step(instance, step, state);
      EXPECT_EQ(resident(state), std::set<TensorId>(step.retain.begin(), step.retain.end()));
    }
  }
  EXPECT_GT(valid, 3000);
  EXPECT_GT(oom, 300);
}

// Long sums, where the jumps over a binade's additions matter.
TEST(Fusionops, LongSumsAreTheLoopsToTheBit) {
  for (const double cost : {0.1, 1.0 / 3, 7.0, 1e-9, 123.456}) {
    for (const double bandwidth : {0.3, 10.0, 37.0}) {
      const Instance instance(
          {{.width = 130, .height = 700}, {.width = 300, .height = 130}, {.width = 300, .height = 700}},
          {matmul(0, 1, 2, cost * 1e4)},
          {.capacity = 1 << 20, .bandwidth = bandwidth, .native_width = 3, .native_height = 2});
      for (const Granularity tile : {Granularity{1, 1, 130}, Granularity{300, 1, 130},
                                     Granularity{1, 700, 200}, Granularity{3, 2, 1}, Granularity{2, 7, 60}}) {
        const Kernel step{.ops = {0}, .granularity = tile};
        const StepJudgement judged = judge_step(instance, {}, StepState(instance), step);
        ASSERT_FALSE(judged.error) << judged.error->message;
        const std::set<TensorId> none;
        expect_same(judged.cost, BruteFusionops(instance, none, step).run());
      }
    }
  }
}

// One tile's traffic is below half a unit of the sum's last place, or exactly half of it: ties and sums that
// stand still.
TEST(Fusionops, SumsThatRoundAreTheLoopsToTheBit) {
  for (const double small : {0.5, 0.75, 1.0, 1.5, 2.5, 3.0}) {
    const double first = 0x1p53;  // whose last place is 2
    const Instance instance(
        {{.width = 1, .height = 1}, {.width = 1, .height = 4000}, {.width = 1, .height = 4000}},
        {pointwise({0}, 1, first), pointwise({1}, 2, small)},
        {.capacity = 100, .bandwidth = 1e6, .native_width = 1, .native_height = 1});
    double looped = 0;
    for (int i = 0; i < 4000; ++i) looped += first;
    for (int i = 0; i < 4000; ++i) looped += small;
    EXPECT_EQ(bits(fusionops_naive_latency(instance)), bits(looped)) << small;
  }
  // From 2^53 - 40 upwards, across the binade's end.
  const Instance crossing({{.width = 1, .height = 1}, {.width = 1, .height = 1}, {.width = 1, .height = 200}},
                          {pointwise({0}, 1, 0x1p53 - 40), pointwise({1}, 2, 1)},
                          {.capacity = 100, .bandwidth = 1e6, .native_width = 1, .native_height = 1});
  EXPECT_EQ(fusionops_naive_latency(crossing), 0x1p53);
}

TEST(Fusionops, AnyGridIsPricedAtOnce) {
  const std::int64_t side = std::int64_t{1} << 25;
  const Instance instance(squares(3, side), {matmul(0, 1, 2, 1.0 / 3)},
                          {.capacity = std::numeric_limits<std::int64_t>::max(),
                           .bandwidth = 0.7,
                           .native_width = 1,
                           .native_height = 1});
  EXPECT_GT(fusionops_naive_latency(instance), 1e22);
  const StepJudgement judged =
      judge_step(instance, {}, StepState(instance), {.ops = {0}, .granularity = {.w = 1, .h = 1, .k = 1}});
  ASSERT_FALSE(judged.error);
  EXPECT_EQ(judged.cost.tiles, std::int64_t{1} << 50);
  EXPECT_EQ(judged.cost.iterations, std::numeric_limits<std::int64_t>::max());
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto wide =
      judge_step(instance, {}, StepState(instance), {.ops = {0}, .granularity = {most, most, most}});
  ASSERT_TRUE(wide.error);
  EXPECT_EQ(wide.error->message,
            "OOM: working set 255211775190703847597530955573826158592 exceeds fast memory capacity "
            "9223372036854775807");
}

// Every fault stands before those after it in this list, whatever else is wrong.
TEST(Fusionops, TheFirstFaultWins) {
  const Instance instance(squares(6, 4),
                          {pointwise({0}, 1, 1), pointwise({1}, 2, 1), pointwise({2}, 3, 1),
                           pointwise({0}, 4, 1), pointwise({4}, 5, 1)},
                          {.capacity = 40, .bandwidth = 1, .native_width = 4, .native_height = 4});
  StepState state(instance);
  state.ran[0] = 1;
  const StepRules rules{.allow_recomputation = false};
  const Granularity bad{.w = 0, .h = -1, .k = 1};
  const Granularity big{.w = 100, .h = 100, .k = 1};
  const auto fault = [&](const Kernel& step) {
    const StepJudgement judged = judge_step(instance, rules, state, step);
    return judged.error ? fmt::format("{} | {}", step_error_class_name(step_error_class(judged.error->fault)),
                                      judged.error->message)
                        : "valid";
  };
  using Order = std::vector<std::int64_t>;
  EXPECT_EQ(fault({{0, 0, 2, 5}, bad, {9}, Order{7}}), "Invalid Action | Invalid operation ID: 5");
  EXPECT_EQ(fault({{-1}, bad, {9}, Order{7}}), "Invalid Action | Invalid operation ID: -1");
  EXPECT_EQ(fault({{2, 2, 0}, bad, {9}, Order{7}}),
            "Already Scheduled (op already executed) | Operation 0 already scheduled");
  EXPECT_EQ(fault({{2, 3, 2}, bad, {9}, Order{7}}),
            "Already Scheduled (op already executed) | Duplicate operation IDs in action");
  EXPECT_EQ(
      fault({{3, 2}, bad, {9}, Order{7}}),
      "Dependency Error (op not ready) | Dependency not met: op 2 needs tensor 2 from op 1 which is not "
      "scheduled");
  EXPECT_EQ(fault({{3, 1}, bad, {9}, Order{7}}),
            "Connectivity Error (ops do not form connected subgraph) | Operations do not form a connected "
            "subgraph");
  EXPECT_EQ(fault({{3}, bad, {9}, Order{7}}),
            "Invalid Action | Config dimensions must be positive: [0,-1,1]");
  EXPECT_EQ(
      fault({{3}, big, {9}, Order{7}}),
      "Retention Error (tensor not produced by current subgraph) | Cannot retain tensor 9: not produced by "
      "this subgraph");
  EXPECT_EQ(fault({{3}, big, {4}, Order{7}}),
            "Memory Error (working set too large) | OOM: working set 20000 exceeds fast memory capacity 40");
  EXPECT_EQ(fault({{3}, {4, 2, 1}, {4}, Order{7}}),
            "Invalid Action | Traversal order length 1 != expected tiles 2");
  EXPECT_EQ(fault({{3}, {4, 2, 1}, {4}, Order{1, 1}}),
            "Invalid Action | Traversal order must be a permutation of tile indices");
  EXPECT_EQ(fault({{3}, {4, 2, 1}, {4}, Order{1, 0}}), "valid");
}

TEST(Fusionops, WhatNoStepStoredIsLostUnderTheHonestRules) {
  const Instance instance(squares(4, 4),
                          {pointwise({0}, 1, 1), pointwise({1}, 2, 1), pointwise({1, 2}, 3, 1)},
                          {.capacity = 100, .bandwidth = 1, .native_width = 4, .native_height = 4});
  const auto third_after = [&](const std::vector<Kernel>& before, bool honest) {
    StepState state(instance);
    for (const Kernel& step : before) {
      EXPECT_FALSE(judge_step(instance, {.honest = honest}, state, step).error);
      apply_step(instance, step, state);
    }
    const auto error =
        judge_step(instance, {.honest = honest}, state, {.ops = {2}, .granularity = {4, 4, 1}}).error;
    return error ? error->message : "valid";
  };
  const Granularity tile{4, 4, 1};
  EXPECT_EQ(third_after({{{0}, tile}, {{1}, tile}}, true), "valid");
  const std::string lost =
      "Tensor lost: op 2 needs tensor 1, which op 0 made but which was neither stored nor retained for this "
      "step";
  EXPECT_EQ(third_after({{{0}, tile, {1}}, {{1}, tile}}, true), lost);   // retained for the step between only
  EXPECT_EQ(third_after({{{0, 1}, tile}}, true), lost);                  // read within its step
  EXPECT_EQ(third_after({{{0, 1}, tile, {1}}}, true), "valid");          // and retained
  EXPECT_EQ(third_after({{{0, 1}, tile}, {{0}, tile}}, true), "valid");  // made again
  EXPECT_EQ(third_after({{{0}, tile, {1}}, {{1}, tile}}, false), "valid");
  EXPECT_EQ(third_after({{{0, 1}, tile}}, false), "valid");
}

TEST(Fusionops, PenaltiesGoByClass) {
  const std::vector<std::pair<StepErrorClass, double>> penalties = {
      {StepErrorClass::parse, -0.10},
      {StepErrorClass::invalid_action, -0.10},
      {StepErrorClass::already_scheduled, -0.10},
      {StepErrorClass::dependency, -0.20},
      {StepErrorClass::connectivity, -0.15},
      {StepErrorClass::retention, -0.15},
      {StepErrorClass::memory, -0.05}};
  for (const auto& [error_class, penalty] : penalties) EXPECT_EQ(step_penalty(error_class), penalty);
  EXPECT_EQ(step_error_class(StepFault::not_stored), StepErrorClass::dependency);
}

TEST(Fusionops, ScoresCompareWithNaive) {
  EXPECT_EQ(fusionops_score(
                {.naive_latency = 30, .total_latency = 10, .covered_ops = 4, .ops = 4, .complete = true}),
            0.5);
  EXPECT_EQ(fusionops_score(
                {.naive_latency = 10, .total_latency = 30, .covered_ops = 4, .ops = 4, .complete = true}),
            0);
  EXPECT_EQ(fusionops_score({.naive_latency = 10, .total_latency = 5, .covered_ops = 3, .ops = 4}),
            0.75 * 0.1);
  EXPECT_EQ(fusionops_score({.naive_latency = 10, .ops = 4}), 0);
  EXPECT_EQ(fusionops_readme_score({.naive_latency = 40, .total_latency = 10, .complete = true}), 0.75);
  EXPECT_EQ(fusionops_readme_score({.naive_latency = 40, .total_latency = 50, .complete = true}), 0);
  EXPECT_EQ(fusionops_readme_score({.naive_latency = 40, .total_latency = 10}), std::nullopt);
}

struct Published {
  const char* task;
  double naive;
  int max_steps;
  double honest;
  double any;  // as the environment allows
};
constexpr std::array<Published, 4> published = {{{"task1_linear", 19660.8, 10, 3900, 3900},
                                                 {"task2_diamond", 22937.6, 12, 6600, 6600},
                                                 {"task3_matmul", 18022.4, 15, 8553.6, 7776.8},
                                                 {"task4_multistage", 32768, 20, 9534.4, 9296}}};

Plan recorded_plan(const nlohmann::json& row) {
  Plan plan;
  for (const nlohmann::json& step : row.at("steps")) {
    const auto config = step.at("config").get<std::vector<std::int64_t>>();
    Kernel kernel{.ops = step.at("ops").get<std::vector<OpId>>(),
                  .granularity = {config[0], config[1], config[2]},
                  .retain = step.at("retain").get<std::vector<TensorId>>()};
    if (!step.at("traversal").is_null())
      kernel.traversal = step.at("traversal").get<std::vector<std::int64_t>>();
    plan.kernels.push_back(std::move(kernel));
  }
  return plan;
}

TEST(Fusionops, TasksAreTheEnvironments) {
  ASSERT_EQ(fusionops_tasks().size(), published.size());
  for (const Published& expected : published) {
    const FusionopsTask* const task = find_fusionops_task(expected.task);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(task->max_steps, expected.max_steps);
    EXPECT_NEAR(fusionops_naive_latency(task->instance), expected.naive, 1e-8);
    const auto row = small_row("fusionops_small.jsonl", fmt::format("best:{}:X", expected.task));
    const Instance recorded = read_problem(row.at("problem").dump(), "row");
    EXPECT_EQ(problem_to_json(task->instance), problem_to_json(recorded)) << expected.task;
  }
  EXPECT_EQ(find_fusionops_task("task5"), nullptr);
}

TEST(Fusionops, TheBestPlansKnownAreWorthTheirFigures) {
  for (const Published& expected : published) {
    const Instance& instance = find_fusionops_task(expected.task)->instance;
    const auto plan = [&](const char* kind) {
      return recorded_plan(
          small_row("fusionops_small.jsonl", fmt::format("best:{}:{}", expected.task, kind)));
    };
    const auto judge = [&](const char* kind, RuleSet rules) {
      return evaluate(instance, {.set = rules}, plan(kind));
    };
    for (const RuleSet rules : {RuleSet::fusionops, RuleSet::fusionops_honest}) {
      const Evaluation honest = judge("H1", rules);
      EXPECT_TRUE(honest.valid()) << honest.violation->message;
      EXPECT_NEAR(honest.latency, expected.honest, 1e-6);
    }
    const Evaluation any = judge("X", RuleSet::fusionops);
    EXPECT_TRUE(any.valid());
    EXPECT_NEAR(any.latency, expected.any, 1e-6);
    EXPECT_EQ(judge("X", RuleSet::fusionops_honest).valid(), expected.any == expected.honest)
        << expected.task;
  }
}

TEST(Fusionops, PlansAreJudgedKernelByKernel) {
  const Instance& instance = find_fusionops_task("task2_diamond")->instance;
  const Granularity tile{128, 128, 1};
  const auto judge = [&](const Plan& plan, RuleSet rules = RuleSet::fusionops_honest) {
    return evaluate(instance, {.set = rules}, plan);
  };
  const auto fault = [&](const Plan& plan, RuleSet rules = RuleSet::fusionops_honest) {
    const Evaluation evaluation = judge(plan, rules);
    if (evaluation.valid()) return std::string("valid");
    const Violation& violation = *evaluation.violation;
    return fmt::format("{} {}", fault_name(violation.fault), violation.message);
  };
  const Evaluation whole = judge({{{{0, 1, 2, 3, 4, 5}, tile}}});
  ASSERT_TRUE(whole.valid());
  ASSERT_EQ(whole.kernels.size(), 1U);
  EXPECT_EQ(whole.kernels[0].latency, 6600);
  EXPECT_EQ(whole.kernels[0].working_set, 32768);
  EXPECT_EQ(whole.kernels[0].tiles, 1);
  EXPECT_EQ(whole.kernels[0].compute, 6600);
  EXPECT_EQ(whole.kernels[0].transferred, 32768);
  EXPECT_EQ(whole.kernels[0].stored, 16384);
  EXPECT_EQ(whole.kernels[0].loaded(), 16384);

  EXPECT_THAT(fault({{{{0, 1}, tile}, {{6}, tile}}}), StartsWith("UNKNOWN_OP kernel 1: "));
  EXPECT_THAT(fault({{{{0, 0}, tile}}}), StartsWith("DUP kernel 0: "));
  EXPECT_THAT(fault({{{{1}, tile}}}), StartsWith("NOT_AVAILABLE kernel 0: Dependency"));
  EXPECT_THAT(fault({{{{0, 1}, tile}, {{2}, tile}}}), StartsWith("NOT_AVAILABLE kernel 1: Tensor lost"));
  EXPECT_THAT(fault({{{{0}, tile}, {{1, 2}, tile}}}), StartsWith("NOT_CONNECTED kernel 1: "));
  EXPECT_THAT(fault({{{{0}, {0, 1, 1}}}}), StartsWith("GRID kernel 0: "));
  EXPECT_THAT(fault({{{{0}, tile, {0}}}}), StartsWith("RETAIN kernel 0: "));
  EXPECT_THAT(fault({{{{0}, {256, 128, 1}}}}), StartsWith("OOM kernel 0: "));
  EXPECT_THAT(fault({{{{0}, tile, {}, std::vector<std::int64_t>{1}}}}), StartsWith("TRAVERSAL kernel 0: "));
  EXPECT_EQ(fault({}), "COVERAGE op 0 is run by no kernel");
  EXPECT_EQ(fault({{{{}, tile}, {{0, 1, 2, 3, 4}, tile}}}), "COVERAGE op 5 is run by no kernel");
  const Plan kept{{{{0, 1, 2, 3, 4, 5}, tile, {6}}}};
  EXPECT_THAT(fault(kept), StartsWith("OUTPUT_NOT_STORED tensor 6 is a graph output"));
  EXPECT_FALSE(judge(kept).violation->kernel);
  EXPECT_EQ(fault(kept, RuleSet::fusionops), "valid");

  const Evaluation part = judge({{{{0}, tile}, {{1}, tile}, {{7}, tile}}});
  EXPECT_EQ(part.kernels.size(), 2U);
  EXPECT_EQ(part.latency, part.kernels[0].latency + part.kernels[1].latency);
  EXPECT_EQ(part.violation->kernel, 2);
}

}  // namespace
}  // namespace fuselage::grid
