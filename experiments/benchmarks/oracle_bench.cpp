// Labelled states a second, written as JSON Lines: graphs of 24 ops, optimal episodes that err at every fifth
// step, the format raw. On one thread and on two, in turns, and against one search for each answer of each
// state.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "fuselage/oracle/data_set.h"
#include "fuselage/oracle/data_source.h"
#include "fuselage/oracle/graph_values.h"

namespace {

using namespace fuselage;
using Clock = std::chrono::steady_clock;

constexpr std::size_t graphs = 400;
constexpr oracle::DrawOptions sizes = {.kind = oracle::GraphKind::mixed, .min_ops = 24, .max_ops = 24};

// States a second.
double rate(int threads) {
  const std::string out =
      (std::filesystem::temp_directory_path() / ("fuselage-bench-" + std::to_string(::getpid()))).string();
  const oracle::WalkSource source({.drawn = {.count = graphs, .draw = sizes},
                                   .labels = {.mix = oracle::parse_policy_mix("eps0.2", "mix"), .seed = 3}});
  oracle::DataOptions options{.out = out, .formats = {oracle::RowFormat::raw}};
  options.manifest.graphs = graphs;
  options.manifest.shard_size = 20;
  options.threads = threads;
  const auto start = Clock::now();
  const oracle::DataOutcome outcome = oracle::make_data_set(source, options);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::filesystem::remove_all(out);
  return static_cast<double>(outcome.manifest.totals().states) / seconds;
}

void oracle_states(benchmark::State& state) {
  double one = 0, two = 0;
  for (auto _ : state) {
    for (int turn = 0; turn < 3; ++turn) {
      one = std::max(one, rate(1));
      two = std::max(two, rate(2));
    }
  }
  state.counters["states_per_s"] = one;
  state.counters["states_per_s_2_threads"] = two;
  state.counters["two_over_one"] = two / one;
}
BENCHMARK(oracle_states)->Iterations(1)->Unit(benchmark::kSecond);

// All answers of the states of one optimal episode, by the memoised value function and by a search for each.
void oracle_labels(benchmark::State& state) {
  const Workload workload = oracle::draw_workload(sizes, 7);
  const walk::EpisodeContext context(workload);
  const auto seconds_of = [&](const auto& label) {
    walk::Episode episode(context, {.rules = walk::Rules::seed_honest});
    const auto start = Clock::now();
    while (!episode.done()) {
      const std::vector<oracle::ActionValue> values = label(episode);
      episode.step(std::min_element(values.begin(), values.end(), [](const auto& a, const auto& b) {
                     return a.value.cycles < b.value.cycles;
                   })->action);
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double memoised = 1e9, searched = 1e9;
  for (auto _ : state) {
    for (int turn = 0; turn < 5; ++turn) {
      oracle::GraphValues values(context, walk::Rules::seed_honest);
      memoised =
          std::min(memoised, seconds_of([&](const walk::Episode& e) { return values.labels(e).actions; }));
      searched = std::min(searched, seconds_of([](const walk::Episode& e) { return oracle::q_values(e); }));
    }
  }
  state.counters["us_per_state"] = memoised * 1e6 / workload.graph.size();
  state.counters["ratio"] = searched / memoised;
}
BENCHMARK(oracle_labels)->Iterations(1);

}  // namespace
