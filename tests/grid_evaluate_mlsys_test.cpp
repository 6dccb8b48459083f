// The judge under the contest's rules: the statement's worked examples one by one, then each rule on the
// least plan that shows it, with figures worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"
#include "fuselage/grid/evaluate.h"
#include "grid_problems.h"

namespace fuselage::grid {
namespace {

using testing::HasSubstr;

constexpr Granularity native = {.w = 128, .h = 128, .k = 1};

Evaluation judged(const Instance& instance, std::vector<Kernel> kernels, const Rules& rules = {}) {
  return evaluate(instance, rules, {.kernels = std::move(kernels)});
}

double latency(const Instance& instance, std::vector<Kernel> kernels, const Rules& rules = {}) {
  const Evaluation result = judged(instance, std::move(kernels), rules);
  EXPECT_TRUE(result.valid()) << result.violation->message;
  return result.latency;
}

// Of the only kernel.
KernelReport report(const Instance& instance, Kernel kernel, const Rules& rules = {}) {
  const Evaluation result = judged(instance, {std::move(kernel)}, rules);
  EXPECT_EQ(result.kernels.size(), 1U) << result.violation->message;
  return result.kernels.empty() ? KernelReport{} : result.kernels[0];
}

Instance chain(std::int64_t side, std::int64_t capacity) {
  return {squares(3, side), {pointwise({0}, 1, 1000), pointwise({1}, 2, 100)}, machine_of(capacity)};
}

Instance diamond() {
  return {squares(4, 128),
          {pointwise({0}, 1, 1500), pointwise({1}, 2, 1500), pointwise({1, 2}, 3, 1500)},
          machine_of(50000)};
}

Instance one_matmul() {
  return {squares(3, 128), {matmul(0, 1, 2, 1500)}, machine_of(25000)};
}

Instance two_matmuls() {
  return {squares(5, 128), {matmul(0, 1, 3, 2000), matmul(3, 2, 4, 2000)}, machine_of(45000)};
}

TEST(GridExamples, Example1A) {
  EXPECT_DOUBLE_EQ(latency(chain(128, 35000), {kernel_of({0}, native), kernel_of({1}, native)}), 6553.6);
}

TEST(GridExamples, Example1B) {
  EXPECT_DOUBLE_EQ(latency(chain(128, 35000), {kernel_of({0, 1}, native)}), 3276.8);
}

TEST(GridExamples, Example1C) {
  EXPECT_DOUBLE_EQ(latency(chain(128, 35000), {kernel_of({0, 1}, {.w = 64, .h = 64})}), 4400);
}

TEST(GridExamples, Example2A) {
  EXPECT_DOUBLE_EQ(latency(chain(256, 35000), {kernel_of({0}, native), kernel_of({1}, native)}), 26214.4);
  const Evaluation small = judged(chain(256, 25000), {kernel_of({0}, native), kernel_of({1}, native)});
  ASSERT_FALSE(small.valid()) << "the capacity that was printed first";
  EXPECT_EQ(small.violation->fault, Fault::out_of_memory);
}

TEST(GridExamples, Example2B) {
  EXPECT_DOUBLE_EQ(latency(chain(256, 35000), {kernel_of({0, 1}, native)}), 13107.2);
}

TEST(GridExamples, Example3A) {
  EXPECT_DOUBLE_EQ(
      latency(diamond(), {kernel_of({0}, native), kernel_of({1}, native), kernel_of({2}, native)}), 11468.8);
}

TEST(GridExamples, Example3B) {
  EXPECT_DOUBLE_EQ(latency(diamond(), {kernel_of({0, 1}, native, {2}), kernel_of({0, 2}, native)}), 6276.8);
}

TEST(GridExamples, Example3C) {
  EXPECT_DOUBLE_EQ(latency(diamond(), {kernel_of({0}, native, {1}), kernel_of({1, 2}, native)}), 4638.4);
}

TEST(GridExamples, Example4A) {
  EXPECT_DOUBLE_EQ(latency(one_matmul(), {kernel_of({0}, {.w = 64, .h = 64, .k = 128})}), 7096);
}

TEST(GridExamples, Example4B) {
  Kernel kernel = kernel_of({0}, {.w = 64, .h = 64, .k = 128});
  kernel.traversal = {{0, 1, 3, 2}};
  EXPECT_DOUBLE_EQ(latency(one_matmul(), {kernel}), 6548);
}

TEST(GridExamples, Example5A) {
  const Evaluation result = judged(two_matmuls(), {kernel_of({0, 1}, {.w = 128, .h = 128, .k = 128})});
  ASSERT_FALSE(result.valid());
  EXPECT_EQ(result.violation->fault, Fault::out_of_memory);
  EXPECT_EQ(result.violation->message, "kernel 0: working set 65536 exceeds fast_memory_capacity 45000");
}

TEST(GridExamples, Example5B) {
  const Evaluation result = judged(two_matmuls(), {kernel_of({0, 1}, {.w = 128, .h = 128, .k = 32})});
  ASSERT_TRUE(result.valid());
  EXPECT_DOUBLE_EQ(result.latency, 6915.2);
  EXPECT_EQ(result.kernels[0].working_set, 40960);
  EXPECT_EQ(result.kernels[0].k_steps, 4);
}

TEST(GridEvaluateMlsys, edge_tiles_move_less_and_compute_in_full) {
  Machine machine = machine_of(30000);
  machine.bandwidth = 1;
  const Instance instance(std::vector<Tensor>(2, {.width = 200, .height = 100}), {pointwise({0}, 1, 15000)},
                          machine);
  const KernelReport result = report(instance, kernel_of({0}, native));
  EXPECT_EQ(result.tiles, 2);
  EXPECT_EQ(result.working_set, 2 * 128 * 100);
  EXPECT_EQ(result.transferred, 2 * 200 * 100);
  EXPECT_EQ(result.stored, 200 * 100);
  EXPECT_EQ(result.compute, 30000);
  EXPECT_EQ(result.latency, 2 * 128 * 100 + 15000) << "the second tile moves 14400 only";
}

TEST(GridEvaluateMlsys, the_part_of_k_that_is_left_costs_its_part) {
  Machine machine = machine_of(100000);
  machine.bandwidth = 1e6;
  const Instance instance(
      {{.width = 80, .height = 128}, {.width = 128, .height = 80}, {.width = 128, .height = 128}},
      {matmul(0, 1, 2, 1000)}, machine);
  const Kernel kernel = kernel_of({0}, {.w = 128, .h = 128, .k = 32});  // 32 + 32 + 16
  const KernelReport by_k = report(instance, kernel);
  EXPECT_EQ(by_k.k_steps, 3);
  EXPECT_DOUBLE_EQ(by_k.latency, 1000);
  EXPECT_DOUBLE_EQ(report(instance, kernel, {.compute = Compute::native_k}).latency, 1000 * 80 / 128.0);
}

TEST(GridEvaluateMlsys, a_chain_of_matmuls_makes_what_is_demanded) {
  Machine machine = machine_of(1000000);
  machine.bandwidth = 1e9;
  const Instance instance(squares(5, 256), {matmul(0, 1, 3, 512), matmul(3, 2, 4, 100)}, machine);
  // Each of 4 tiles has 4 k-steps, in which the first op makes 128 x 64: one native row, half a native
  // column, for its full K.
  const KernelReport result = report(instance, kernel_of({0, 1}, {.w = 128, .h = 128, .k = 64}));
  EXPECT_EQ(result.tiles * result.k_steps, 16);
  EXPECT_DOUBLE_EQ(result.compute, 16 * 512 * 0.5 + 4 * 100);
  // LHS 128 x 256, RHS 256 x 64, then 64 x 128 of the second RHS, and the tile.
  EXPECT_EQ(result.working_set, 128 * 256 + 256 * 64 + 64 * 128 + 128 * 128);
  const KernelReport native_k =
      report(instance, kernel_of({0, 1}, {.w = 128, .h = 128, .k = 64}), {.compute = Compute::native_k});
  EXPECT_DOUBLE_EQ(native_k.compute, 2 * result.compute) << "K is twice the native width";
}

TEST(GridEvaluateMlsys, an_epilogue_runs_at_the_last_k_step) {
  const Instance instance(squares(5, 128), {matmul(0, 1, 2, 1000), pointwise({2, 3}, 4, 700)},
                          machine_of(100000));
  const KernelReport result = report(instance, kernel_of({0, 1}, {.w = 128, .h = 128, .k = 32}));
  EXPECT_EQ(result.working_set, 2 * 128 * 32 + 2 * 128 * 128);
  const double step = 2 * 128 * 32 / 10.0;
  EXPECT_DOUBLE_EQ(result.latency, 3 * step + step + 2 * 128 * 128 / 10.0);
  EXPECT_DOUBLE_EQ(result.compute, 1700);
}

TEST(GridEvaluateMlsys, a_prologue_runs_once_a_tile_and_holds_its_strip) {
  Machine machine = machine_of(100000);
  machine.bandwidth = 1e9;
  const Instance instance(squares(4, 128), {pointwise({0}, 1, 700), matmul(1, 2, 3, 1000)}, machine);
  const KernelReport result = report(instance, kernel_of({0, 1}, {.w = 128, .h = 64, .k = 32}));
  EXPECT_DOUBLE_EQ(result.compute, 2 * 700 + 2 * 1000);
  EXPECT_EQ(result.working_set, 64 * 128 + 32 * 128 + 64 * 128);
  EXPECT_EQ(result.transferred, 2 * 64 * 128 + 2 * 128 * 128 + 128 * 128)
      << "the strip is loaded once a tile";
}

TEST(GridEvaluateMlsys, a_pointwise_op_between_matmuls_runs_on_each_slice) {
  Machine machine = machine_of(200000);
  machine.bandwidth = 1e9;
  const Instance instance(squares(6, 128),
                          {matmul(0, 1, 2, 400), pointwise({2}, 3, 700), matmul(3, 4, 5, 1000)}, machine);
  const KernelReport result = report(instance, kernel_of({0, 1, 2}, {.w = 128, .h = 128, .k = 32}));
  EXPECT_DOUBLE_EQ(result.compute, 4 * (400 * 0.25 + 700 * 0.25 + 1000 * 0.25));
  EXPECT_EQ(result.working_set, 128 * 128 + 2 * 128 * 32 + 128 * 128);
}

TEST(GridEvaluateMlsys, surplus_accumulators_take_a_tile_each) {
  const Instance instance(squares(7, 128), {matmul(0, 1, 2, 1), matmul(3, 4, 5, 1), pointwise({2, 5}, 6, 1)},
                          machine_of(100000));
  const std::int64_t tile = 128 * 128;
  EXPECT_EQ(report(instance, kernel_of({0, 1, 2}, {.w = 128, .h = 128, .k = 32})).working_set,
            4 * 128 * 32 + tile + tile);
  EXPECT_EQ(report(instance, kernel_of({0, 1, 2}, {.w = 128, .h = 128, .k = 128})).working_set,
            4 * tile + tile)
      << "none with one k-step";
}

TEST(GridEvaluateMlsys, a_retained_sink_has_no_tile_and_no_store) {
  const KernelReport result = report(one_matmul(), kernel_of({0}, {.w = 64, .h = 128, .k = 32}, {2, 2}));
  EXPECT_EQ(result.working_set, 128 * 128 + 128 * 32 + 32 * 64) << "an id that is repeated counts once";
  EXPECT_EQ(result.transferred, 2 * (4 * 128 * 32 + 4 * 32 * 64));
  EXPECT_EQ(result.stored, 0);
}

TEST(GridEvaluateMlsys, a_retained_interior_tensor_takes_its_full_size) {
  const Instance instance = chain(256, 200000);
  const Evaluation result = judged(instance, {kernel_of({0, 1}, native, {1})});
  ASSERT_TRUE(result.valid());
  EXPECT_EQ(result.kernels[0].working_set, 256 * 256 + 2 * 128 * 128);
  EXPECT_EQ(result.kernels[0].transferred, 2 * 256 * 256) << "it is not stored, the sink is";
}

TEST(GridEvaluateMlsys, residents_take_room_whether_read_or_not) {
  const Instance instance(squares(4, 128),
                          {pointwise({0}, 1, 10), pointwise({0}, 2, 10), pointwise({1}, 3, 10)},
                          machine_of(50000));
  const Evaluation read =
      judged(instance, {kernel_of({1}, native), kernel_of({0}, native, {1}), kernel_of({2}, native)});
  ASSERT_TRUE(read.valid()) << read.violation->message;
  EXPECT_EQ(read.kernels[2].working_set, 2 * 128 * 128);
  EXPECT_EQ(read.kernels[2].transferred, 128 * 128) << "loaded from nowhere";
  const Evaluation unread =
      judged(instance, {kernel_of({0}, native), kernel_of({1}, native), kernel_of({0}, native, {1}),
                        kernel_of({1}, native), kernel_of({2}, native)});
  ASSERT_TRUE(unread.valid()) << "it was stored before: " << unread.violation->message;
  EXPECT_EQ(unread.kernels[3].working_set, 3 * 128 * 128);
  EXPECT_EQ(unread.kernels[4].transferred, 2 * 128 * 128) << "gone after one kernel";
}

TEST(GridEvaluateMlsys, a_slice_stays_if_the_whole_tensor_was_held) {
  Machine machine = machine_of(100000);
  machine.bandwidth = 1;
  const Instance instance(squares(2, 128), {matmul(0, 0, 1, 1)}, machine);
  const KernelReport result = report(instance, kernel_of({0}, {.w = 64, .h = 128, .k = 128}));
  // As LHS it is held whole, as RHS by halves; both count.
  EXPECT_EQ(result.working_set, 128 * 128 + 128 * 64 + 64 * 128);
  EXPECT_EQ(result.transferred, (128 * 128 + 128 * 64) + 128 * 128);
}

TEST(GridEvaluateMlsys, a_slice_that_was_held_two_iterations_ago_is_loaded_again) {
  const KernelReport result = report(one_matmul(), kernel_of({0}, {.w = 64, .h = 64, .k = 64}));
  EXPECT_EQ(result.tiles * result.k_steps, 8);
  EXPECT_EQ(result.transferred, 8 * 2 * 64 * 64 + 128 * 128) << "k-steps lie between equal slices";
  EXPECT_EQ(result.stored, 128 * 128) << "at the last k-step of a tile";
}

TEST(GridEvaluateMlsys, an_op_may_have_two_sinks) {
  Op two = pointwise({0}, 1, 100);
  two.outputs.push_back(2);
  const Instance instance(squares(4, 128), {two, pointwise({1}, 3, 10)}, machine_of(100000));
  const KernelReport result = report(instance, kernel_of({0, 1}, native));
  EXPECT_EQ(result.working_set, 3 * 128 * 128);
  EXPECT_EQ(result.transferred, 3 * 128 * 128);
  EXPECT_EQ(result.compute, 110);
}

TEST(GridEvaluateMlsys, co_consumers_form_a_kernel_where_that_is_allowed) {
  const Instance instance(squares(3, 128), {pointwise({0}, 1, 10), pointwise({0}, 2, 10)},
                          machine_of(100000));
  const std::vector<Kernel> plan = {kernel_of({0, 1}, native)};
  const Evaluation strict = judged(instance, plan);
  ASSERT_FALSE(strict.valid());
  EXPECT_EQ(strict.violation->fault, Fault::not_connected);
  EXPECT_DOUBLE_EQ(latency(instance, plan, {.co_consumers = true}), 3 * 128 * 128 / 10.0);
}

TEST(GridEvaluateMlsys, k_means_nothing_without_a_matmul) {
  EXPECT_DOUBLE_EQ(latency(chain(128, 35000), {kernel_of({0, 1}, {.w = 128, .h = 128, .k = 999})}), 3276.8);
}

TEST(GridEvaluateMlsys, kernels_after_a_violation_are_not_judged) {
  const Evaluation result =
      judged(chain(128, 35000), {kernel_of({0}, native), kernel_of({9}, native), kernel_of({1}, native)});
  ASSERT_FALSE(result.valid());
  EXPECT_EQ(result.kernels.size(), 1U);
  EXPECT_DOUBLE_EQ(result.latency, 3276.8);
  EXPECT_EQ(result.violation->kernel, 1);
}

TEST(GridEvaluateMlsys, refuses_instances_whose_shapes_disagree) {
  std::vector<Tensor> tensors = squares(3, 128);
  tensors[1].height = 64;
  const Instance product(tensors, {matmul(0, 1, 2, 1)}, machine_of(100000));
  EXPECT_EQ(error_of([&] { evaluate(product, {}, {}); }),
            "op 0: tensor 1 is 128 x 64; expected 128 x 128 (width x height), as its other tensors have it");
  const Instance sum(tensors, {pointwise({0, 1}, 2, 1)}, machine_of(100000));
  EXPECT_THAT(error_of([&] { evaluate(sum, {}, {}); }), HasSubstr("op 0: tensor 1 is 128 x 64"));
}

TEST(GridEvaluateMlsys, refuses_plans_without_end) {
  const Instance instance(squares(2, 1 << 20), {pointwise({0}, 1, 1)}, machine_of(100000));
  EXPECT_EQ(
      error_of([&] { evaluate(instance, {}, {.kernels = {kernel_of({0}, {.w = 1, .h = 1})}}); }),
      "kernel 0: with its 1099511627776 tiles of 1 k-steps the plan has more than 268435456 iterations; "
      "expected less");
}

}  // namespace
}  // namespace fuselage::grid
