#include "curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>

#include "fuselage/core/error.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/tune.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::experiments {
namespace {

constexpr std::uint64_t proof_steps = 2'000'000;
constexpr int resamples = 2000;

struct HeldOut {
  Workload workload;
  double optimum = 0;
};

// Graphs of the test split that differ and whose optimum is proven.
std::vector<HeldOut> held_out(const Job& job) {
  search::SplitMix seeds(job.draw);
  std::set<std::string> hashes;
  std::vector<HeldOut> graphs;
  const auto kind = job.kind == oracle::name(oracle::GraphKind::mixed) ? oracle::GraphKind::mixed
                                                                       : oracle::GraphKind::memory_bound;
  while (static_cast<int>(graphs.size()) < job.graphs) {
    Workload workload = oracle::draw_workload({.kind = kind}, seeds.next());
    const std::string hash = oracle::graph_hash(workload.graph);
    if (learn::split_of(hash) != learn::Split::test || !hashes.insert(hash).second) continue;
    const oracle::Solution solved = oracle::solve(workload, {.budget = {.steps = proof_steps}});
    if (solved.found && solved.proof == search::Proof::optimal)
      graphs.push_back({std::move(workload), solved.latency});
  }
  return graphs;
}

std::vector<float> curve_of(const HeldOut& graph, FilterKind kind, const Learned& learned,
                            const oracle::TuneOptions& options) {
  const walk::EpisodeContext context(graph.workload);
  oracle::RooflineEvaluator evaluator(graph.workload);
  const auto filter = make_filter(kind, context, graph.workload, learned, options.seed);
  const oracle::Tuned tuned = oracle::tune(context, evaluator, filter.get(), options);
  std::vector<float> gaps;
  double best = std::numeric_limits<double>::infinity();
  for (const oracle::Trial& trial : tuned.trials) {
    best = std::min(best, trial.latency());
    if (best < graph.optimum * (1 - 1e-9))
      fail("{}: trial {} takes {} cycles, less than the optimum, {}", graph.workload.name, trial.number, best,
           graph.optimum);
    gaps.push_back(static_cast<float>(std::max(0.0, best / graph.optimum - 1)));
  }
  gaps.resize(static_cast<std::size_t>(options.trials), gaps.back());
  return gaps;
}

}  // namespace

std::vector<double> Curves::gaps_at(FilterKind filter, std::size_t n) const {
  const auto& by_seed = gaps[static_cast<std::size_t>(filter)];
  std::vector<double> means(graphs.size(), 0);
  for (const auto& by_graph : by_seed)
    for (std::size_t g = 0; g < by_graph.size(); ++g)
      means[g] += static_cast<double>(by_graph[g][n - 1]) / static_cast<double>(by_seed.size());
  return means;
}

std::size_t Curves::trials(FilterKind filter) const {
  return gaps[static_cast<std::size_t>(filter)][0][0].size();
}

Curves measure(const Job& job, const Learned& learned) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<HeldOut> graphs = held_out(job);
  Curves curves{.kind = job.kind};
  for (const HeldOut& graph : graphs) {
    curves.graphs.push_back(graph.workload.name);
    curves.optima.push_back(graph.optimum);
  }
  for (std::size_t f = 0; f < filter_names.size(); ++f) {
    const auto kind = static_cast<FilterKind>(f);
    const int trials = kind == FilterKind::none ? job.reference : job.trials;
    auto& by_seed = curves.gaps[f];
    by_seed.assign(static_cast<std::size_t>(job.seeds), std::vector<std::vector<float>>(graphs.size()));
    in_parallel(job.threads, by_seed.size() * graphs.size(), [&](std::size_t i) {
      const std::size_t seed = i / graphs.size();
      const std::size_t g = i % graphs.size();
      by_seed[seed][g] =
          curve_of(graphs[g], kind, learned, {.trials = trials, .proposals = job.proposals, .seed = seed});
    });
    say(fmt::format(
        "{}, {}: gap at 64 is {} %", job.kind, filter_names[f],
        interval_of(curves.gaps_at(kind, std::min<std::size_t>(64, curves.trials(kind)))).percent()));
  }
  curves.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return curves;
}

Interval interval_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Interval interval{.mean = std::accumulate(values.begin(), values.end(), 0.0) / n};
  search::SplitMix random(1);
  std::vector<double> means;
  for (int r = 0; r < resamples; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[random.below(values.size())];
    means.push_back(sum / n);
  }
  std::sort(means.begin(), means.end());
  interval.low = means[static_cast<std::size_t>(resamples * 0.025)];
  interval.high = means[static_cast<std::size_t>(resamples * 0.975)];
  return interval;
}

Interval difference_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return interval_of(differences);
}

std::string Interval::percent() const {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", 100 * mean, 100 * low, 100 * high);
}

}  // namespace fuselage::experiments
