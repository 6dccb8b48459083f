#include "fuselage/oracle/walk_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fuselage/core/error.h"
#include "fuselage/learn/ranker.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::oracle {
namespace {

constexpr int ranker_rounds = 200;
constexpr std::uint64_t proof_steps = 2'000'000;  // kernels priced for an optimum to compare with

learn::Schedules empty_schedules() {
  learn::Schedules set;
  set.features = static_cast<learn::Index>(walk::token_schema().size());
  set.facts = static_cast<learn::Index>(walk::workload_schema().size());
  return set;
}

void tell(const StageProgress& progress, std::size_t done, std::size_t all) {
  if (progress) progress(static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(1, all)));
}

}  // namespace

std::vector<DrawnWorkload> draw_workloads(int graphs, const DrawOptions& options, std::uint64_t seed) {
  std::vector<DrawnWorkload> drawn;
  for (const GraphKind kind : {GraphKind::mixed, GraphKind::memory_bound}) {
    search::SplitMix seeds(seed);
    std::set<std::string> hashes;
    DrawOptions of_kind = options;
    of_kind.kind = kind;
    const std::int64_t most_draws = 20 * std::int64_t{graphs} + 100;
    for (std::int64_t i = 0; std::cmp_less(hashes.size(), graphs); ++i) {
      if (i == most_draws)
        fail("graphs: of {} drawn only {} differ; expected fewer, or a larger range of ops", i,
             hashes.size());
      const std::uint64_t own = seeds.next();
      Workload workload = draw_workload(of_kind, own);
      const std::string hash = graph_hash(workload.graph);
      if (!hashes.insert(hash).second) continue;
      drawn.push_back(
          {.workload = std::move(workload), .kind = kind, .split = learn::split_of(hash), .seed = own});
    }
  }
  return drawn;
}

ScheduleSet draw_schedules(std::span<const DrawnWorkload> workloads, int schedules,
                           const StageProgress& progress) {
  ScheduleSet set = {empty_schedules(), empty_schedules(), empty_schedules(), empty_schedules()};
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const DrawnWorkload& one = workloads[i];
    tell(progress, i, workloads.size());
    const auto group = trajectories(one.workload, {.schedules = schedules, .seed = one.seed});
    if (!group) continue;
    learn::Schedules& test = one.kind == GraphKind::mixed ? set.test_mixed : set.test_memory_bound;
    learn::append_group(*group, one.split == learn::Split::train        ? set.train
                                : one.split == learn::Split::validation ? set.validation
                                                                        : test);
  }
  return set;
}

DecisionTraining train_decisions(std::span<const DrawnWorkload> workloads, const learn::ScheduleModel& model,
                                 std::uint64_t seed, const StageProgress& progress) {
  Decisions decisions;
  StateValues values;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    tell(progress, i, workloads.size());
    if (workloads[i].split == learn::Split::train)
      add_decisions(workloads[i].workload, {.seed = workloads[i].seed}, model, decisions, values);
  }
  std::vector<float> labels;
  for (double regret : decisions.regret) labels.push_back(relevance(regret));
  const Eigen::Map<const learn::Matrix<float>> rows(decisions.rows.data(),
                                                    static_cast<learn::Index>(decisions.width),
                                                    static_cast<learn::Index>(labels.size()));
  DecisionTraining result{
      .decisions = learn::train_ranker({.rows = rows, .labels = labels, .groups = decisions.sizes},
                                       {.rounds = ranker_rounds, .seed = static_cast<std::int64_t>(seed)}),
      .value = learn::ValueHead({.inputs = static_cast<learn::Index>(value_inputs(model))}, seed),
      .states = decisions.groups(),
      .candidates = labels.size()};
  result.value_error = result.value.train(values.rows, values.targets, {.seed = seed});
  const double count = static_cast<double>(values.targets.size());
  const double mean = std::accumulate(values.targets.begin(), values.targets.end(), 0.0) / count;
  for (float target : values.targets)
    result.value_spread += std::abs(static_cast<double>(target) - mean) / count;
  return result;
}

learn::Estimate mean_estimate(std::span<const double> values, std::uint64_t seed) {
  constexpr int resamples = 2000;
  learn::Estimate estimate;
  if (values.empty()) return estimate;
  const auto count = static_cast<double>(values.size());
  estimate.value = std::accumulate(values.begin(), values.end(), 0.0) / count;
  search::SplitMix random(seed);
  std::vector<double> means(resamples);
  for (double& mean : means) {
    for (std::size_t i = 0; i < values.size(); ++i) mean += values[random.below(values.size())];
    mean /= count;
  }
  std::sort(means.begin(), means.end());
  estimate.low = means[resamples / 40];
  estimate.high = means[resamples - 1 - resamples / 40];
  return estimate;
}

GuidedFigures guided_beam(std::span<const Workload> workloads, const WalkModels& models, std::size_t width,
                          const WalkGuideOptions& options) {
  GuidedFigures figures;
  std::vector<double> gaps, unguided_gaps;
  for (const Workload& workload : workloads) {
    const walk::RunTable runs(workload.graph, workload.hardware);
    const walk::WalkProblem problem(workload.graph, workload.hardware, runs,
                                    {.rules = walk::Rules::seed_honest});
    const auto optimum = search::exact(problem, {.budget = {.steps = proof_steps}});
    if (optimum.proof != search::Proof::optimal) continue;
    const walk::Features features(workload.graph, workload.hardware, runs);
    WalkGuide guide(models, features, options);
    const auto guided = search::beam(problem, guide, {.width = width});
    const auto unguided = search::beam(problem, {.width = width});
    gaps.push_back(guided.cost / optimum.cost - 1);
    unguided_gaps.push_back(unguided.cost / optimum.cost - 1);
    figures.steps += static_cast<double>(guided.steps);
    figures.unguided_steps += static_cast<double>(unguided.steps);
  }
  figures.graphs = gaps.size();
  if (gaps.empty()) return figures;
  figures.steps /= static_cast<double>(gaps.size());
  figures.unguided_steps /= static_cast<double>(gaps.size());
  figures.gap = mean_estimate(gaps);
  figures.unguided_gap = mean_estimate(unguided_gaps);
  return figures;
}

}  // namespace fuselage::oracle
