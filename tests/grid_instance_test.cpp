// The parts of a grid problem, and what is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "error_of.h"
#include "fuselage/grid/instance.h"
#include "grid_problems.h"

namespace fuselage::grid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal(std::vector<Tensor> tensors, std::vector<Op> ops, const Machine& machine) {
  return error_of([&] { Instance(std::move(tensors), std::move(ops), machine, "p.json"); });
}

std::string refusal(std::vector<Op> ops) {
  return refusal(squares(6, 128), std::move(ops), machine_of(1000));
}

TEST(GridInstance, knows_who_makes_and_reads_a_tensor) {
  const Instance instance(squares(6, 128),
                          {pointwise({4}, 5, 1), matmul(0, 1, 2, 1), pointwise({2, 2, 0}, 4, 1)},
                          machine_of(1000));
  EXPECT_EQ(instance.producer(5), 0);
  EXPECT_EQ(instance.producer(0), no_op);
  EXPECT_THAT(instance.consumers(0), ElementsAre(1, 2));
  EXPECT_THAT(instance.consumers(2), ElementsAre(2)) << "an op that names a tensor twice reads it once";
  EXPECT_THAT(instance.consumers(5), IsEmpty());
  EXPECT_TRUE(instance.is_output(5));
  EXPECT_FALSE(instance.is_output(4));
  EXPECT_FALSE(instance.is_output(3)) << "nobody makes or reads it";
  EXPECT_TRUE(instance.is_input(3));
  EXPECT_THAT(instance.order(), ElementsAre(1, 2, 0));
}

TEST(GridInstance, order_takes_the_least_ready_op) {
  // 3 makes what 0 reads; 1 and 2 are free. After 3 comes 0 at once, before 4.
  const Instance instance(squares(9, 8),
                          {pointwise({1}, 5, 1), pointwise({0}, 6, 1), pointwise({0}, 7, 1),
                           pointwise({0}, 1, 1), pointwise({0}, 8, 1)},
                          machine_of(1000));
  EXPECT_THAT(instance.order(), ElementsAre(1, 2, 3, 0, 4));
}

TEST(GridInstance, an_op_may_have_several_outputs) {
  Op op = pointwise({0}, 1, 1);
  op.outputs.push_back(2);
  const Instance instance(squares(4, 8), {op, pointwise({2, 1}, 3, 1)}, machine_of(1000));
  EXPECT_EQ(instance.producer(1), 0);
  EXPECT_EQ(instance.producer(2), 0);
  EXPECT_THAT(instance.order(), ElementsAre(0, 1)) << "both inputs come from one op";
}

TEST(GridInstance, refuses_ops_that_are_none) {
  EXPECT_EQ(refusal({}), "p.json: inputs: there is no op; expected at least one");
  EXPECT_EQ(refusal({pointwise({0}, 1, 1), pointwise({1, 6}, 2, 1)}),
            "p.json: inputs[1][1]: 6 names no tensor; expected ids from 0 to 5");
  EXPECT_EQ(refusal({pointwise({-1}, 1, 1)}),
            "p.json: inputs[0][0]: -1 names no tensor; expected ids from 0 to 5");
  EXPECT_EQ(refusal({pointwise({1}, 99, 1)}),
            "p.json: outputs[0][0]: 99 names no tensor; expected ids from 0 to 5");
  EXPECT_EQ(refusal({}, {pointwise({0}, 0, 1)}, machine_of(1)),
            "p.json: inputs[0][0]: 0 names no tensor; expected at least one tensor in widths");
  EXPECT_EQ(refusal({pointwise({}, 1, 1)}), "p.json: inputs[0]: the op has no inputs; expected at least one");
  EXPECT_EQ(refusal({{.inputs = {0}}}), "p.json: outputs[0]: the op has no outputs; expected at least one");
  Op op = matmul(0, 1, 2, 1);
  op.inputs.push_back(3);
  EXPECT_EQ(refusal({op}), "p.json: inputs[0]: the MatMul has 3 inputs; expected two, LHS and RHS");
  op.inputs = {0};
  EXPECT_EQ(refusal({op}), "p.json: inputs[0]: the MatMul has 1 inputs; expected two, LHS and RHS");
}

TEST(GridInstance, refuses_two_producers) {
  EXPECT_EQ(refusal({pointwise({0}, 2, 1), pointwise({1}, 2, 1)}),
            "p.json: outputs[1][0]: tensor 2 is an output of op 0 already; expected one producer, once");
  Op op = pointwise({0}, 2, 1);
  op.outputs = {2, 2};
  EXPECT_EQ(refusal({op}),
            "p.json: outputs[0][1]: tensor 2 is an output of op 0 twice; expected one producer, once");
}

TEST(GridInstance, lists_the_ops_of_a_cycle) {
  EXPECT_EQ(refusal({pointwise({1}, 1, 1)}),
            "p.json: inputs: the ops form a cycle: 0 -> 0; expected a directed acyclic graph");
  // 3 reads the cycle and 0 feeds it; neither is in it.
  const std::string message =
      refusal({pointwise({0}, 1, 1), pointwise({1, 3}, 2, 1), pointwise({2}, 3, 1), pointwise({3}, 4, 1)});
  EXPECT_THAT(message, HasSubstr("cycle: 1 -> 2 -> 1;"));

  constexpr TensorId length = 40;
  std::vector<Op> ring;
  for (TensorId id = 0; id < length; ++id) ring.push_back(pointwise({id}, (id + 1) % length, 1));
  const std::string long_message = refusal(squares(length, 8), ring, machine_of(1));
  EXPECT_THAT(long_message, HasSubstr("... (28 ops) -> "));
  EXPECT_LT(long_message.size(), 200U);
}

TEST(GridInstance, refuses_sizes_and_costs_out_of_range) {
  std::vector<Tensor> tensors = squares(2, 8);
  const std::vector<Op> ops = {pointwise({0}, 1, 1)};
  tensors[1].width = 0;
  EXPECT_EQ(refusal(tensors, ops, machine_of(1)),
            "p.json: widths[1]: 0 is out of range; expected an integer >= 1");
  tensors[1] = {.width = 8, .height = -3};
  EXPECT_EQ(refusal(tensors, ops, machine_of(1)),
            "p.json: heights[1]: -3 is out of range; expected an integer >= 1");
  tensors[1] = {.width = std::int64_t{1} << 40, .height = std::int64_t{1} << 40};
  EXPECT_THAT(refusal(tensors, ops, machine_of(1)),
              HasSubstr("heights[1]: with tensor 1 of 1099511627776 x 1099511627776 all tensors have more"));
  tensors[1] = {.width = Instance::max_total_elements - 64, .height = 1};
  EXPECT_EQ(refusal(tensors, ops, machine_of(1)), "no error") << "exactly at the limit";
  tensors[1].width += 1;
  EXPECT_THAT(refusal(tensors, ops, machine_of(1)), HasSubstr("elements; expected less"));
  for (const double cost : {-1.0, 1e101, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(refusal({pointwise({0}, 1, cost)}), HasSubstr("base_costs[0]: ")) << cost;
  EXPECT_EQ(refusal({pointwise({0}, 1, 0)}), "no error") << "an op may be free";
}

TEST(GridInstance, refuses_machines_that_are_none) {
  const auto with = [](auto change) {
    Machine machine = machine_of(1);
    change(machine);
    return refusal(squares(2, 8), {pointwise({0}, 1, 1)}, machine);
  };
  EXPECT_EQ(with([](Machine& m) { m.capacity = 0; }),
            "p.json: fast_memory_capacity: 0 is out of range; expected an integer >= 1");
  EXPECT_EQ(with([](Machine& m) { m.native_width = 0; }),
            "p.json: native_granularity[0]: 0 is out of range; expected an integer >= 1");
  EXPECT_EQ(with([](Machine& m) { m.native_height = -128; }),
            "p.json: native_granularity[1]: -128 is out of range; expected an integer >= 1");
  for (const double bandwidth : {0.0, -1.0, 1e-200, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(with([&](Machine& m) { m.bandwidth = bandwidth; }), HasSubstr("slow_memory_bandwidth: "));
}

}  // namespace
}  // namespace fuselage::grid
