#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fuselage/report/compare.h"
#include "report_plans.h"

namespace fuselage::report {
namespace {

using testing::ElementsAre;

Kernel kernel(std::vector<OpId> ops, double start, double end, std::string tile = "128",
              std::vector<TensorId> retain = {}) {
  return {.ops = std::move(ops),
          .tile = std::move(tile),
          .retain = std::move(retain),
          .latency = end - start,
          .start = start,
          .end = end,
          .bound = "compute"};
}

Schedule schedule(std::vector<Kernel> kernels) {
  const double latency = kernels.empty() ? 0 : kernels.back().end;
  return {.label = "s", .rules = "seed", .kernels = std::move(kernels), .latency = latency};
}

TEST(ReportCompare, SaysWhatDiffersAndWhatItIsWorth) {
  const Schedule reference = schedule({kernel({0}, 0, 10), kernel({1, 2}, 10, 30, "64"),
                                       kernel({3}, 30, 40, "128", {3}), kernel({4}, 40, 45)});
  const Schedule plan = schedule({kernel({0}, 0, 10), kernel({1}, 10, 25), kernel({2}, 25, 40),
                                  kernel({3}, 40, 52, "32"), kernel({4}, 52, 60)});
  const std::vector<Segment> segments = differences(reference, plan);
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_THAT(segments[0].ops, ElementsAre(1, 2));
  EXPECT_EQ(segments[0].kernels.first, 1U);
  EXPECT_EQ(segments[0].kernels.count, 2U);
  EXPECT_EQ(segments[0].reference_kernels.count, 1U);
  EXPECT_EQ(segments[0].worth, 10);
  EXPECT_THAT(segments[0].changes, ElementsAre("{1} and {2} instead of {1, 2}"));
  EXPECT_EQ(segments[1].worth, 2);
  EXPECT_THAT(segments[1].changes, ElementsAre("tile 32 instead of 128 for {3}", "does not retain 3"));
  EXPECT_EQ(segments[2].worth, 3);
  EXPECT_THAT(segments[2].changes, ElementsAre("the same kernels, with other tensors in fast memory"));
}

TEST(ReportCompare, FollowsOtherOrdersAndOpsThatRunAgain) {
  const Schedule reference = schedule({kernel({0}, 0, 1), kernel({1}, 1, 2), kernel({2}, 2, 3)});
  const Schedule turned = schedule({kernel({1}, 0, 1), kernel({0}, 1, 2), kernel({2}, 2, 3)});
  ASSERT_EQ(differences(reference, turned).size(), 1U);
  EXPECT_THAT(differences(reference, turned)[0].changes, ElementsAre("another order of {1} and {0}"));
  const Schedule again =
      schedule({kernel({0}, 0, 1), kernel({0, 1}, 1, 4), kernel({1}, 4, 5), kernel({2}, 5, 6)});
  const std::vector<Segment> segments = differences(reference, again);
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_THAT(segments[0].ops, ElementsAre(1));
  EXPECT_EQ(segments[0].kernels.count, 2U);
  EXPECT_EQ(segments[0].worth, 3);
}

TEST(ReportCompare, APlanThatEndsEarlyDiffersAtTheEnd) {
  const Schedule reference = schedule({kernel({0}, 0, 1), kernel({1}, 1, 2)});
  const Schedule cut = schedule({kernel({0}, 0, 1)});
  ASSERT_EQ(differences(reference, cut).size(), 1U);
  EXPECT_EQ(differences(reference, cut)[0].worth, -1);
  EXPECT_THAT(differences(reference, cut)[0].changes, ElementsAre("nothing instead of {1}"));
  EXPECT_EQ(differences(cut, reference)[0].worth, 1);
  EXPECT_TRUE(differences(schedule({}), schedule({})).empty());
}

TEST(ReportCompare, WorthsAddUpToTheDifferenceOfTheLatencies) {
  Dice dice(23);
  int compared = 0;
  for (int round = 0; round < 200; ++round) {
    const Workload workload = random_workload(dice, {.nodes = 2 + round % 12});
    const auto best = best_plan(workload, walk::Rules::seed_honest);
    if (!best) continue;
    const Schedule reference = schedule_of(*best, "best");
    EXPECT_TRUE(differences(reference, reference).empty());
    const Schedule plan = schedule_of(diced_plan(workload, walk::Rules::seed_honest, dice), "diced");
    const std::vector<Segment> segments = differences(reference, plan);
    double sum = 0;
    std::size_t next = 0;
    std::size_t next_reference = 0;
    for (const Segment& segment : segments) {
      sum += segment.worth;
      // What is between two segments is the same in both.
      ASSERT_GE(segment.kernels.first, next);
      EXPECT_EQ(segment.kernels.first - next, segment.reference_kernels.first - next_reference);
      for (; next < segment.kernels.first; ++next, ++next_reference)
        EXPECT_EQ(plan.kernels[next].ops, reference.kernels[next_reference].ops);
      next = segment.kernels.first + segment.kernels.count;
      next_reference = segment.reference_kernels.first + segment.reference_kernels.count;
      EXPECT_FALSE(segment.changes.empty());
    }
    EXPECT_NEAR(sum, plan.latency - reference.latency, 1e-9 * (1 + plan.latency));
    compared += !segments.empty();
  }
  EXPECT_GT(compared, 100);
}

TEST(ReportCompare, TheFastestIsTheFirstLegalOfTheFastest) {
  Schedule slow = schedule({kernel({0}, 0, 9)});
  Schedule fast = schedule({kernel({0}, 0, 5)});
  Schedule illegal = schedule({kernel({0}, 0, 1)});
  illegal.fault = Fault{.code = "OOM", .message = "too large"};
  EXPECT_EQ(fastest({slow, illegal, fast, fast}), 2U);
  EXPECT_EQ(fastest({illegal}), 1U);
}

}  // namespace
}  // namespace fuselage::report
