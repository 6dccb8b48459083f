// What a model costs: one token for each of a batch of candidates, on one core. `advance_*` is what a guide
// pays, the embedding of the action, the transition and the head; `transition_*` the latent alone, the
// projection of the action included. Training is a forward and a backward pass over a batch of the published
// size, 24 graphs of 8 schedules.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "fuselage/learn/adam.h"
#include "fuselage/learn/losses.h"
#include "fuselage/learn/scorer.h"

namespace {

using namespace fuselage;
using namespace fuselage::learn;

Matrix<float> random_matrix(Index rows, Index columns) {
  search::SplitMix random(1);
  Matrix<float> m(rows, columns);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(2 * random.unit() - 1);
  return m;
}

// CPU time, since other load on the machine is no business of the model.
class TokenClock {
 public:
  explicit TokenClock(benchmark::State& state) : state_(state) {}
  void report(Index tokens_per_iteration) const {
    const double seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
    const double tokens =
        static_cast<double>(tokens_per_iteration) * static_cast<double>(state_.iterations());
    state_.counters["us_per_token"] = seconds * 1e6 / tokens;
  }

 private:
  benchmark::State& state_;
  std::clock_t start_ = std::clock();
};

void advance(benchmark::State& state, TransitionKind kind) {
  Parameters<float> parameters;
  search::SplitMix random(1);
  const Scorer<float> scorer(parameters, "scorer", {.transition = kind}, random);
  const Index n = state.range(0);
  Matrix<float> z = random_matrix(64, n);
  const Matrix<float> tokens = random_matrix(36, n);
  Matrix<float> next(64, n);
  Matrix<float> increments(1, n);
  ScorerScratch<float> scratch;
  const TokenClock clock(state);
  for (auto _ : state) {
    scorer.advance(parameters, {.z = z, .tokens = tokens, .next = next, .increments = increments}, scratch);
    benchmark::DoNotOptimize(increments.data());
  }
  clock.report(n);
}
BENCHMARK_CAPTURE(advance, gru, TransitionKind::gru)->Arg(1)->Arg(16)->Arg(64)->Arg(1024);
BENCHMARK_CAPTURE(advance, residual, TransitionKind::residual)->Arg(1024);
BENCHMARK_CAPTURE(advance, transh, TransitionKind::transh)->Arg(1024);

void transition(benchmark::State& state, TransitionKind kind) {
  Parameters<float> parameters;
  search::SplitMix random(1);
  const auto model = make_transition(parameters, "t", {.kind = kind}, random);
  const Index n = state.range(0);
  const Matrix<float> z = random_matrix(64, n);
  const Matrix<float> actions = random_matrix(64, n);
  Matrix<float> projected(model->projected_rows(), n);
  Matrix<float> saved(model->saved_rows(), n);
  Matrix<float> next(64, n);
  const TokenClock clock(state);
  for (auto _ : state) {
    model->project(parameters, actions, projected);
    model->step(parameters, z, projected, next, saved);
    benchmark::DoNotOptimize(next.data());
  }
  clock.report(n);
}
BENCHMARK_CAPTURE(transition, gru, TransitionKind::gru)->Arg(64)->Arg(256);
BENCHMARK_CAPTURE(transition, residual, TransitionKind::residual)->Arg(64)->Arg(256);
BENCHMARK_CAPTURE(transition, transh, TransitionKind::transh)->Arg(64)->Arg(256);

// Schedules of 20 to 30 tokens.
void train_ranking(benchmark::State& state) {
  Parameters<float> parameters;
  search::SplitMix random(1);
  const Scorer<float> scorer(parameters, "scorer", {}, random);
  Adam<float> adam(parameters, {});
  std::vector<int> lengths(24 * 8);
  std::vector<double> costs(lengths.size());
  std::vector<std::int64_t> groups(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = 20 + static_cast<int>(random.below(11));
    costs[i] = random.unit();
    groups[i] = static_cast<std::int64_t>(i / 8);
  }
  const Packing packing(lengths);
  const Matrix<float> start = Matrix<float>::Zero(64, packing.sequences());
  const Matrix<float> tokens = random_matrix(36, packing.tokens());
  const ScorerBatch<float> batch{.packing = &packing, .start = start, .tokens = tokens};
  ScorerPass<float> pass;
  const TokenClock clock(state);
  for (auto _ : state) {
    scorer.forward(parameters, batch, pass);
    rank_pairs<float>(
        {.scores = pass.scores(), .costs = costs, .groups = groups, .d_scores = pass.d_scores()});
    scorer.backward(parameters, batch, pass);
    adam.step(parameters);
  }
  clock.report(packing.tokens());
}
BENCHMARK(train_ranking)->Unit(benchmark::kMillisecond);

}  // namespace
