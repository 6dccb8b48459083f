// Habits count what was done of what could be done, and tell a policy that chooses from one that always does
// the same.

#include "fuselage/oracle/habits.h"

#include <gtest/gtest.h>

#include <vector>

#include "fuselage/walk/answer.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using namespace walk;

std::vector<std::string> texts_of(const std::vector<Action>& actions) {
  std::vector<std::string> texts;
  for (const Action& action : actions) texts.push_back(answer_text(action));
  return texts;
}

Habits habits_on(const Workload& workload, const std::vector<Action>& actions) {
  return habits_of(EpisodeContext(workload), Rules::seed_honest, texts_of(actions));
}

// 0 feeds 1 and 5; 1 to 4 are a chain; 5 reads 0 and 4.
Workload skip(std::int64_t tensors_of_room) {
  std::vector<Node> nodes = {derived_node(Op::matmul, 64, 64, {})};
  for (NodeId id = 1; id < 5; ++id) nodes.push_back(derived_node(Op::relu, 64, 64, {id - 1}));
  nodes.push_back(derived_node(Op::add, 64, 64, {0, 4}));
  return {.name = "skip",
          .graph = Graph(std::move(nodes)),
          .hardware = {.fast_mem_capacity = tensors_of_room * 64 * 64 * 4,
                       .slow_mem_bandwidth = 10,
                       .kernel_launch_cost = 100,
                       .max_fusion_depth = 3}};
}

TEST(Habits, counts_fusion_where_it_could_be) {
  const Workload w = skip(100);
  std::vector<Action> actions(6);
  Habits habits = habits_on(w, actions);
  EXPECT_EQ(habits.fusion.done, 0);
  EXPECT_EQ(habits.fusion.could, 5);  // all but the first read the node before
  for (Action& action : actions) action.fuse_with_prev = true;
  habits = habits_on(w, actions);
  EXPECT_EQ(habits.fusion.done, 4);   // 0 1 2, 3 4 5
  EXPECT_EQ(habits.fusion.could, 4);  // 3 couldn't: the kernel was full
  EXPECT_EQ(*habits.fusion.value(), 1);
}

TEST(Habits, a_fuse_that_cannot_fit_is_no_choice) {
  Workload w = skip(100);
  w.hardware.fast_mem_capacity = 2 * 32 * 32 * 4;  // two slices at tile 32: no room for an add's inputs
  std::vector<Action> actions(6, {.fuse_with_prev = false, .tile = 32, .retain = {}});
  EXPECT_EQ(habits_on(w, actions).fusion.could, 4);
}

TEST(Habits, counts_retention_by_distance_and_pressure) {
  const Workload w = skip(8);
  std::vector<Action> actions(6);
  Habits habits = habits_on(w, actions);
  // Each node but the last two when its kernel closes, 4 too; 0 again as an input of 1, read 4 nodes later.
  EXPECT_EQ(habits.retention().could, 6);
  EXPECT_EQ(habits.retention().done, 0);
  EXPECT_EQ(habits.retention_at_distance(0).could, 5);
  EXPECT_EQ(habits.retention_at_distance(2).could, 1);
  EXPECT_EQ(habits.retention_at_pressure(0).could, 6);
  EXPECT_FALSE(habits.dependence());
  EXPECT_FALSE(habits.prefers_near());
  actions[0].retain = {0};
  habits = habits_on(w, actions);
  // Resident, it is no choice any more; and it takes an eighth of the room.
  EXPECT_EQ(habits.retention().could, 5);
  EXPECT_EQ(habits.retention().done, 1);
  const Workload small = skip(4);
  habits = habits_on(small, actions);
  EXPECT_EQ(habits.retention_at_pressure(0).could, 1);
  EXPECT_EQ(habits.retention_at_pressure(1).could, 4);
}

TEST(Habits, what_does_not_fit_is_no_choice) {
  // Slices of a kernel of one: two tensors of room; with a third retained none is left.
  EXPECT_EQ(habits_on(skip(2), std::vector<Action>(6)).retention().could, 1);  // the first reads nothing
}

Habits cells(const std::array<std::array<Rate, 4>, 4>& counts) {
  Habits habits;
  habits.retention_cells = counts;
  return habits;
}

TEST(Habits, dependence_is_one_for_a_rule_and_none_for_always) {
  std::array<std::array<Rate, 4>, 4> counts = {};
  for (std::size_t p = 0; p < 4; ++p) {
    counts[0][p] = {.done = 10, .could = 10};
    counts[3][p] = {.done = 0, .could = 10};
  }
  EXPECT_NEAR(*cells(counts).dependence(), 1, 1e-12);
  EXPECT_EQ(*cells(counts).prefers_near(), 1);
  EXPECT_EQ(*cells(counts).prefers_room(), 0.5);
  for (auto& row : counts)
    for (Rate& cell : row) cell.done = cell.could;
  EXPECT_FALSE(cells(counts).dependence());
  EXPECT_EQ(cells(counts).retention().value(), 1.0);
}

TEST(Habits, dependence_by_lot_is_about_none) {
  Dice dice(3);
  double sum = 0;
  for (int round = 0; round < 200; ++round) {
    std::array<std::array<Rate, 4>, 4> counts = {};
    for (int i = 0; i < 60; ++i) {
      Rate& cell = counts[static_cast<std::size_t>(dice.below(4))][static_cast<std::size_t>(dice.below(4))];
      ++cell.could;
      cell.done += dice.chance(40);
    }
    sum += cells(counts).dependence().value_or(0);
  }
  EXPECT_NEAR(sum / 200, 0, 0.02);  // without the adjustment it would be near 0.2
}

TEST(Habits, preferences_are_areas) {
  std::array<std::array<Rate, 4>, 4> counts = {};
  counts[0][0] = {.done = 3, .could = 4};
  counts[2][1] = {.done = 1, .could = 4};
  // Pairs (retained, not): 3 x 1 in the first bucket, 3 x 3 across, 1 x 1 the other way, 1 x 3 in the third.
  EXPECT_NEAR(*cells(counts).prefers_near(), (1.5 + 9 + 0 + 1.5) / 16, 1e-12);
  EXPECT_NEAR(*cells(counts).prefers_room(), (1.5 + 9 + 0 + 1.5) / 16, 1e-12);
}

TEST(Habits, add_up) {
  const Workload w = skip(8);
  std::vector<Action> actions(6);
  actions[0].retain = {0};
  const Habits one = habits_on(w, actions);
  Habits sum = one;
  sum += one;
  EXPECT_EQ(sum.fusion.could, 2 * one.fusion.could);
  EXPECT_EQ(sum.retention().done, 2 * one.retention().done);
}

TEST(Habits, buckets_have_their_lower_ends) {
  EXPECT_EQ(distance_bucket(1), 0U);
  EXPECT_EQ(distance_bucket(2), 1U);
  EXPECT_EQ(distance_bucket(4), 2U);
  EXPECT_EQ(distance_bucket(8), 3U);
  EXPECT_EQ(pressure_bucket(0.2499), 0U);
  EXPECT_EQ(pressure_bucket(0.25), 1U);
  EXPECT_EQ(pressure_bucket(0.75), 3U);
}

}  // namespace
}  // namespace fuselage::oracle
