// Steps a second of the episode on task4_mixed, beside what the public Python environment was measured to do
// on one core: about 70,000 steps/s without and 34,000 with observations.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <vector>

#include "fuselage/walk/episode.h"
#include "fuselage/walk/tasks.h"

namespace {

using namespace fuselage::walk;

constexpr double python_steps_per_second = 70'000;
constexpr double python_observed_steps_per_second = 34'000;

const EpisodeContext& task4() {
  static const EpisodeContext context(make_task(*find_task("task4_mixed")));
  return context;
}

// CPU seconds of this process: other load on the machine does not count.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void report(benchmark::State& state, std::int64_t steps, double start, double python) {
  const double rate = static_cast<double>(steps) / (cpu_seconds() - start);
  state.counters["Msteps_per_s"] = rate / 1e6;
  state.counters["times_python"] = rate / python;
}

void step_constant(benchmark::State& state) {
  Episode episode(task4());
  const ActionView action(true, 128, {});
  std::int64_t steps = 0;
  const double start = cpu_seconds();
  for (auto _ : state) {
    episode.reset();
    while (!episode.done()) {
      benchmark::DoNotOptimize(episode.step(action));
      ++steps;
    }
  }
  report(state, steps, start, python_steps_per_second);
}
BENCHMARK(step_constant);

// A fixed sequence of 4096 random actions: any tile, up to three random ids retained, fused two times of
// three.
struct RandomActions {
  std::vector<std::vector<fuselage::NodeId>> retain;
  std::vector<ActionView> actions;

  RandomActions() {
    std::uint64_t x = 1;
    const auto draw = [&](std::uint64_t below) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      return x % below;
    };
    retain.resize(4096);
    for (auto& ids : retain) {
      ids.resize(draw(4));
      for (auto& id : ids) id = static_cast<fuselage::NodeId>(draw(24));
      actions.emplace_back(draw(3) > 0, tiles[draw(4)], ids);
    }
  }
};

void step_random(benchmark::State& state) {
  static const RandomActions random;
  Episode episode(task4());
  std::int64_t steps = 0;
  const double start = cpu_seconds();
  std::size_t next = 0;
  for (auto _ : state) {
    episode.reset();
    while (!episode.done()) {
      benchmark::DoNotOptimize(episode.step(random.actions[next++ % random.actions.size()]));
      ++steps;
    }
  }
  report(state, steps, start, python_steps_per_second);
}
BENCHMARK(step_random);

void step_and_observe(benchmark::State& state) {
  static const RandomActions random;
  Episode episode(task4());
  std::string text;
  std::int64_t steps = 0;
  const double start = cpu_seconds();
  std::size_t next = 0;
  for (auto _ : state) {
    episode.reset();
    while (!episode.done()) {
      episode.step(random.actions[next++ % random.actions.size()]);
      text.clear();
      episode.observe(text);
      benchmark::DoNotOptimize(text.data());
      ++steps;
    }
  }
  report(state, steps, start, python_observed_steps_per_second);
}
BENCHMARK(step_and_observe);

}  // namespace
