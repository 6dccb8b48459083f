// The latent world model on a small world: a walker on a ring that picks things up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "error_of.h"
#include "fuselage/learn/world_model.h"

namespace fuselage::learn {
namespace {

constexpr std::size_t places = 6;
constexpr std::size_t moves = 3;  // one on, one back, pick up what is here

// What a state shows: where the walker is, and what it has of every place, up to one. Facts of the workload
// (its number) come with it.
struct World {
  std::size_t place = 0;
  std::vector<float> has = std::vector<float>(places, 0);
  void move(std::size_t m) {
    if (m == 0) place = (place + 1) % places;
    if (m == 1) place = (place + places - 1) % places;
    if (m == 2) has[place] = 1;
  }
  void show(float workload, std::vector<float>& out) const {
    for (std::size_t p = 0; p < places; ++p) out.push_back(p == place ? 1 : 0);
    out.insert(out.end(), has.begin(), has.end());
    out.push_back(workload);
  }
};

StateSequences walks(std::uint64_t seed, std::size_t groups, std::size_t each, std::size_t length) {
  search::SplitMix random(seed);
  StateSequences set{.features = moves, .facts = 2 * places + 1};
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t i = 0; i < each; ++i) {
      World world;
      std::vector<float> tokens;
      std::vector<float> states;
      const auto workload = static_cast<float>(g % 7);
      world.show(workload, states);
      for (std::size_t k = 0; k < length; ++k) {
        const std::size_t m = random.below(moves);
        for (std::size_t f = 0; f < moves; ++f) tokens.push_back(f == m ? 1 : 0);
        world.move(m);
        world.show(workload, states);
      }
      set.add(tokens, states, static_cast<std::int64_t>(g));
    }
  return set;
}

WorldModelShape small(TransitionKind kind) {
  return {.features = moves,
          .facts = 2 * places + 1,
          .encoder = {32},
          .embedding = {16},
          .transition = kind,
          .latent = 16,
          .hidden = 32};
}

WorldModel trained(const StateSequences& set, TransitionKind kind, const WorldTrainingOptions& options,
                   double* spread = nullptr) {
  WorldModel model(small(kind), 1);
  model.standardise(set);
  WorldTraining training(model, set, options);
  WorldTraining::Report report;
  while (!training.finished()) report = training.step();
  if (spread) *spread = report.spread.mean_deviation;
  return model;
}

// What a translation on a hyperplane can't do is to act on what is where the walker stands.
TEST(LearnWorld, predicted_latents_find_their_states) {
  const StateSequences set = walks(1, 20, 20, 12);
  const StateSequences held_out = walks(2, 4, 60, 12);
  for (const auto kind : {TransitionKind::gru, TransitionKind::residual, TransitionKind::transh}) {
    WorldModel fresh(small(kind), 1);
    fresh.standardise(set);
    const WorldModel model =
        trained(set, kind, {.seed = 1, .steps = 800, .sequences = 48, .horizon = 8, .adam = {.rate = 5e-3}});
    EXPECT_GT(retrieval_at(model, held_out, 1), 0.9) << transition_name(kind);
    EXPECT_LT(retrieval_at(fresh, held_out, 4), 0.2) << transition_name(kind);
    EXPECT_GT(retrieval_at(model, held_out, 4), kind == TransitionKind::transh ? 0.35 : 0.85)
        << transition_name(kind);
    if (kind == TransitionKind::transh) continue;
    EXPECT_GT(retrieval_at(model, held_out, 8), 0.75) << transition_name(kind);
  }
}

// Matching alone is easiest where all states are one: the spread shows it.
TEST(LearnWorld, matching_alone_collapses) {
  const StateSequences set = walks(1, 10, 10, 12);
  WorldTrainingOptions options{.steps = 300, .sequences = 32, .horizon = 4, .adam = {.rate = 5e-3}};
  double spread = 0;
  trained(set, TransitionKind::gru, options, &spread);
  options.losses = {.matching = {.hold_targets = false}, .contrast = {.weight = 0}};
  double collapsed = 0;
  trained(set, TransitionKind::gru, options, &collapsed);
  EXPECT_LT(collapsed, 0.2 * spread);
}

TEST(LearnWorld, margin_separates_states) {
  const StateSequences set = walks(3, 10, 10, 12);
  const WorldModel model = trained(set, TransitionKind::gru,
                                   {.steps = 300,
                                    .sequences = 32,
                                    .horizon = 4,
                                    .adam = {.rate = 5e-3},
                                    .losses = {.contrast = {.weight = 0}, .margin = {.weight = 1}}});
  WorldModel fresh(small(TransitionKind::gru), 1);
  fresh.standardise(set);
  EXPECT_GT(retrieval_at(model, set, 4), retrieval_at(fresh, set, 4) + 0.4);
}

TEST(LearnWorld, the_same_seed_gives_the_same_bytes) {
  const StateSequences set = walks(1, 5, 5, 12);
  const WorldTrainingOptions options{.seed = 4, .steps = 10};
  const auto values = [](const WorldModel& model) {
    return std::vector<float>(model.parameters().values().begin(), model.parameters().values().end());
  };
  const auto one = values(trained(set, TransitionKind::transh, options));
  EXPECT_EQ(one, values(trained(set, TransitionKind::transh, options)));
  EXPECT_NE(one, values(trained(set, TransitionKind::transh, {.seed = 5, .steps = 10})));
}

// However many sequences are rolled at once, and whatever their lengths.
TEST(LearnWorld, terminal_latents_are_those_of_the_longest_horizon) {
  StateSequences set = walks(1, 30, 10, 7);
  const WorldModel model = trained(set, TransitionKind::residual, {.steps = 5});
  const StateSequences shorter = walks(2, 1, 3, 2);
  for (std::size_t i = 0; i < shorter.sequences(); ++i)
    set.add(
        std::span(shorter.tokens).subspan(shorter.first[i] * moves, 2 * moves),
        std::span(shorter.states).subspan(shorter.first_state(i) * (2 * places + 1), 3 * (2 * places + 1)),
        0);
  const Matrix<float> ends = model.terminal(set);
  EXPECT_EQ(ends.leftCols(300), model.predict(set, 7).latents);
  EXPECT_EQ(ends.rightCols(3), model.predict(set, 2).latents.rightCols(3));
}

// With sixteen sequences from a hundred workloads a sequence has nobody but itself to be told apart from.
TEST(LearnWorld, batches_of_few_workloads_have_negatives_that_differ_by_what_was_done) {
  const StateSequences set = walks(1, 100, 20, 12);
  const StateSequences held_out = walks(2, 4, 60, 12);
  WorldTrainingOptions options{
      .seed = 1, .steps = 300, .sequences = 16, .horizon = 1, .adam = {.rate = 5e-3}};
  const double anywhere = retrieval_at(trained(set, TransitionKind::gru, options), held_out, 2);
  options.workloads = 1;
  EXPECT_GT(retrieval_at(trained(set, TransitionKind::gru, options), held_out, 2), anywhere + 0.2);
}

// What is between settled states is never looked at.
TEST(LearnWorld, only_settled_states_are_started_from_and_predicted) {
  const StateSequences all = walks(1, 6, 10, 12);
  StateSequences some{.features = all.features, .facts = all.facts};
  const std::size_t width = 2 * places + 1;
  for (std::size_t i = 0; i < all.sequences(); ++i) {
    std::vector<char> settled(13, 0);
    for (std::size_t k = 0; k < 13; k += 3) settled[k] = 1;
    std::vector<float> states(
        all.states.begin() + static_cast<std::ptrdiff_t>(all.first_state(i) * width),
        all.states.begin() + static_cast<std::ptrdiff_t>((all.first_state(i) + 13) * width));
    for (std::size_t k = 0; k < 13; ++k)
      if (!settled[k]) states[k * width] = std::numeric_limits<float>::quiet_NaN();
    some.add(std::span(all.tokens).subspan(all.first[i] * moves, 12 * moves), states, all.groups[i], settled);
  }
  WorldModel model(small(TransitionKind::gru), 1);
  model.standardise(all);
  EXPECT_EQ(model.predict(some, 3).states.size(), some.sequences());
  EXPECT_EQ(model.predict(some, 4).states.size(), 0U);
  for (const int workloads : {0, 2}) {
    WorldTraining training(model, some, {.steps = 20, .workloads = workloads, .horizon = 5});
    while (!training.finished()) EXPECT_TRUE(std::isfinite(training.step().loss));
  }
}

TEST(LearnWorld, equal_states_are_one) {
  StateSequences set{.features = 1, .facts = 2};
  set.add(std::vector<float>{0, 0}, std::vector<float>{1, 2, 1, 3, 1, 2}, 0);
  const std::vector<std::size_t> states = {2, 1, 0, 2};
  const std::vector<std::int64_t> identities = identities_of(set, states);
  EXPECT_EQ(identities[0], identities[2]);
  EXPECT_EQ(identities[0], identities[3]);
  EXPECT_NE(identities[0], identities[1]);
}

TEST(LearnWorld, what_does_not_fit_is_refused) {
  StateSequences set{.features = 2, .facts = 1};
  EXPECT_THAT(error_of([&] {
                set.add(std::vector<float>{1, 2}, std::vector<float>{1}, 0);
              }),
              testing::HasSubstr("expected 2"));
  EXPECT_THAT(error_of([&] {
                set.add(std::vector<float>{1, 2}, std::vector<float>{1, 2}, 0, std::vector<char>{1});
              }),
              testing::HasSubstr("expected 2"));
  set.add({}, std::vector<float>{1}, 0);
  WorldModel model({.features = 2, .facts = 1}, 1);
  EXPECT_THAT(error_of([&] { WorldTraining(model, set, {}); }),
              testing::HasSubstr("no sequence has a settled state"));
}

}  // namespace
}  // namespace fuselage::learn
