// Whole schedules: packed, scored, ranked and trained on, in memory and on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/learn/schedule_model.h"
#include "fuselage/learn/schedule_training.h"
#include "order_task.h"

namespace fuselage::learn {
namespace {

using testing::HasSubstr;

const ScheduleModel::Fingerprints fingerprints = {{"tokens", "abc"}, {"workload", "def"}};

// The order task (order_task.h) with a constant feature, and one of the workload that scales costs.
Schedules order_schedules(std::uint64_t seed, std::size_t groups) {
  const OrderTask task = order_task(seed, {.groups = groups, .sequences = 12});
  Schedules set{.features = static_cast<Index>(order_kinds) + 1, .facts = 2};
  for (std::size_t i = 0; i < task.sequences.size(); ++i) {
    if (i == 0 || task.groups[i] != task.groups[i - 1])
      set.begin_group(std::vector<float>{static_cast<float>(i % 5), 3});
    std::vector<float> rows;
    std::vector<float> increments;
    std::size_t previous = order_kinds;
    for (std::size_t kind : task.sequences[i]) {
      for (std::size_t f = 0; f < order_kinds; ++f) rows.push_back(f == kind ? 10 : 4);
      rows.push_back(7);
      increments.push_back(static_cast<float>(order_cost(previous, kind)));
      previous = kind;
    }
    set.add(rows, increments, task.costs[i]);
  }
  return set;
}

ScheduleModelShape small_shape() {
  return {.scorer = {.features = static_cast<Index>(order_kinds) + 1,
                     .embedding = {16},
                     .latent = 16,
                     .hidden = 24,
                     .head = {16}},
          .facts = 2,
          .encoder = {8}};
}

ScheduleModel new_model(const Schedules& set, std::uint64_t seed) {
  ScheduleModel model(small_shape(), seed);
  model.standardise(set);
  return model;
}

class LearnSchedules : public testing::Test {
 protected:
  LearnSchedules() { std::filesystem::create_directories(directory_); }
  ~LearnSchedules() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

 private:
  std::string directory_ = testing::TempDir() + "learn_schedules_" + std::to_string(getpid());
};

TEST_F(LearnSchedules, training_learns_what_a_bag_of_tokens_cannot) {
  const Schedules set = order_schedules(1, 120);
  const Schedules held_out = order_schedules(2, 60);
  for (const double dense : {0.0, 1.0}) {
    ScheduleModel model = new_model(set, 3);
    EXPECT_LT(ranking_accuracy(held_out, model.scores(held_out)), 0.7);
    ScheduleTraining training(model, set,
                              {.seed = 4,
                               .epochs = 30,
                               .groups_a_batch = 16,
                               .adam = {.rate = 1e-2},
                               .increments = {.weight = dense, .beta = 0.1}});
    while (!training.finished()) training.step();
    EXPECT_GT(ranking_accuracy(held_out, model.scores(held_out)), 0.95) << dense;
  }
}

TEST_F(LearnSchedules, an_epoch_sees_every_schedule) {
  const Schedules set = order_schedules(5, 7);
  ScheduleModel model = new_model(set, 1);
  // Seven groups in batches of three, twelve schedules eight at a time.
  const ScheduleTraining training(model, set, {.epochs = 2, .groups_a_batch = 3});
  EXPECT_EQ(training.steps_an_epoch(), 3 * 2);
  EXPECT_EQ(training.total(), 12);
}

TEST_F(LearnSchedules, scores_do_not_depend_on_the_batch) {
  const Schedules set = order_schedules(6, 40);
  const ScheduleModel model = new_model(set, 2);
  const std::vector<float> all = model.scores(set);
  ASSERT_EQ(all.size(), set.schedules());
  ScheduleBatch batch;
  ScheduleModelPass pass;
  for (const std::vector<std::size_t>& chosen :
       {std::vector<std::size_t>{3}, {479, 0, 17}, {100, 101, 102, 103, 104, 300}}) {
    model.pack(set, chosen, batch);
    model.forward(batch, pass);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      EXPECT_EQ(pass.scorer.scores()(0, static_cast<Index>(i)), all[chosen[i]]) << chosen[i];
  }
}

TEST_F(LearnSchedules, a_training_goes_on_with_the_same_bytes) {
  const Schedules set = order_schedules(8, 20);
  const ScheduleTrainingOptions options{.seed = 9, .epochs = 4, .groups_a_batch = 8};
  ScheduleModel whole = new_model(set, 1);
  ScheduleTraining training(whole, set, options);
  while (!training.finished()) training.step();

  ScheduleModel first = new_model(set, 1);
  ScheduleTraining stopped(first, set, options);
  for (int i = 0; i < 9; ++i) stopped.step();
  stopped.save(path("checkpoint"));
  ScheduleModel second = new_model(set, 77);
  ScheduleTraining resumed(second, set, options);
  resumed.restore(path("checkpoint"));
  EXPECT_EQ(resumed.steps(), 9);
  while (!resumed.finished()) resumed.step();
  whole.save(path("whole"), fingerprints);
  second.save(path("second"), fingerprints);
  EXPECT_EQ(read_file(path("whole")), read_file(path("second")));

  ScheduleTrainingOptions longer = options;
  longer.epochs = 5;
  ScheduleTrainingOptions freer = options;
  freer.adam.clip = 2;
  for (const ScheduleTrainingOptions& other : {longer, freer}) {
    ScheduleTraining refused(second, set, other);
    EXPECT_THAT(error_of([&] { refused.restore(path("checkpoint")); }), HasSubstr("another training"));
  }
}

TEST_F(LearnSchedules, a_model_is_read_as_it_was_written_and_fits_its_schemas_only) {
  const Schedules set = order_schedules(8, 5);
  const ScheduleModel model = new_model(set, 1);
  model.save(path("model"), fingerprints);
  const ScheduleModel read = ScheduleModel::load(path("model"), fingerprints);
  EXPECT_EQ(read.scores(set), model.scores(set));
  EXPECT_THAT(error_of([&] {
                ScheduleModel::load(path("model"), {{"tokens", "abd"}});
              }),
              testing::AllOf(HasSubstr("tokens"), HasSubstr("abc"), HasSubstr("abd")));
  const std::string bytes = read_file(path("model"));
  write_file_atomically(path("half"), bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(error_of([&] { ScheduleModel::load(path("half"), fingerprints); }), HasSubstr("half"));
  std::string wide = bytes;
  wide.replace(wide.find("\"latent\":\"16\""), 13, "\"latent\":\"99\"");
  write_file_atomically(path("wide"), wide);
  EXPECT_THAT(error_of([&] { ScheduleModel::load(path("wide"), fingerprints); }), HasSubstr("wide"));
}

TEST_F(LearnSchedules, what_does_not_fit_is_refused) {
  Schedules set{.features = 3, .facts = 1};
  EXPECT_THAT(error_of([&] { set.add({}, {}, 1); }), HasSubstr("begin_group"));
  EXPECT_THAT(error_of([&] { set.begin_group(std::vector<float>{1, 2}); }), HasSubstr("expected 1"));
  set.begin_group(std::vector<float>{1});
  EXPECT_THAT(error_of([&] {
                set.add(std::vector<float>{1, 2}, std::vector<float>{1}, 1);
              }),
              HasSubstr("expected 3"));
  set.add(std::vector<float>{1, 2, 3}, std::vector<float>{1}, 1);
  ScheduleModel model({.scorer = {.features = 3}, .facts = 1}, 1);
  EXPECT_THAT(error_of([&] { ScheduleTraining(model, set, {}); }), HasSubstr("two schedules"));
  EXPECT_THAT(error_of([&] { new_model(order_schedules(1, 1), 1).scores(set); }), HasSubstr("expects 7"));
}

}  // namespace
}  // namespace fuselage::learn
