#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fuselage/learn/packing.h"
#include "fuselage/learn/rollout.h"
#include "fuselage/learn/transition.h"
#include "gradient_check.h"

namespace fuselage::learn {
namespace {

TEST(LearnPacking, LongerSequencesComeFirstAndStepsLieTogether) {
  const std::vector<int> lengths = {1, 3, 0, 3, 2};
  const Packing packing(lengths);
  EXPECT_EQ(packing.sequences(), 5);
  EXPECT_EQ(packing.tokens(), 9);
  EXPECT_EQ(packing.steps(), 3);
  EXPECT_EQ(packing.width(0), 4);
  EXPECT_EQ(packing.width(1), 3);
  EXPECT_EQ(packing.width(2), 2);
  EXPECT_EQ(packing.sequence(0), 1);  // the earlier of two alike
  EXPECT_EQ(packing.sequence(1), 3);
  EXPECT_EQ(packing.column(3, 2), 8);
  EXPECT_EQ(packing.column(0, 0), 3);
}

TEST(LearnPacking, EveryTokenHasItsColumn) {
  search::SplitMix random(1);
  Packing packing;
  for (int round = 0; round < 50; ++round) {
    std::vector<int> lengths(random.below(20));
    for (int& length : lengths) length = static_cast<int>(random.below(9));
    packing.assign(lengths);
    std::set<Index> columns;
    for (Index i = 0; i < packing.sequences(); ++i)
      for (Index step = 0; step < packing.length(i); ++step) {
        const Index column = packing.column(i, step);
        EXPECT_GE(column, packing.first(step));
        EXPECT_LT(column, packing.first(step) + packing.width(step));
        EXPECT_TRUE(columns.insert(column).second);
      }
    EXPECT_EQ(static_cast<Index>(columns.size()), packing.tokens());
  }
}

TEST(LearnPacking, NothingAtAll) {
  EXPECT_EQ(Packing().tokens(), 0);
  EXPECT_EQ(Packing().steps(), 0);
  const std::vector<int> none = {0, 0};
  EXPECT_EQ(Packing(none).tokens(), 0);
  EXPECT_EQ(Packing(none).sequences(), 2);
}

// A transition with weights of which none is zero.
struct Model {
  Parameters<double> parameters;
  std::unique_ptr<Transition<double>> transition;

  explicit Model(TransitionKind kind, Index latent = 5, Index action = 4) {
    search::SplitMix random(7);
    transition = make_transition(parameters, "t",
                                 {.kind = kind, .latent = latent, .action = action, .hidden = 6}, random);
    for (double& value : parameters.values()) value += 0.3 * (random.unit() - 0.5);
  }

  // z' of every column.
  Matrix<double> step(const Matrix<double>& z, const Matrix<double>& actions) const {
    Matrix<double> projected(transition->projected_rows(), z.cols());
    Matrix<double> saved(transition->saved_rows(), z.cols());
    Matrix<double> next(z.rows(), z.cols());
    transition->project(parameters, actions, projected);
    transition->step(parameters, z, projected, next, saved);
    return next;
  }

  // The tensor of that name.
  Matrix<double> tensor(const std::string& name) const {
    for (const NamedSlice& tensor : parameters.tensors())
      if (tensor.name == name) return parameters.value(tensor.slice);
    ADD_FAILURE() << "no tensor " << name;
    return {};
  }
};

class LearnTransitions : public testing::TestWithParam<TransitionKind> {
 protected:
  // relu has kinks.
  DifferenceStep difference() const { return {.step = GetParam() == TransitionKind::residual ? 1e-6 : 3e-4}; }
};

INSTANTIATE_TEST_SUITE_P(All, LearnTransitions,
                         testing::Values(TransitionKind::transh, TransitionKind::residual,
                                         TransitionKind::gru),
                         [](const auto& made) { return std::string(transition_name(made.param)); });

TEST_P(LearnTransitions, StepGradients) {
  Model model(GetParam());
  const Transition<double>& t = *model.transition;
  Matrix<double> z = random_matrix(5, 3, 1);
  Matrix<double> actions = random_matrix(4, 3, 2);
  const Probe probe(5, 3, 3);
  const auto f = [&] { return probe.value(model.step(z, actions)); };

  Matrix<double> projected(t.projected_rows(), 3);
  Matrix<double> saved(t.saved_rows(), 3);
  Matrix<double> next(5, 3);
  t.project(model.parameters, actions, projected);
  t.step(model.parameters, z, projected, next, saved);
  Matrix<double> d_z(5, 3);
  Matrix<double> d_projected(t.projected_rows(), 3);
  Matrix<double> d_actions(4, 3);
  const Matrix<double> d_next = probe.gradient(next);
  t.step_backward(model.parameters, {.z = z,
                                     .projected = projected,
                                     .saved = saved,
                                     .d_next = d_next,
                                     .d_z = d_z,
                                     .d_projected = d_projected});
  t.project_backward(model.parameters, actions, d_projected, d_actions);
  expect_gradients(model.parameters, f, difference());
  expect_gradient("z", numbers(z), numbers(d_z), f, difference());
  expect_gradient("actions", numbers(actions), numbers(d_actions), f, difference());
}

// Sequences of several lengths, and a loss that looks at latents before and after every token.
TEST_P(LearnTransitions, RolloutGradients) {
  Model model(GetParam());
  const std::vector<int> lengths = {2, 5, 0, 1, 4, 5};
  const Packing packing(lengths);
  const Index tokens = packing.tokens();
  Matrix<double> start = random_matrix(5, packing.sequences(), 1);
  Matrix<double> actions = random_matrix(4, tokens, 2);
  Matrix<double> before(5, tokens);
  Matrix<double> after(5, tokens);
  const Probe probe_before(5, tokens, 3);
  const Probe probe_after(5, tokens, 4);
  RolloutPass<double> pass;
  const auto rolled = [&] {
    const Rollout<double> rollout{
        .packing = &packing, .start = start, .actions = actions, .before = before, .after = after};
    roll(*model.transition, model.parameters, rollout, pass);
    return rollout;
  };
  const auto f = [&] {
    rolled();
    return probe_before.value(before) + probe_after.value(after);
  };

  const Rollout<double> rollout = rolled();
  Matrix<double> d_before = probe_before.gradient(before);
  Matrix<double> d_after = probe_after.gradient(after);
  Matrix<double> d_actions(4, tokens);
  Matrix<double> d_start(5, packing.sequences());
  roll_backward(*model.transition, model.parameters, rollout,
                {.before = d_before, .after = d_after, .actions = d_actions, .start = d_start}, pass);
  EXPECT_EQ(d_start.col(2).norm(), 0);
  expect_gradients(model.parameters, f, difference());
  expect_gradient("start", numbers(start), numbers(d_start), f, difference());
  expect_gradient("actions", numbers(actions), numbers(d_actions), f, difference());
}

TEST_P(LearnTransitions, ARolloutIsItsSteps) {
  const Model model(GetParam());
  const std::vector<int> lengths = {3, 0, 1, 3, 2};
  const Packing packing(lengths);
  const Matrix<double> start = random_matrix(5, 5, 1);
  const Matrix<double> actions = random_matrix(4, packing.tokens(), 2);
  Matrix<double> before(5, packing.tokens());
  Matrix<double> after(5, packing.tokens());
  Matrix<double> last(5, 5);
  RolloutPass<double> pass;
  const Rollout<double> rollout{
      .packing = &packing, .start = start, .actions = actions, .before = before, .after = after};
  roll(*model.transition, model.parameters, rollout, pass);
  take_last<double>(rollout, last);
  for (Index i = 0; i < packing.sequences(); ++i) {
    Matrix<double> z = start.col(i);
    for (Index step = 0; step < packing.length(i); ++step) {
      const Index column = packing.column(i, step);
      EXPECT_LT((before.col(column) - z).norm(), 1e-13);
      z = model.step(z, actions.col(column));
      EXPECT_LT((after.col(column) - z).norm(), 1e-13);
    }
    EXPECT_LT((last.col(i) - z).norm(), 1e-13);
  }
}

TEST_P(LearnTransitions, OrderMatters) {
  const Model model(GetParam());
  const Matrix<double> z = random_matrix(5, 1, 1);
  const Matrix<double> a = random_matrix(4, 1, 2);
  const Matrix<double> b = random_matrix(4, 1, 3);
  EXPECT_GT((model.step(model.step(z, a), b) - model.step(model.step(z, b), a)).norm(), 1e-2);
}

// The formulas of transition.h, number by number.
TEST(LearnTransition, GruFormula) {
  const Model model(TransitionKind::gru, 2, 3);
  const Matrix<double> z = random_matrix(2, 1, 1);
  const Matrix<double> a = random_matrix(3, 1, 2);
  const Matrix<double> p = model.tensor("t.input.weight") * a + model.tensor("t.input.bias");
  const Matrix<double> h = model.tensor("t.recurrent.weight") * z;
  const Matrix<double> c = model.tensor("t.recurrent.bias");
  const auto gate = [](double x) { return 1 / (1 + std::exp(-x)); };
  const Matrix<double> next = model.step(z, a);
  for (Index i = 0; i < 2; ++i) {
    const double r = gate(p(i) + h(i));
    const double u = gate(p(2 + i) + h(2 + i));
    const double n = std::tanh(p(4 + i) + r * (h(4 + i) + c(i)));
    EXPECT_NEAR(next(i), (1 - u) * n + u * z(i), 1e-14);
  }
}

TEST(LearnTransition, TransHProjectsOntoTheHyperplaneAndTranslates) {
  const Model model(TransitionKind::transh);
  const Matrix<double> z = random_matrix(5, 1, 1);
  const Matrix<double> a = random_matrix(4, 1, 2);
  const Matrix<double> p = model.tensor("t.input.weight") * a + model.tensor("t.input.bias");
  const Matrix<double> translated = model.step(z, a) - p.bottomRows(5);
  EXPECT_NEAR((p.topRows(5).transpose() * translated)(0), 0, 1e-12);
  // What was already on the hyperplane stays.
  EXPECT_LT((model.step(translated, a) - p.bottomRows(5) - translated).norm(), 1e-12);
}

TEST(LearnTransition, AZeroHyperplaneIsNoDivisionByZero) {
  Model model(TransitionKind::transh);
  for (double& value : model.parameters.values()) value = 0;
  const Matrix<double> z = random_matrix(5, 1, 1);
  EXPECT_EQ(model.step(z, random_matrix(4, 1, 2)), z);
}

TEST(LearnTransition, FloatIsDoubleRounded) {
  for (const auto kind : {TransitionKind::transh, TransitionKind::residual, TransitionKind::gru}) {
    const TransitionShape shape{.kind = kind, .latent = 64, .action = 20, .hidden = 70};
    search::SplitMix random(7);
    search::SplitMix again(7);
    Parameters<float> floats;
    Parameters<double> doubles;
    const auto f = make_transition(floats, "t", shape, random);
    const auto d = make_transition(doubles, "t", shape, again);
    const Matrix<double> z = random_matrix(64, 9, 1);
    const Matrix<double> actions = random_matrix(20, 9, 2);
    Matrix<double> projected(d->projected_rows(), 9);
    Matrix<double> saved(d->saved_rows(), 9);
    Matrix<double> next(64, 9);
    d->project(doubles, actions, projected);
    d->step(doubles, z, projected, next, saved);
    Matrix<float> projected_f(d->projected_rows(), 9);
    Matrix<float> saved_f(d->saved_rows(), 9);
    Matrix<float> next_f(64, 9);
    f->project(floats, actions.cast<float>(), projected_f);
    f->step(floats, z.cast<float>(), projected_f, next_f, saved_f);
    EXPECT_LT((next - next_f.cast<double>()).cwiseAbs().maxCoeff(), 3e-6) << transition_name(kind);
  }
}

}  // namespace
}  // namespace fuselage::learn
