#include "fuselage/oracle/walk_decisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "fuselage/core/cost.h"
#include "fuselage/oracle/walk_guide.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/split_mix.h"
#include "fuselage/walk/decision_features.h"
#include "fuselage/walk/problem.h"

namespace fuselage::oracle {
namespace {

using walk::Kernel;
using walk::State;
using walk::WalkProblem;

constexpr std::uint64_t value_steps = 50'000;  // kernels priced for the value of one state
constexpr double optimal_share = 0.5;          // of the moves
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Least cost to go of the states of one problem; each is searched once.
class Values {
 public:
  explicit Values(const WalkProblem& problem) : problem_(problem) {}

  // NaN: not proven.
  double of(const State& state) {
    if (problem_.progress(state) >= problem_.horizon()) return 0;
    auto& known = known_[problem_.key(state)];
    for (const auto& [other, value] : known)
      if (other == state) return value;
    const auto outcome = search::exact(problem_, {.budget = {.steps = value_steps}}, state);
    const double value = outcome.proof == search::Proof::optimal ? outcome.cost : unknown;
    known.emplace_back(state, value);
    return value;
  }

 private:
  const WalkProblem& problem_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<State, double>>> known_;
};

// The best kernel and random others, at most `most` in all, in canonical order.
void thin(std::vector<std::size_t>& places, std::size_t best, std::size_t most, search::SplitMix& random) {
  if (places.size() <= most) return;
  std::swap(places[0], places[best]);
  for (std::size_t i = 1; i < most; ++i) std::swap(places[i], places[i + random.below(places.size() - i)]);
  places.resize(most);
  std::sort(places.begin(), places.end());
}

// Visits states of one workload.
class Visit {
 public:
  Visit(const Workload& workload, const DecisionOptions& options, Decisions& out)
      : options_(options),
        runs_(workload.graph, workload.hardware),
        problem_(workload.graph, workload.hardware, runs_, {.rules = walk::Rules::seed_honest}),
        features_(workload.graph, workload.hardware, runs_),
        rows_(features_),
        values_(problem_),
        random_(options.seed),
        out_(out) {
    out.width = walk::DecisionRows::width();
  }

  void roll_with(const learn::ScheduleModel& model, StateValues& out) {
    model_ = &model;
    state_values_ = &out;
  }

  void run() {
    for (int episode = 0; episode < options_.episodes; ++episode) {
      State state = problem_.initial();
      if (model_) start_latent();
      while (problem_.progress(state) < problem_.horizon())
        if (!visit(state)) break;
    }
  }

 private:
  // Moves on to the next state. False: there is none, or a value isn't known.
  bool visit(State& state) {
    problem_.kernels(state, kernels_);
    costs_.clear();
    for (const Kernel& kernel : kernels_)
      costs_.push_back(problem_.price(state, kernel) + values_.of(problem_.apply(state, kernel)));
    if (kernels_.empty() ||
        std::any_of(costs_.begin(), costs_.end(), [](double c) { return !std::isfinite(c); }))
      return false;
    const auto best =
        static_cast<std::size_t>(std::min_element(costs_.begin(), costs_.end()) - costs_.begin());
    if (kernels_.size() > 1) add_group(state, best);
    const std::size_t next = random_.unit() < optimal_share ? best : random_.below(kernels_.size());
    if (model_) roll(state, std::span(&kernels_[next], 1));
    if (model_) latent_ = rolled_.last.view();
    state = problem_.apply(state, kernels_[next]);
    return true;
  }

  void add_group(const State& state, std::size_t best) {
    std::vector<std::size_t> places(kernels_.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    thin(places, best, options_.most_candidates, random_);
    std::vector<Kernel> chosen;
    for (std::size_t k : places) {
      chosen.push_back(kernels_[k]);
      const double lost = costs_[k] - costs_[best];
      out_.regret.push_back(lost > same_cost * costs_[best] ? lost / features_.mean_cycles() : 0);
    }
    const std::size_t begin = out_.rows.size();
    out_.rows.resize(begin + out_.width * chosen.size());
    rows_.fill(problem_, state, chosen, std::span(out_.rows).subspan(begin));
    out_.sizes.push_back(static_cast<std::uint32_t>(chosen.size()));
    if (model_) add_values(state, chosen);
  }

  void add_values(const State& state, std::span<const Kernel> chosen) {
    roll(state, chosen);
    const std::size_t width = value_inputs(*model_);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const State after = problem_.apply(state, chosen[i]);
      if (problem_.progress(after) >= problem_.horizon()) continue;
      const std::size_t begin = state_values_->rows.size();
      state_values_->rows.resize(begin + width);
      value_row(*model_, features_, after, rolled_.last.view().col(static_cast<learn::Index>(i)).data(),
                std::span(state_values_->rows).subspan(begin));
      state_values_->targets.push_back(
          static_cast<float>((values_.of(after) - problem_.bound(after)) / features_.mean_cycles()));
    }
  }

  void start_latent() {
    std::vector<float> workload(walk::workload_schema().size());
    features_.workload(workload);
    latent_ = model_->start(workload);
  }
  // From the latent of the state.
  void roll(const State& state, std::span<const Kernel> kernels) {
    std::vector<float> tokens;
    std::vector<int> lengths;
    for (const Kernel& kernel : kernels) {
      walk::append_tokens(features_, state, kernel, tokens);
      lengths.push_back(kernel.count);
    }
    const learn::Matrix<float> start = latent_.replicate(1, static_cast<learn::Index>(kernels.size()));
    model_->roll({.start = start, .tokens = tokens, .lengths = lengths}, rolled_);
  }

  DecisionOptions options_;
  walk::RunTable runs_;
  WalkProblem problem_;
  walk::Features features_;
  walk::DecisionRows rows_;
  Values values_;
  search::SplitMix random_;
  Decisions& out_;
  const learn::ScheduleModel* model_ = nullptr;
  StateValues* state_values_ = nullptr;
  learn::Matrix<float> latent_;
  learn::RollScratch rolled_;
  std::vector<Kernel> kernels_;
  std::vector<double> costs_;
};

}  // namespace

float relevance(double regret) {
  constexpr std::array limits = {same_cost, 0.05, 0.25, 1.0};
  float level = static_cast<float>(limits.size());
  for (double limit : limits) level -= regret > limit ? 1.0F : 0.0F;
  return level;
}

void add_decisions(const Workload& workload, const DecisionOptions& options, Decisions& out) {
  Visit(workload, options, out).run();
}

void add_decisions(const Workload& workload, const DecisionOptions& options,
                   const learn::ScheduleModel& model, Decisions& out, StateValues& values) {
  Visit visit(workload, options, out);
  visit.roll_with(model, values);
  visit.run();
}

}  // namespace fuselage::oracle
