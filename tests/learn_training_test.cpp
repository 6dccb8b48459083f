#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fuselage/learn/latent_spread.h"
#include "fuselage/learn/losses.h"
#include "order_task.h"

namespace fuselage::learn {
namespace {

std::vector<float> copy(const Parameters<float>& parameters) {
  return {parameters.values().begin(), parameters.values().end()};
}

TEST(LearnTraining, TheRecurrentScorerLearnsOrder) {
  const OrderTask held_out = order_task(7, {.groups = 100});
  OrderTraining training(1);
  EXPECT_LT(training.accuracy(held_out), 0.7);
  for (std::int64_t i = 0; i < OrderTraining::total; ++i) training.step();
  EXPECT_GT(training.accuracy(held_out), 0.97);

  // The same bags without their order.
  OrderTask bags = held_out;
  for (auto& sequence : bags.sequences) std::sort(sequence.begin(), sequence.end());
  lay_out(bags);
  bags.costs = held_out.costs;
  EXPECT_EQ(training.accuracy(bags), 0.5);

  training.scorer.forward(training.parameters, held_out.batch(), training.pass);
  EXPECT_GT(latent_spread<float>(training.pass.after()).effective_rank, 4);
}

// Dense targets teach what each token costs, without any pair.
TEST(LearnTraining, IncrementsAreLearned) {
  OrderTraining training(2);
  const OrderTask held_out = order_task(7, {.groups = 100});
  const auto error = [&] {
    training.scorer.forward(training.parameters, held_out.batch(), training.pass);
    return (training.pass.increments() - held_out.increments).cwiseAbs().mean();
  };
  const float before = error();
  for (int i = 0; i < 250; ++i) {
    const OrderTask task = order_task(1000 + static_cast<std::uint64_t>(i));
    training.scorer.forward(training.parameters, task.batch(), training.pass);
    match_increments<float>(training.pass.increments(), task.increments, training.pass.d_increments(),
                            {.beta = 0.1});
    training.scorer.backward(training.parameters, task.batch(), training.pass);
    training.adam.step(training.parameters);
  }
  EXPECT_LT(error(), 0.15F * before);
  EXPECT_GT(training.accuracy(held_out), 0.95);
}

TEST(LearnTraining, TheSameSeedGivesTheSameBytes) {
  for (const auto kind : {TransitionKind::transh, TransitionKind::residual, TransitionKind::gru}) {
    OrderTraining one(3, kind);
    OrderTraining other(3, kind);
    OrderTraining another(4, kind);
    for (int i = 0; i < 10; ++i) {
      one.step();
      // Memory at other addresses, and of other sizes, may not show.
      other.accuracy(order_task(static_cast<std::uint64_t>(i), {.groups = 3}));
      const std::vector<float> between(static_cast<std::size_t>(1 + 7 * i));
      other.step();
      another.step();
    }
    EXPECT_EQ(copy(one.parameters), copy(other.parameters)) << transition_name(kind);
    EXPECT_NE(copy(one.parameters), copy(another.parameters)) << transition_name(kind);
  }
}

}  // namespace
}  // namespace fuselage::learn
