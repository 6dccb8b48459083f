// Scores of a trained ranker, 100 trees of depth 6 over 100 features: FlatTrees against XGBoost's own
// in-place prediction with one thread, in turns and the best of many, since other load on the machine is no
// business of either. XGBoost's description of the rows is made beforehand.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "booster.h"
#include "fuselage/learn/flat_trees.h"
#include "fuselage/learn/ranker.h"
#include "fuselage/search/split_mix.h"

namespace {

using namespace fuselage;
using namespace fuselage::learn;

constexpr Index features = 100;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One number in twenty is missing.
Matrix<float> random_rows(Index rows, std::uint64_t seed) {
  search::SplitMix random(seed);
  Matrix<float> m(features, rows);
  for (Index i = 0; i < m.size(); ++i)
    m.data()[i] = random.below(20) == 0 ? std::numeric_limits<float>::quiet_NaN()
                                        : static_cast<float>(2 * random.unit() - 1);
  return m;
}

const std::string& model() {
  static const std::string text = [] {
    const Index rows = 4096;
    Matrix<float> data = random_rows(rows, 1);
    std::vector<float> labels;
    search::SplitMix random(2);
    for (Index i = 0; i < rows; ++i) {
      double sum = random.unit();
      for (Index f = 0; f < features; f += 3)
        if (!std::isnan(data(f, i)))
          sum += std::sin(static_cast<double>(1 + f % 5) * static_cast<double>(data(f, i)));
      labels.push_back(static_cast<float>(sum));
    }
    const std::vector<std::uint32_t> groups(64, 64);
    return train_ranker({.rows = data, .labels = labels, .groups = groups});
  }();
  return text;
}

template <class Call>
double microseconds(int calls, Call call) {
  const double begin = cpu_seconds();
  for (int i = 0; i < calls; ++i) call(i);
  return (cpu_seconds() - begin) * 1e6 / calls;
}

void rank_trees(benchmark::State& state) {
  const FlatTrees trees(model(), "model");
  Booster booster(model());
  const Index batch = state.range(0);
  const int batches = static_cast<int>(std::max<Index>(1, 1024 / batch));
  const Matrix<float> rows = random_rows(batch * batches, 3);
  std::vector<std::string> described;
  for (int i = 0; i < batches; ++i) described.push_back(Booster::describe(rows.middleCols(i * batch, batch)));
  std::vector<float> scores(static_cast<std::size_t>(batch));
  FlatTreesScratch scratch;
  const auto flat = [&](int i) {
    const float* first = rows.data() + i % batches * batch * features;
    if (batch == 1)
      scores[0] = trees.score(std::span(first, features), scratch);
    else
      trees.score(rows.middleCols(i % batches * batch, batch), scores, scratch);
    benchmark::DoNotOptimize(scores.data());
    benchmark::ClobberMemory();
  };
  const auto c_api = [&](int i) {
    benchmark::DoNotOptimize(booster.score(described[static_cast<std::size_t>(i % batches)]));
  };
  const int calls = static_cast<int>(std::max<Index>(2, 4096 / batch));
  double best_flat = std::numeric_limits<double>::max();
  double best_c_api = best_flat;
  for (auto _ : state) {
    best_flat = std::min(best_flat, microseconds(calls, flat));
    best_c_api = std::min(best_c_api, microseconds(calls, c_api));
  }
  state.counters["us_flat"] = best_flat;
  state.counters["us_c_api"] = best_c_api;
  state.counters["ratio"] = best_c_api / best_flat;
}
BENCHMARK(rank_trees)->Arg(1)->Arg(64)->Arg(1024)->Iterations(40)->Unit(benchmark::kMillisecond);

}  // namespace
