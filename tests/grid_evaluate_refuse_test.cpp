// Plans that break one rule of the contest each, by hand: the judge names the rule, the kernel and the
// numbers.
#include <gtest/gtest.h>

#include "fuselage/core/error.h"
#include "fuselage/grid/evaluate.h"
#include "grid_problems.h"

namespace fuselage::grid {
namespace {

constexpr Granularity native = {.w = 128, .h = 128, .k = 1};
constexpr Granularity split = {.w = 128, .h = 128, .k = 32};

// 0,1 -> 2 -> (3, 4) -> 5, then 5,6 -> 7; and 8 -> 9 on its own.
Instance example(std::int64_t capacity = 100000) {
  return {squares(10, 128),
          {matmul(0, 1, 2, 1000), pointwise({2}, 3, 10), pointwise({2}, 4, 10), pointwise({3, 4}, 5, 10),
           matmul(5, 6, 7, 1000), pointwise({8}, 9, 10)},
          machine_of(capacity)};
}

std::vector<Kernel> single_kernels() {
  return {kernel_of({0}, split),  kernel_of({1}, native), kernel_of({2}, native),
          kernel_of({3}, native), kernel_of({4}, split),  kernel_of({5}, native)};
}

// The legal plan up to `count` kernels, then these.
std::vector<Kernel> after(std::size_t count, std::vector<Kernel> kernels) {
  std::vector<Kernel> plan = single_kernels();
  plan.erase(plan.begin() + static_cast<std::ptrdiff_t>(count), plan.end());
  plan.insert(plan.end(), kernels.begin(), kernels.end());
  return plan;
}

Kernel with_traversal(Kernel kernel, std::vector<std::int64_t> tiles) {
  kernel.traversal = std::move(tiles);
  return kernel;
}

// What the judge says of it: "OOM: kernel 0: ...".
std::string reason(const Instance& instance, std::vector<Kernel> kernels, const Rules& rules = {}) {
  const Evaluation result = evaluate(instance, rules, {.kernels = std::move(kernels)});
  if (result.valid()) return "legal";
  const auto& violation = *result.violation;
  const std::string prefix = violation.kernel ? fmt::format("kernel {}: ", *violation.kernel) : "";
  EXPECT_TRUE(violation.message.starts_with(prefix)) << violation.message;
  return fmt::format("{}: {}", fault_name(violation.fault), violation.message);
}

std::string reason(std::vector<Kernel> kernels, const Rules& rules = {}) {
  return reason(example(), std::move(kernels), rules);
}

TEST(GridRefuse, the_plan_that_the_others_spoil_is_legal) {
  EXPECT_EQ(reason(single_kernels()), "legal");
}

TEST(GridRefuse, ops) {
  EXPECT_EQ(reason({kernel_of({-1}, native)}),
            "UNKNOWN_OP: kernel 0: op -1 does not exist; expected ids from 0 to 5");
  EXPECT_EQ(reason(after(1, {kernel_of({1, 6}, native)})),
            "UNKNOWN_OP: kernel 1: op 6 does not exist; expected ids from 0 to 5");
  EXPECT_EQ(reason({kernel_of({0, 0}, split)}), "DUP: kernel 0: op 0 is named twice");
  EXPECT_EQ(reason({kernel_of({0, 1, 0}, split)}), "DUP: kernel 0: op 0 is named twice");
  EXPECT_EQ(reason({kernel_of({1, 0}, split)}),
            "ORDER: kernel 0: op 1 reads tensor 2 and comes before op 0, which makes it");
  EXPECT_EQ(reason(after(1, {kernel_of({1, 3, 2}, native)})),
            "ORDER: kernel 1: op 3 reads tensor 4 and comes before op 2, which makes it");
}

TEST(GridRefuse, tensors_that_are_not_there) {
  const std::string missing = "which no kernel before stored and the last one did not retain";
  EXPECT_EQ(reason({kernel_of({1}, native)}), "NOT_AVAILABLE: kernel 0: op 1 reads tensor 2, " + missing);
  EXPECT_EQ(reason({kernel_of({0, 1}, split), kernel_of({2}, native)}),
            "NOT_AVAILABLE: kernel 1: op 2 reads tensor 2, " + missing)
      << "what is consumed inside is not stored";
  EXPECT_EQ(reason({kernel_of({0}, split, {2}), kernel_of({1}, native), kernel_of({2}, native)}),
            "NOT_AVAILABLE: kernel 2: op 2 reads tensor 2, " + missing)
      << "retention lasts one kernel";
  EXPECT_EQ(reason(after(3, {kernel_of({4}, split)})),
            "NOT_AVAILABLE: kernel 3: op 4 reads tensor 5, " + missing);
}

TEST(GridRefuse, ops_that_are_not_connected) {
  EXPECT_EQ(reason({kernel_of({}, native)}), "NOT_CONNECTED: kernel 0: it has no ops");
  EXPECT_EQ(reason(after(1, {kernel_of({1, 2}, native)})),
            "NOT_CONNECTED: kernel 1: ops 1 and 2 are not linked through tensors made in it");
  EXPECT_EQ(reason({kernel_of({0, 5}, split)}, {.co_consumers = true}),
            "NOT_CONNECTED: kernel 0: ops 0 and 5 are not linked through tensors that its ops make or read");
  EXPECT_EQ(reason({kernel_of({0, 1, 5, 2, 3}, split)}),
            "NOT_CONNECTED: kernel 0: ops 0 and 5 are not linked through tensors made in it");
}

TEST(GridRefuse, granularities_that_are_none) {
  EXPECT_EQ(reason({kernel_of({0}, {.w = 0, .h = 128, .k = 32})}),
            "GRID: kernel 0: granularity [0, 128, 32]; expected integers >= 1");
  EXPECT_EQ(reason({kernel_of({0}, {.w = 128, .h = -1, .k = 32})}),
            "GRID: kernel 0: granularity [128, -1, 32]; expected integers >= 1");
  EXPECT_EQ(reason({kernel_of({5}, {.w = 128, .h = 128, .k = 0})}),
            "GRID: kernel 0: granularity [128, 128, 0]; expected integers >= 1")
      << "though it has no matmul";
}

TEST(GridRefuse, sinks_of_different_shapes) {
  std::vector<Tensor> tensors = squares(5, 128);
  tensors[3].width = tensors[4].width = 64;
  const Instance instance(tensors, {pointwise({0}, 1, 1), pointwise({1}, 2, 1), matmul(1, 3, 4, 1)},
                          machine_of(100000));
  EXPECT_EQ(reason(instance, {kernel_of({0, 1, 2}, {.w = 64, .h = 64, .k = 64})}),
            "GRID: kernel 0: its sinks 2 and 4 are 128 x 128 and 64 x 128; expected one shape");
}

TEST(GridRefuse, granularities_that_are_too_large) {
  EXPECT_EQ(reason({kernel_of({5}, {.w = 129, .h = 128})}),
            "SUPERNATIVE: kernel 0: tile 129 x 128 exceeds native 128 x 128");
  EXPECT_EQ(reason({kernel_of({5}, {.w = 1, .h = 256})}),
            "SUPERNATIVE: kernel 0: tile 1 x 256 exceeds native 128 x 128");
  EXPECT_EQ(reason({kernel_of({5}, {.w = std::int64_t{1} << 62, .h = std::int64_t{1} << 62})}),
            "SUPERNATIVE: kernel 0: tile 4611686018427387904 x 4611686018427387904 exceeds native 128 x 128");
  EXPECT_EQ(reason({kernel_of({0}, {.w = 128, .h = 128, .k = 129})}),
            "SUPERNATIVE_K: kernel 0: k 129 exceeds native width 128");
}

TEST(GridRefuse, k_above_the_k_of_a_matmul) {
  // The first matmul has K 64, the second 128.
  std::vector<Tensor> tensors = squares(5, 128);
  tensors[0].width = tensors[1].height = 64;
  const Instance instance(tensors, {matmul(0, 1, 2, 1), matmul(2, 3, 4, 1)}, machine_of(200000));
  EXPECT_EQ(reason(instance, {kernel_of({0}, {.w = 64, .h = 64, .k = 65})}),
            "K_GT_OPK: kernel 0: k 65 exceeds K 64 of op 0");
  EXPECT_EQ(reason(instance, {kernel_of({0, 1}, {.w = 128, .h = 128, .k = 128})}),
            "K_GT_OPK: kernel 0: k 128 exceeds K 64 of op 0")
      << "of one upstream too";
}

TEST(GridRefuse, pointwise_operands_under_split_k) {
  EXPECT_EQ(reason(after(3, {kernel_of({3, 4}, {.w = 64, .h = 128, .k = 32})})),
            "PROLOGUE: kernel 3: op 3 makes the LHS of op 4 under split-k with w 64; expected its K, 128, or "
            "more");
  const Instance right(squares(4, 128), {pointwise({0}, 1, 1), matmul(2, 1, 3, 1)}, machine_of(100000));
  EXPECT_EQ(
      reason(right, {kernel_of({0, 1}, {.w = 128, .h = 127, .k = 64})}),
      "PROLOGUE: kernel 0: op 0 makes the RHS of op 1 under split-k with h 127; expected its K, 128, or "
      "more");
  EXPECT_EQ(reason(right, {kernel_of({0, 1}, {.w = 64, .h = 128, .k = 64})}), "legal") << "w is free";
  EXPECT_EQ(reason(right, {kernel_of({0, 1}, {.w = 64, .h = 64, .k = 128})}), "legal") << "no split";
  const Instance between(squares(6, 128), {matmul(0, 1, 2, 1), pointwise({2}, 3, 1), matmul(3, 4, 5, 1)},
                         machine_of(100000));
  EXPECT_EQ(reason(between, {kernel_of({0, 1, 2}, {.w = 32, .h = 128, .k = 32})}),
            "PROLOGUE: kernel 0: op 1 makes the LHS of op 2 under split-k with w 32; expected its K, 128, or "
            "more");
}

TEST(GridRefuse, retained_tensors) {
  EXPECT_EQ(reason({kernel_of({0}, split, {1})}),
            "RETAIN: kernel 0: retains tensor 1, which it does not make");
  EXPECT_EQ(reason(after(1, {kernel_of({1}, native, {3, 2})})),
            "RETAIN: kernel 1: retains tensor 2, which it does not make")
      << "an earlier kernel made it";
  EXPECT_EQ(reason({kernel_of({0}, split, {10})}),
            "RETAIN: kernel 0: retains tensor 10, which it does not make");
  EXPECT_EQ(reason({kernel_of({0}, split, {-1})}),
            "RETAIN: kernel 0: retains tensor -1, which it does not make");
}

TEST(GridRefuse, working_sets_above_the_capacity) {
  const std::int64_t slices = 2 * 128 * 32 + 128 * 128;
  EXPECT_EQ(reason(example(slices), {kernel_of({0}, split), kernel_of({1}, native)}),
            "OOM: kernel 1: working set 32768 exceeds fast_memory_capacity 24576")
      << "the first kernel fits exactly";
  EXPECT_EQ(reason(example(slices - 1), {kernel_of({0}, split)}),
            "OOM: kernel 0: working set 24576 exceeds fast_memory_capacity 24575");
  EXPECT_EQ(reason(example(45000), {kernel_of({0, 1}, {.w = 64, .h = 128, .k = 128}, {2})}),
            "OOM: kernel 0: working set 49152 exceeds fast_memory_capacity 45000")
      << "LHS, RHS and tile, and all of tensor 2";
  EXPECT_EQ(reason(example(40000), {kernel_of({0}, split, {2}), kernel_of({5}, native)}),
            "OOM: kernel 1: working set 49152 exceeds fast_memory_capacity 40000")
      << "with a resident that it does not read";
}

TEST(GridRefuse, traversals) {
  const Kernel kernel = kernel_of({5}, {.w = 64, .h = 64});
  EXPECT_EQ(reason({with_traversal(kernel, {0, 1, 2})}),
            "TRAVERSAL: kernel 0: the traversal has 3 tiles; expected 4");
  EXPECT_EQ(reason({with_traversal(kernel, {})}),
            "TRAVERSAL: kernel 0: the traversal has 0 tiles; expected 4");
  EXPECT_EQ(reason({with_traversal(kernel, {0, 1, 2, 2})}),
            "TRAVERSAL: kernel 0: the traversal names tile 2 twice");
  EXPECT_EQ(reason({with_traversal(kernel, {1, 2, 3, 4})}),
            "TRAVERSAL: kernel 0: the traversal names tile 4; expected each from 0 to 3 once");
  EXPECT_EQ(reason({with_traversal(kernel, {-1, 0, 1, 2})}),
            "TRAVERSAL: kernel 0: the traversal names tile -1; expected each from 0 to 3 once");
}

TEST(GridRefuse, plans_that_leave_something_out) {
  EXPECT_EQ(reason({}), "COVERAGE: no kernel runs op 0");
  EXPECT_EQ(reason(after(5, {})), "COVERAGE: no kernel runs op 5");
  EXPECT_EQ(reason(after(5, {kernel_of({5}, native, {9})})),
            "OUTPUT_NOT_STORED: no kernel stores tensor 9, a graph output");
  EXPECT_EQ(reason(after(5, {kernel_of({5}, native, {9}), kernel_of({5}, native)})), "legal")
      << "one of two kernels that make it stores it";
}

TEST(GridRefuse, the_first_violation_counts) {
  EXPECT_EQ(reason({kernel_of({0}, {.w = 999, .h = 128, .k = 32}, {77}), kernel_of({9}, native)}),
            "SUPERNATIVE: kernel 0: tile 999 x 128 exceeds native 128 x 128");
}

}  // namespace
}  // namespace fuselage::grid
