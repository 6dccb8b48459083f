#include "fuselage/oracle/walk_guide.h"

#include <algorithm>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/search/layer_filter.h"

namespace fuselage::oracle {
namespace {

using walk::State;
using walk::WalkProblem;

std::span<const NodeId> residents(const State& state) {
  return {state.resident.data(), state.resident.size()};
}

}  // namespace

std::size_t value_inputs(const learn::ScheduleModel& model) {
  return static_cast<std::size_t>(model.latent()) + walk::state_schema().size();
}

void value_row(const learn::ScheduleModel& model, const walk::Features& features, const State& state,
               const float* latent, std::span<float> row) {
  const auto d = static_cast<std::size_t>(model.latent());
  std::copy_n(latent, d, row.begin());
  features.state({.position = state.position, .open = 0, .resident = residents(state)}, row.subspan(d));
}

WalkGuide::WalkGuide(const WalkModels& models, const walk::Features& features,
                     const WalkGuideOptions& options)
    : models_(models),
      features_(&features),
      options_(options),
      ranker_(models.decisions, walk::DecisionRows(features), options.keeping) {
  const auto width = static_cast<learn::Index>(walk::DecisionRows::width());
  if (models.decisions->features() != width)
    fail("the ranker has {} features; expected the {} of {}", models.decisions->features(), width,
         walk::decision_schema().name());
  if (!options.value) return;
  if (models.schedules->latent() > most_latent)
    fail("latents of {} numbers; a guide carries {} at most", models.schedules->latent(), most_latent);
  if (std::cmp_not_equal(models.value->inputs(), value_inputs(*models.schedules)))
    fail("the value head has {} inputs; expected {}, latent and state", models.value->inputs(),
         value_inputs(*models.schedules));
  std::vector<float> workload(walk::workload_schema().size());
  features.workload(workload);
  start_ = models.schedules->start(workload);
}

LatentVector WalkGuide::root(const WalkProblem&, const State&) const {
  Latent latent = {};
  std::copy_n(start_.data(), start_.size(), latent.begin());
  return latent;
}

void WalkGuide::consider(const WalkProblem& problem, std::span<Expansion> batch) {
  ranker_.rank(problem, batch);
  if (!options_.value) {
    for (Expansion& e : batch) e.latents.assign(e.keep.size(), Latent{});
    return;
  }
  const Ends ends = roll(problem, batch);
  const std::vector<double> after = to_go(problem, ends, options_.lookahead);
  std::size_t at = 0;
  for (Expansion& e : batch)
    for (std::size_t i = 0; i < e.keep.size(); ++i, ++at) {
      e.after.push_back(after[at]);
      e.latents.push_back(ends.latents[at]);
    }
}

WalkGuide::Ends WalkGuide::roll(const WalkProblem& problem, std::span<const Expansion> batch) {
  const learn::Index d = start_.rows();
  Ends ends;
  std::vector<float> tokens;
  std::vector<int> lengths;
  std::vector<float> starts;
  for (const Expansion& e : batch)
    for (std::uint32_t k : e.keep) {
      const walk::Kernel& kernel = e.kernels[k];
      walk::append_tokens(*features_, *e.state, kernel, tokens);
      lengths.push_back(kernel.count);
      starts.insert(starts.end(), e.latent->begin(), e.latent->begin() + d);
      ends.states.push_back(problem.apply(*e.state, kernel));
    }
  const auto count = static_cast<learn::Index>(lengths.size());
  const Eigen::Map<const learn::Matrix<float>> start(starts.data(), d, count);
  models_.schedules->roll({.start = start, .tokens = tokens, .lengths = lengths}, rolled_);
  for (learn::Index i = 0; i < count; ++i) {
    Latent& latent = ends.latents.emplace_back();
    std::copy_n(rolled_.last.view().col(i).data(), d, latent.begin());
    ends.costs.push_back(-static_cast<double>(rolled_.scores.view()(0, i)) * features_->mean_cycles());
  }
  return ends;
}

std::vector<double> WalkGuide::to_go(const WalkProblem& problem, const Ends& ends, int lookahead) {
  std::vector<double> after = ask(problem, ends);
  if (lookahead == 0 || after.empty()) return after;
  std::vector<std::vector<walk::Kernel>> kernels(ends.states.size());
  std::vector<Expansion> next;
  for (std::size_t i = 0; i < ends.states.size(); ++i) {
    if (problem.progress(ends.states[i]) < problem.horizon()) problem.kernels(ends.states[i], kernels[i]);
    next.push_back({.state = &ends.states[i], .latent = &ends.latents[i], .kernels = kernels[i]});
  }
  ranker_.rank(problem, std::span(next));
  const Ends beyond = roll(problem, next);
  const std::vector<double> rest = to_go(problem, beyond, lookahead - 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (next[i].keep.empty()) continue;
    double least = search::infinite_cost;
    for (std::size_t k = 0; k < next[i].keep.size(); ++k, ++at)
      least = std::min(least, beyond.costs[at] + rest[at]);
    after[i] = std::max(problem.bound(ends.states[i]), least);
  }
  return after;
}

// The bound is right about most of it: the head answers what it misses, which is never less than nothing.
std::vector<double> WalkGuide::ask(const WalkProblem& problem, const Ends& ends) {
  const std::size_t width = value_inputs(*models_.schedules);
  std::vector<float> rows(width * ends.states.size());
  std::vector<float> answers(ends.states.size());
  for (std::size_t i = 0; i < ends.states.size(); ++i)
    value_row(*models_.schedules, *features_, ends.states[i], ends.latents[i].data(),
              std::span(rows).subspan(width * i, width));
  models_.value->ask(rows, answers, asked_);
  std::vector<double> after;
  for (std::size_t i = 0; i < ends.states.size(); ++i) {
    const bool complete = problem.progress(ends.states[i]) >= problem.horizon();
    const double missed = complete ? 0 : std::max(0.0, static_cast<double>(answers[i]));
    after.push_back(problem.bound(ends.states[i]) + missed * features_->mean_cycles());
  }
  return after;
}

}  // namespace fuselage::oracle
