// Problems whose tensors don't fit their ops: which rules refuse them, and in which words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/shapes.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/oracle/store_grid.h"
#include "grid_problems.h"

namespace fuselage::grid {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr Rules honest{.set = RuleSet::fusionops_honest};
constexpr Rules loose{.set = RuleSet::fusionops};
constexpr Rules contest{.set = RuleSet::mlsys};

Tensor tensor(std::int64_t width, std::int64_t height) {
  return {.width = width, .height = height};
}
// 8 x 4 by 6 x 8 makes 6 x 4; a pointwise op follows.
Instance problem(const std::vector<Tensor>& tensors = {tensor(8, 4), tensor(6, 8), tensor(6, 4),
                                                       tensor(6, 4)}) {
  return {tensors, {matmul(0, 1, 2, 100), pointwise({2}, 3, 10)}, machine_of(1000)};
}

TEST(GridShapes, WhatFitsPassesInSilence) {
  for (const Rules& rules : {honest, loose, contest}) {
    EXPECT_EQ(error_of([&] { check_shapes(problem(), rules); }), "no error");
    EXPECT_EQ(shape_warning(problem(), rules), "");
    for (const FusionopsTask& task : fusionops_tasks()) {
      EXPECT_EQ(error_of([&] { check_shapes(task.instance, rules); }), "no error");
      EXPECT_EQ(shape_warning(task.instance, rules), "");
    }
  }
}

TEST(GridShapes, EveryRelationIsNamedWithBothShapes) {
  const auto faults = [](const Instance& instance) { return shape_faults(instance); };
  EXPECT_THAT(
      faults(problem({tensor(8, 4), tensor(6, 5), tensor(6, 4), tensor(6, 4)})),
      testing::ElementsAre(
          "op 0: MatMul of LHS tensor 0, 8 x 4, and RHS tensor 1, 6 x 5 (width x height): the LHS is 8 wide, "
          "the RHS 5 high; expected equal ones, such as an RHS of 6 x 8 or an LHS of 5 x 4"));
  for (const Tensor& wrong : {tensor(4, 6), tensor(8, 4), tensor(6, 8), tensor(7, 4)})
    EXPECT_THAT(
        faults(problem({tensor(8, 4), tensor(6, 8), wrong, wrong})),
        testing::ElementsAre(
            AllOf(StartsWith("op 0: MatMul of LHS tensor 0, 8 x 4, and RHS tensor 1, 6 x 8 (width x height): "
                             "output tensor 2 is "),
                  testing::EndsWith("; expected 6 x 4"))));
  for (const Tensor& wrong : {tensor(1, 1), tensor(6, 1), tensor(1, 4), tensor(4, 6)})
    EXPECT_THAT(faults(problem({tensor(8, 4), tensor(6, 8), tensor(6, 4), wrong})),
                testing::ElementsAre(
                    AllOf(StartsWith("op 1: Pointwise: input tensor 2 is 6 x 4 and output tensor 3 is "),
                          HasSubstr("; expected one shape"))));
  // One of several inputs, one of several outputs.
  const std::vector<Tensor> mixed = {tensor(4, 4), tensor(1, 4), tensor(4, 4), tensor(2, 2)};
  const Instance inputs(mixed, {pointwise({0, 1}, 2, 1)}, machine_of(100));
  EXPECT_THAT(faults(inputs), testing::ElementsAre(HasSubstr("input tensor 1 is 1 x 4")));
  Op two = pointwise({0}, 2, 1);
  two.outputs.push_back(3);
  EXPECT_THAT(faults(Instance(mixed, {two}, machine_of(100))),
              testing::ElementsAre(HasSubstr("output tensor 3 is 2 x 2 and output tensor 2 is 4 x 4")));
}

TEST(GridShapes, HonestRulesAndTheContestRefuse) {
  const Instance bad = problem({tensor(8, 4), tensor(6, 5), tensor(6, 4), tensor(5, 4)});
  for (const Rules& rules : {honest, contest}) {
    EXPECT_THAT(error_of([&] { check_shapes(bad, rules, "mm.json"); }),
                AllOf(StartsWith("mm.json: op 0: MatMul of LHS tensor 0, 8 x 4, and RHS tensor 1, 6 x 5"),
                      HasSubstr("; 1 more op does not fit either")));
    EXPECT_EQ(shape_warning(bad, rules), "");
    EXPECT_THAT(error_of([&] { oracle::solve_grid(bad, {.rules = rules}); }), HasSubstr("op 0: MatMul"));
  }
}

// The environment has no such check, so its plans are priced as ever.
TEST(GridShapes, TheEnvironmentAcceptsAndTheUserIsTold) {
  const Instance bad = problem({tensor(8, 4), tensor(6, 5), tensor(6, 4), tensor(6, 4)});
  EXPECT_EQ(error_of([&] { check_shapes(bad, loose); }), "no error");
  EXPECT_THAT(
      shape_warning(bad, loose, "mm.json"),
      AllOf(StartsWith("mm.json: warning: op 0: MatMul of LHS tensor 0, 8 x 4, and RHS tensor 1, 6 x 5"),
            HasSubstr("expected"), testing::Not(HasSubstr("\n"))));
  const oracle::GridSolution solution = oracle::solve_grid(bad, {.rules = loose});
  EXPECT_TRUE(solution.evaluation.valid());
  const auto record = [&](const Rules& rules) {
    return oracle::make_record(
        bad, {.name = "bad", .rules = rules, .plan = solution.plan, .evaluation = solution.evaluation},
        {.engine = "exact", .version = "0", .time = "2031-01-31T23:59:59Z"});
  };
  EXPECT_EQ(error_of([&] { oracle::check_record(record(loose), "here"); }), "no error");
  EXPECT_THAT(error_of([&] { oracle::check_record(record(honest), "here"); }),
              StartsWith("here: plan.problem: op 0: MatMul"));
}

}  // namespace
}  // namespace fuselage::grid
