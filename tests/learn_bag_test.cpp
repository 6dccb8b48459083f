// Bags and windows of tokens by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"
#include "fuselage/learn/bag.h"
#include "fuselage/learn/schedule_training.h"

namespace fuselage::learn {
namespace {

using testing::ElementsAre;

Schedules two_groups() {
  Schedules set{.features = 2, .facts = 1};
  set.begin_group(std::vector<float>{7});
  set.add(std::vector<float>{1, -1, 3, -5}, std::vector<float>{2, 1}, 10);
  set.begin_group(std::vector<float>{8});
  set.add(std::vector<float>{4, -4}, std::vector<float>{5}, 20);
  set.add({}, {}, 30);
  return set;
}

TEST(LearnBag, sums_means_and_maxima_of_the_columns) {
  const Schedules set = two_groups();
  const std::vector<std::size_t> columns = {1, 0};
  const Schedules bags = bags_of(set, columns);
  EXPECT_EQ(bags.features, 6);
  EXPECT_THAT(std::vector<float>(bags.tokens.begin(), bags.tokens.begin() + 6),
              ElementsAre(-6, 4, -3, 2, -1, 3));
  EXPECT_THAT(std::vector<float>(bags.tokens.begin() + 6, bags.tokens.begin() + 12),
              ElementsAre(-4, 4, -4, 4, -4, 4));
  EXPECT_THAT(std::vector<float>(bags.tokens.begin() + 12, bags.tokens.end()), testing::Each(0));
  EXPECT_THAT(bags.increments, ElementsAre(3, 5, 0));
  EXPECT_EQ(bags.costs, set.costs);
  EXPECT_EQ(bags.first_schedule, set.first_schedule);
  EXPECT_EQ(bags.workloads, set.workloads);
}

TEST(LearnBag, windows_begin_with_nothing) {
  const Schedules windows = windows_of(two_groups(), 2);
  EXPECT_THAT(windows.tokens, ElementsAre(0, 0, 1, -1, 1, -1, 3, -5, 0, 0, 4, -4));
  EXPECT_THAT(windows.increments, ElementsAre(2, 1, 5));
  EXPECT_EQ(windows.first_token, two_groups().first_token);
  EXPECT_EQ(windows_of(two_groups(), 1).tokens, two_groups().tokens);
}

TEST(LearnBag, rows_have_the_workload_behind) {
  const std::vector<std::size_t> columns = {0};
  EXPECT_THAT(rows_of(bags_of(two_groups(), columns)), ElementsAre(4, 2, 3, 7, 4, 4, 4, 8, 0, 0, 0, 8));
}

TEST(LearnBag, bad_input) {
  const std::vector<std::size_t> columns = {2};
  EXPECT_EQ(error_of([&] { bags_of(two_groups(), columns); }),
            "column 2 of tokens with 2 features; expected less");
  EXPECT_EQ(error_of([&] { windows_of(two_groups(), 0); }), "windows of 0 tokens; expected 1 or more");
  EXPECT_EQ(error_of([&] { rows_of(two_groups()); }), "schedule 0 has 2 tokens; expected the one of a bag");
}

// Schedules cost what their tokens do, but a token that comes right after another of its kind is free: what
// order decides a bag can't know, a window of two can.
Schedules echoes(std::uint64_t seed) {
  search::SplitMix random(seed);
  Schedules set{.features = 2, .facts = 1};
  for (int g = 0; g < 24; ++g) {
    set.begin_group(std::vector<float>{0});
    for (int i = 0; i < 12; ++i) {
      std::vector<float> tokens;
      std::vector<float> increments;
      double cost = 1;
      std::size_t before = 2;
      for (int t = 0; t < 8; ++t) {
        const std::size_t kind = t % 2 == 0 || random.below(2) == 0 ? random.below(2) : before;
        tokens.insert(tokens.end(), {kind == 0 ? 1.0F : 0.0F, kind == 1 ? 1.0F : 0.0F});
        increments.push_back(kind == before ? 0 : 1);
        cost += increments.back();
        before = kind;
      }
      set.add(tokens, increments, cost);
    }
  }
  return set;
}

double accuracy_without_memory(const Schedules& train, const Schedules& test) {
  ScheduleModel model({.scorer = {.features = train.features,
                                  .embedding = {16},
                                  .transition = TransitionKind::still,
                                  .latent = 4,
                                  .head = {16}},
                       .facts = train.facts,
                       .encoder = {}},
                      1);
  model.standardise(train);
  ScheduleTraining training(model, train, {.epochs = 30, .adam = {.rate = 1e-2}});
  while (!training.finished()) training.step();
  return ranking_accuracy(test, model.scores(test));
}

TEST(LearnBag, a_window_sees_what_a_bag_does_not) {
  const Schedules train = echoes(1);
  const Schedules test = echoes(2);
  const std::vector<std::size_t> columns = {0, 1};
  EXPECT_LT(accuracy_without_memory(bags_of(train, columns), bags_of(test, columns)), 0.8);
  EXPECT_LT(accuracy_without_memory(train, test), 0.8);
  EXPECT_GT(accuracy_without_memory(windows_of(train, 2), windows_of(test, 2)), 0.99);
}

}  // namespace
}  // namespace fuselage::learn
