// What a learned model is told about the grid family: every feature by name on a problem whose figures are
// worked out by hand, and what must change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "fuselage/grid/features.h"
#include "fuselage/grid/features_decision.h"
#include "fuselage/grid/generator.h"
#include "fuselage/search/split_mix.h"
#include "grid_problems.h"

namespace fuselage::grid {
namespace {

using Named = std::map<std::string, double>;

// Tensors of 65536 elements, four of which fill fast memory; moving one takes 1000, and tiles are a quarter
// of one. The ops take 3000, 500, 2000 and 1000, or 3000, 2000, 3000, 3000 with their tensors moved: 2750 on
// average.
Instance by_hand() {
  return {squares(6, 256),
          {matmul(0, 1, 2, 750), pointwise({2}, 3, 125), matmul(3, 1, 4, 500), pointwise({4, 2}, 5, 250)},
          {.capacity = 262144, .bandwidth = 65.536, .native_width = 128, .native_height = 128}};
}

constexpr double mean = 2750;
constexpr double moved = 1000 / mean;  // one tensor
const double log_3 = std::log2(3.0);
const double log_5 = std::log2(5.0);

// Everything that isn't named is zero.
void expect_row(const Schema& schema, std::span<const float> row, Named expected, const std::string& what) {
  ASSERT_EQ(row.size(), schema.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string& name = schema.features()[i].name;
    EXPECT_NEAR(row[i], expected[name], 1e-6) << what << ": " << name;
    expected.erase(name);
  }
  for (const auto& [name, value] : expected) ADD_FAILURE() << what << ": no feature " << name;
}

GridKernel kernel_in(const GridProblem& problem, std::vector<OpId> ops, std::vector<TensorId> retain = {}) {
  GridKernel kernel = {&problem.groups().of(ops), 0};
  for (TensorId t : retain) {
    const auto& made = kernel.group->made;
    kernel.retained |= std::uint64_t{1} << (std::find(made.begin(), made.end(), t) - made.begin());
  }
  return kernel;
}

struct GridFeaturesByHand : testing::Test {
  Instance instance = by_hand();
  GridProblem problem{instance, {}};
  Features features{instance, {}};
  State start = problem.initial();
  State kept = problem.apply(start, kernel_in(problem, {0}, {2}));
  State stored = problem.apply(start, kernel_in(problem, {0}));
  State lost = problem.apply(kept, kernel_in(problem, {1, 2}, {4}));

  std::vector<float> state_row(const State& state) const {
    std::vector<float> row(state_schema().size());
    features.state(features.view(state), row);
    return row;
  }
  std::vector<float> kernel_row(const KernelView& kernel, const State& state) const {
    std::vector<float> row(kernel_schema().size());
    features.kernel(kernel, features.view(state), row);
    return row;
  }
  std::vector<std::vector<float>> token_rows(const KernelView& kernel, const State& state) const {
    const std::size_t width = token_schema().size();
    std::vector<float> all(width * kernel.ops.size());
    features.tokens(kernel, features.view(state), all);
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i)
      rows.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i * width),
                        all.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    return rows;
  }
};

constexpr Granularity quarter = {.w = 128, .h = 128, .k = 64};

TEST_F(GridFeaturesByHand, every_feature_of_the_problem_by_name) {
  EXPECT_NEAR(features.mean_time(), mean, 1e-9);
  std::vector<float> row(workload_schema().size());
  features.workload(row);
  const Named expected = {{"memory_share", 11.0 / 17.5},
                          {"matmul_share", 5.0 / 6.5},
                          {"room", log_5},
                          {"largest_size", .25},
                          {"tile_size", .0625},
                          {"strip_size", .125},
                          {"tile_transfer", 250 / 656.25},
                          {"ops", log_5},
                          {"levels", log_5},
                          {"matmuls", .5}};
  Named contest = expected;
  contest["contest"] = 1;
  expect_row(workload_schema(), row, contest, "mlsys");
  Features(instance, {.set = RuleSet::fusionops_honest}).workload(row);
  expect_row(workload_schema(), row, expected, "fusionops-honest");
  Features(instance, {.set = RuleSet::fusionops}).workload(row);
  Named forgiving = expected;
  forgiving["forgiving"] = 1;
  expect_row(workload_schema(), row, forgiving, "fusionops");
  const Features native_k(instance, {.compute = Compute::native_k});
  native_k.workload(row);
  EXPECT_EQ(row[workload_schema().index("native_k")], 1);
  // Of a matmul's two k-steps of native width each now costs the base: 6000 and 4000.
  EXPECT_NEAR(native_k.mean_time(), (6000 + 2000 + 4000 + 3000) / 4.0, 1e-9);
}

TEST_F(GridFeaturesByHand, every_feature_of_a_state_by_name) {
  expect_row(
      state_schema(), state_row(start),
      {{"left", log_5}, {"ready", 1}, {"ready_matmuls", 1}, {"compute_left", 1}, {"memory_left", 11 / 17.5}},
      "nothing done");
  expect_row(state_schema(), state_row(kept),
             {{"done", .25},
              {"left", 2},
              {"ready", 1},
              {"residents", 1},
              {"resident_size", .25},
              {"resident_time", moved},
              {"resident_uses", log_3},
              {"compute_left", 3.5 / 6.5},
              {"memory_left", 8 / 11.5}},
             "tensor 2 is resident");
  expect_row(state_schema(), state_row(stored),
             {{"done", .25},
              {"left", 2},
              {"ready", 1},
              {"live", 1},
              {"live_time", moved},
              {"compute_left", 3.5 / 6.5},
              {"memory_left", 8 / 11.5}},
             "tensor 2 is stored");
  expect_row(state_schema(), state_row(lost),
             {{"done", .75},
              {"left", 1},
              {"ready", 1},
              {"residents", 1},
              {"resident_size", .25},
              {"resident_time", moved},
              {"resident_uses", 1},
              {"lost", 1},
              {"lost_time", 3000 / mean},
              {"compute_left", 1 / 6.5},
              {"memory_left", .75}},
             "tensor 2 is nowhere");
  std::vector<float> row(state_schema().size());
  const Instance apart(squares(5, 256), {pointwise({0}, 1, 1), pointwise({1}, 2, 1), pointwise({2, 3}, 4, 1)},
                       instance.machine());
  const Features of_apart(apart, {});
  State gap = GridProblem(apart, {}).initial();
  gap.covered.add(1);  // as no search would: ops 0 and 2 are ready, two levels apart
  of_apart.state(of_apart.view(gap), row);
  EXPECT_NEAR(row[state_schema().index("spread")], log_3, 1e-6);
  EXPECT_NEAR(row[state_schema().index("ready")], log_3, 1e-6);
}

TEST_F(GridFeaturesByHand, every_feature_of_a_token_by_name) {
  const std::vector<OpId> ops = {1, 2};
  const std::vector<TensorId> retain = {4};
  const auto rows = token_rows(
      {.ops = ops, .retain = retain, .granularity = quarter, .traversal = Traversal::row_snake}, kept);
  const Named shared = {{"k_steps", 2},         {"tile_rows", 1},   {"tile_columns", 1}, {"tile_height", 1},
                        {"tile_width", 1},      {"tile_depth", .5}, {"row_snake", 1},    {"output_size", .25},
                        {"output_time", moved}, {"fan_out", 1}};
  Named first = {{"feeds_lhs", 1},
                 {"place", .5},
                 {"fan_in", 1},
                 {"levels_left", .5},
                 {"resident_size", .25},
                 {"asked_size", .03125},
                 {"compute_time", 500 / mean},
                 {"absorbed_time", moved}};
  first.insert(shared.begin(), shared.end());
  expect_row(token_schema(), rows[0], first, "pointwise, feeds the matmul");
  Named second = {{"op_matmul", 1},
                  {"sink", 1},
                  {"root", 1},
                  {"retained", 1},
                  {"place", 1},
                  {"fan_in", log_3},
                  {"readers_left", 1},
                  {"lag", 1},
                  {"levels_left", .25},
                  {"loaded_size", .25},
                  {"inside_size", .25},
                  {"kept_size", .25},
                  {"asked_size", .0625},
                  {"slice_size", .03125},
                  {"compute_time", 2000 / mean},
                  {"load_time", moved},
                  {"reduction", 2}};
  second.insert(shared.begin(), shared.end());
  expect_row(token_schema(), rows[1], second, "matmul, retained");
}

TEST_F(GridFeaturesByHand, what_tokens_say_of_stores) {
  const std::vector<OpId> two = {0, 1};
  const auto rows =
      token_rows({.ops = two, .granularity = quarter, .traversal = Traversal::column_snake}, start);
  const auto at = [](std::string_view name) { return token_schema().index(name); };
  EXPECT_EQ(rows[0][at("root")], 1);  // feeds a pointwise op that runs on the tile
  EXPECT_EQ(rows[0][at("sink")], 0);
  EXPECT_NEAR(rows[0][at("buried_time")], moved, 1e-6);  // op 3 is left without it
  EXPECT_EQ(rows[0][at("absorbed_time")], 0);
  EXPECT_NEAR(rows[1][at("store_time")], moved, 1e-6);
  EXPECT_EQ(rows[1][at("idle_store_time")], 0);
  EXPECT_EQ(rows[1][at("column_snake")], 1);
  const std::vector<OpId> one = {0};
  const auto again = token_rows({.ops = one, .granularity = quarter}, stored)[0];
  EXPECT_EQ(again[at("again")], 1);
  EXPECT_NEAR(again[at("idle_store_time")], moved, 1e-6);  // stored already
  const std::vector<OpId> last = {3};
  const auto end = token_rows({.ops = last, .granularity = quarter}, lost)[0];
  EXPECT_NEAR(end[at("last_read_time")], moved, 1e-6);
  EXPECT_NEAR(end[at("store_time")], moved, 1e-6);
  EXPECT_EQ(end[at("idle_store_time")], 0);  // an output of the graph

  const Instance right(squares(4, 256), {pointwise({0}, 1, 100), matmul(2, 1, 3, 100)}, instance.machine());
  const GridProblem problem_right(right, {});
  const Features of_right(right, {});
  std::vector<float> row(2 * token_schema().size());
  of_right.tokens({.ops = two, .granularity = quarter}, of_right.view(problem_right.initial()), row);
  EXPECT_EQ(row[at("feeds_rhs")], 1);
  EXPECT_EQ(row[at("feeds_lhs")], 0);
  EXPECT_NEAR(row[at("asked_size")], 64 * 128 / 262144.0, 1e-6);
}

TEST_F(GridFeaturesByHand, every_feature_of_a_kernel_by_name) {
  const std::vector<OpId> ops = {1, 2};
  const std::vector<TensorId> retain = {4};
  expect_row(kernel_schema(), kernel_row({.ops = ops, .retain = retain, .granularity = quarter}, kept),
             {{"ops", log_3},
              {"fresh", log_3},
              {"matmuls", 1},
              {"sinks", 1},
              {"inputs", log_3},
              {"retained", 1},
              {"readers_left", 1},
              {"kept_readers", 1},
              {"unlocked", 1},
              {"kept_unlocked", 1},
              {"ready_taken", 1},
              {"left_after", 1},
              {"last_lag", 1},
              {"compute_time", 2500 / mean},
              {"matmul_part", .8},
              {"lhs_time", 500 / mean},
              {"load_time", moved},
              {"input_load_time", moved},
              {"resident_time", moved},
              {"absorbed_time", moved},
              {"kept_time", moved},
              {"moved_part", 1 / 3.5},
              {"spared_part", .75},
              {"fresh_compute_time", 1250 / mean},
              {"fresh_moved_time", moved / 2},
              {"held_size", .25},
              {"kept_size", .25},
              {"slice_size", .03125},
              {"working_size", .53125},
              {"reduction", 2},
              {"k_steps", 2},
              {"tile_rows", 1},
              {"tile_columns", 1}},
             "pointwise and matmul");
  const std::vector<OpId> chain = {0, 1, 2};
  expect_row(kernel_schema(), kernel_row({.ops = chain, .granularity = quarter}, stored),
             {{"ops", 2},
              {"fresh", log_3},
              {"again", 1},
              {"matmuls", log_3},
              {"upstream_matmuls", 1},
              {"sinks", 1},
              {"inputs", log_3},
              {"readers_left", 1},
              {"unlocked", 1},
              {"ready_taken", 1},
              {"left_after", 1},
              {"last_lag", 1},
              {"compute_time", 5500 / mean},
              {"again_part", 3.0 / 5.5},
              {"matmul_part", 5.0 / 5.5},
              {"lhs_time", 500 / mean},
              {"load_time", 2 * moved},
              {"input_load_time", 2 * moved},
              {"absorbed_time", moved},
              {"store_time", moved},
              {"moved_part", 3 / 8.5},
              {"spared_part", .4},
              {"fresh_compute_time", 1250 / mean},
              {"fresh_moved_time", 1.5 * moved},
              // Rows of tensor 0 over all of K, and of tensor 1 what the first matmul asks for, all of K too.
              {"slice_size", (128 * 256 + 256 * 64) / 262144.0},
              {"working_size", (128 * 256 + 256 * 64 + 128 * 128) / 262144.0},
              {"reduction", 2},
              {"k_steps", 2},
              {"tile_rows", 1},
              {"tile_columns", 1}},
             "both matmuls, the first again");
}

TEST_F(GridFeaturesByHand, what_a_kernel_says_of_residents) {
  const auto at = [](std::string_view name) { return kernel_schema().index(name); };
  const std::vector<OpId> first = {0};
  const auto wasting = kernel_row({.ops = first, .granularity = quarter}, lost);
  EXPECT_NEAR(wasting[at("wasted_time")], moved, 1e-6);
  EXPECT_NEAR(wasting[at("held_size")], .25, 1e-6);
  EXPECT_NEAR(wasting[at("again")], 1, 1e-6);
  const auto burying = kernel_row({.ops = std::vector<OpId>{0, 1}, .granularity = quarter}, start);
  EXPECT_NEAR(burying[at("buried_time")], moved, 1e-6);
  const std::vector<OpId> last = {3};
  const auto ending = kernel_row({.ops = last, .granularity = quarter}, lost);
  EXPECT_NEAR(ending[at("last_read_time")], moved, 1e-6);
  EXPECT_NEAR(ending[at("resident_time")], moved, 1e-6);
  EXPECT_NEAR(ending[at("load_time")], moved, 1e-6);
  const auto storing = kernel_row({.ops = first, .granularity = quarter}, stored);
  EXPECT_NEAR(storing[at("idle_store_time")], moved, 1e-6);
  const std::vector<OpId> middle = {2};
  EXPECT_NEAR(kernel_row({.ops = middle, .granularity = quarter}, stored)[at("first_lag")], 1, 1e-6);
  const Instance right(squares(4, 256), {pointwise({0}, 1, 100), matmul(2, 1, 3, 100)}, instance.machine());
  const GridProblem problem_right(right, {});
  const Features of_right(right, {});
  std::vector<float> row(kernel_schema().size());
  of_right.kernel({.ops = std::vector<OpId>{0, 1}, .granularity = quarter},
                  of_right.view(problem_right.initial()), row);
  EXPECT_NEAR(row[at("rhs_time")], 400 / of_right.mean_time(), 1e-6);
}

TEST_F(GridFeaturesByHand, a_candidate_is_described_at_native_granularity) {
  EXPECT_EQ(features.native_granularity(std::vector<OpId>{0, 1}), (Granularity{128, 128, 128}));
  EXPECT_EQ(features.native_granularity(std::vector<OpId>{1}), (Granularity{128, 128, 1}));
  const Instance small(squares(3, 50), {matmul(0, 1, 2, 1)}, instance.machine());
  EXPECT_EQ(Features(small, {}).native_granularity(std::vector<OpId>{0}), (Granularity{50, 50, 50}));
}

TEST_F(GridFeaturesByHand, a_decision_is_problem_state_kernel_and_the_extremes_of_its_tokens) {
  DecisionRows rows(features);
  const std::vector<GridKernel> kernels = {kernel_in(problem, {1, 2}, {4}), kernel_in(problem, {1})};
  std::vector<float> numbers(2 * DecisionRows::width());
  rows.fill(kept, kernels, numbers);
  const auto at = [&](std::size_t kernel, std::string_view name) {
    return numbers[kernel * DecisionRows::width() + decision_schema().index(name)];
  };
  EXPECT_NEAR(at(0, "problem.room"), log_5, 1e-6);
  EXPECT_NEAR(at(0, "state.resident_size"), .25, 1e-6);
  EXPECT_NEAR(at(0, "kernel.ops"), log_3, 1e-6);
  EXPECT_NEAR(at(0, "kernel.k_steps"), 1, 1e-6);  // 256 at native
  EXPECT_NEAR(at(0, "most.compute_time"), 2000 / mean, 1e-6);
  EXPECT_NEAR(at(0, "least.compute_time"), 500 / mean, 1e-6);
  EXPECT_NEAR(at(1, "kernel.ops"), 1, 1e-6);
  EXPECT_NEAR(at(1, "most.compute_time"), 500 / mean, 1e-6);
}

TEST(GridFeatures, names_are_unique_and_schemas_have_fingerprints) {
  std::set<std::string> prints;
  for (const Schema* schema :
       {&token_schema(), &kernel_schema(), &state_schema(), &workload_schema(), &decision_schema()}) {
    EXPECT_EQ(schema->fingerprint().size(), 64U);
    prints.insert(schema->fingerprint());
  }
  EXPECT_EQ(prints.size(), 5U);
}

struct Renumbering {
  std::vector<OpId> op;          // new id of each
  std::vector<TensorId> tensor;  // new id of each
};

Instance renumbered(const Instance& instance, const Renumbering& names) {
  std::vector<Tensor> tensors(instance.tensors().size());
  for (std::size_t t = 0; t < tensors.size(); ++t)
    tensors[static_cast<std::size_t>(names.tensor[t])] = instance.tensors()[t];
  std::vector<Op> ops(instance.ops().size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    Op op = instance.ops()[i];
    for (auto* list : {&op.inputs, &op.outputs})
      for (TensorId& t : *list) t = names.tensor[static_cast<std::size_t>(t)];
    ops[static_cast<std::size_t>(names.op[i])] = op;
  }
  return {std::move(tensors), std::move(ops), instance.machine()};
}

template <class Id>
std::vector<Id> shuffled(int count, search::SplitMix& random) {
  std::vector<Id> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), Id{0});
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  return ids;
}

// The rows of a random walk's kernels, and those of the same kernels under other numbers.
void expect_same_walk(const Instance& a, const Rules& rules, search::SplitMix& random) {
  const Renumbering names = {shuffled<OpId>(a.op_count(), random),
                             shuffled<TensorId>(a.tensor_count(), random)};
  const Instance b = renumbered(a, names);
  const GridProblem problem_a(a, rules, {.most_ops = 4});
  const GridProblem problem_b(b, rules, {.most_ops = 1, .whole_ops = 0});
  const Features features_a(a, rules), features_b(b, rules);
  DecisionRows rows_a(features_a), rows_b(features_b);
  std::vector<GridKernel> kernels;
  std::vector<float> row_a(DecisionRows::width()), row_b(DecisionRows::width());
  State s = problem_a.initial(), t = problem_b.initial();
  while (problem_a.progress(s) < problem_a.horizon()) {
    problem_a.kernels(s, kernels);
    if (kernels.empty()) return;
    const GridKernel here = kernels[random.below(kernels.size())];
    std::vector<OpId> ops;
    for (OpId op : here.group->ops) ops.push_back(names.op[static_cast<std::size_t>(op)]);
    std::vector<TensorId> retain;
    for (std::size_t i = 0; i < here.group->made.size(); ++i)
      if (here.retained >> i & 1U)
        retain.push_back(names.tensor[static_cast<std::size_t>(here.group->made[i])]);
    const GridKernel there = kernel_in(problem_b, ops, retain);
    rows_a.fill(s, std::span(&here, 1), row_a);
    rows_b.fill(t, std::span(&there, 1), row_b);
    for (std::size_t i = 0; i < row_a.size(); ++i)
      ASSERT_FLOAT_EQ(row_a[i], row_b[i]) << decision_schema().features()[i].name;
    s = problem_a.apply(s, here);
    t = problem_b.apply(t, there);
  }
}

TEST(GridFeatures, numbering_changes_nothing) {
  search::SplitMix random(5);
  for (const Network network : {Network::transformer, Network::cnn, Network::mixed})
    for (const RuleSet set : {RuleSet::mlsys, RuleSet::fusionops_honest})
      for (std::uint64_t seed = 0; seed < 4; ++seed)
        expect_same_walk(generate({.network = network, .ops = 18, .seed = seed}), {.set = set}, random);
}

// All rows of a greedy walk.
std::vector<float> walk_rows(const Instance& instance) {
  const GridProblem problem(instance, {}, {.most_ops = 4});
  const Features features(instance, {});
  DecisionRows rows(features);
  std::vector<float> all;
  State s = problem.initial();
  for (const GridKernel& kernel : problem.greedy()) {
    all.resize(all.size() + DecisionRows::width());
    rows.fill(s, std::span(&kernel, 1), std::span(all).last(DecisionRows::width()));
    s = problem.apply(s, kernel);
  }
  return all;
}

TEST(GridFeatures, units_of_time_and_of_size_change_nothing) {
  for (const Network network : {Network::transformer, Network::mixed}) {
    const Instance one = generate({.network = network, .ops = 16, .seed = 3});
    std::vector<Op> dear(one.ops().begin(), one.ops().end());
    for (Op& op : dear) op.base_cost *= 4;
    Machine slow = one.machine();
    slow.bandwidth /= 4;
    const Instance longer({one.tensors().begin(), one.tensors().end()}, dear, slow);
    EXPECT_EQ(walk_rows(one), walk_rows(longer));

    std::vector<Tensor> large(one.tensors().begin(), one.tensors().end());
    for (Tensor& tensor : large) tensor = {.width = 2 * tensor.width, .height = 2 * tensor.height};
    Machine wide = one.machine();
    wide.capacity *= 4;
    wide.bandwidth *= 4;
    wide.native_width *= 2;
    wide.native_height *= 2;
    const Instance larger(large, {one.ops().begin(), one.ops().end()}, wide);
    EXPECT_EQ(walk_rows(one), walk_rows(larger));
  }
}

}  // namespace
}  // namespace fuselage::grid
