#include "fuselage/oracle/grid_decisions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "fuselage/grid/features_decision.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/mcts.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;
using grid::GridProblem;
using grid::State;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t root_share = 10;  // completions' steps that the first searches get
constexpr double follow = 0.6;            // share of the moves that are the best known
constexpr double stray = 0.15;            // of those that are any

// The best completions found of the states of one problem.
class Completions {
 public:
  Completions(const GridProblem& problem, const GridDecisionOptions& options)
      : problem_(problem), options_(options) {}

  std::uint64_t steps() const { return steps_; }

  // The plans of a beam and a tree search from the start.
  void search_from_start() {
    const State start = problem_.initial();
    const Budget budget = {.steps = root_share * options_.completion_steps};
    note(start, search::beam(problem_, {.budget = budget, .width = search::unlimited}));
    note(start, search::mcts(problem_, {.budget = budget, .seed = options_.seed}));
    entry(start).searched = true;
  }

  // Of the cheapest completion known; searches for one if nobody has from here.
  double of(const State& state) {
    if (problem_.progress(state) >= problem_.horizon()) return 0;
    Entry& known = entry(state);
    if (!known.searched) {
      known.searched = true;
      note(state,
           search::beam(problem_,
                        {.budget = {.steps = options_.completion_steps}, .width = search::unlimited}, state));
    }
    return entry(state).best;
  }

 private:
  struct Entry {
    State state;
    double best = infinity;
    bool searched = false;
  };

  Entry& entry(const State& state) {
    auto& list = known_[problem_.key(state)];
    for (auto& e : list)
      if (e->state == state) return *e;
    list.push_back(std::make_unique<Entry>(Entry{.state = state}));
    return *list.back();
  }

  template <class Outcome>
  void note(const State& start, const Outcome& outcome) {
    steps_ += outcome.steps;
    if (!outcome.found) return;
    std::vector<State> trail = {start};
    std::vector<double> prices;
    for (const GridKernel& kernel : outcome.plan) {
      prices.push_back(problem_.price(trail.back(), kernel));
      trail.push_back(problem_.apply(trail.back(), kernel));
    }
    double rest = 0;
    for (std::size_t i = prices.size(); i-- > 0;) {
      rest += prices[i];
      Entry& e = entry(trail[i]);
      e.best = std::min(e.best, rest);
      rest = e.best;
    }
  }

  const GridProblem& problem_;
  const GridDecisionOptions& options_;
  std::uint64_t steps_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Entry>>> known_;
};

// One problem's states and candidates. They are listed first and labelled last, when all completions are
// known.
class Collector {
 public:
  Collector(const GridProblem& problem, const grid::Features& features, const GridDecisionOptions& options)
      : problem_(problem),
        features_(features),
        rows_(features),
        options_(options),
        random_(options.seed ^ 0x9e3779b97f4a7c15ULL),
        completions_(problem, options) {}

  void run() {
    completions_.search_from_start();
    for (int episode = 0; episode < options_.episodes; ++episode) {
      if (completions_.steps() > options_.most_steps) break;
      run_episode(episode);
    }
  }

  void write(Decisions& out) {
    out.width = grid::DecisionRows::width();
    for (const Visit& visit : visits_) write(visit, out);
  }

 private:
  struct Visit {
    State state;
    std::vector<GridKernel> kernels;
    std::vector<double> prices;
    std::vector<State> after;
  };

  // The first keeps to what is best, the last to what the policy says, others wander.
  void run_episode(int episode) {
    const bool best_only = episode == 0;
    const bool by_policy = options_.policy && episode + 1 == options_.episodes;
    State state = problem_.initial();
    const std::size_t offset = random_.below(stride());
    for (std::size_t at = 0; problem_.progress(state) < problem_.horizon(); ++at) {
      if (completions_.steps() > options_.most_steps) return;
      const Visit visit = look(state);
      if (visit.kernels.empty()) return;
      std::size_t next = 0;
      std::size_t wanted = 0;
      if (by_policy) {
        next = wanted = policy_choice(visit);
      } else {
        const std::vector<double> costs = costs_of(visit);
        wanted = static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
        next = choose(costs, wanted, best_only);
      }
      if ((at + offset) % stride() == 0) keep(visit, wanted);
      state = visit.after[next];
    }
  }
  std::size_t stride() const {
    return 1 + static_cast<std::size_t>(problem_.instance().op_count()) / 2 / options_.most_states;
  }

  Visit look(const State& state) {
    Visit visit{.state = state, .kernels = {}, .prices = {}, .after = {}};
    std::vector<GridKernel> kernels;
    problem_.kernels(state, kernels);
    for (const GridKernel& kernel : kernels) {
      const double price = problem_.price(state, kernel);
      if (price == infinity) continue;
      visit.kernels.push_back(kernel);
      visit.prices.push_back(price);
      visit.after.push_back(problem_.apply(state, kernel));
    }
    return visit;
  }

  std::vector<double> costs_of(const Visit& visit) {
    std::vector<double> costs;
    for (std::size_t i = 0; i < visit.kernels.size(); ++i)
      costs.push_back(visit.prices[i] + completions_.of(visit.after[i]));
    return costs;
  }

  std::size_t choose(std::span<const double> costs, std::size_t best, bool best_only) {
    const double draw = best_only ? 0 : random_.unit();
    if (draw < follow) return best;
    if (draw >= 1 - stray) return random_.below(costs.size());
    std::vector<std::size_t> fair;
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (costs[i] <= costs[best] + 0.5 * features_.mean_time()) fair.push_back(i);
    return fair.empty() ? best : fair[random_.below(fair.size())];
  }

  std::size_t policy_choice(const Visit& visit) {
    numbers_.resize(visit.kernels.size() * grid::DecisionRows::width());
    rows_.fill(visit.state, visit.kernels, numbers_);
    scores_.resize(visit.kernels.size());
    const Eigen::Map<const learn::Matrix<float>> rows(numbers_.data(),
                                                      static_cast<learn::Index>(grid::DecisionRows::width()),
                                                      static_cast<learn::Index>(visit.kernels.size()));
    options_.policy->score(rows, scores_, scratch_);
    return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  }

  // So many candidates, `wanted` among them, in canonical order.
  void keep(const Visit& visit, std::size_t wanted) {
    if (visit.kernels.size() < 2) return;
    std::vector<std::size_t> places(visit.kernels.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (places.size() > options_.most_candidates) {
      std::swap(places[0], places[wanted]);
      for (std::size_t i = 1; i < options_.most_candidates; ++i)
        std::swap(places[i], places[i + random_.below(places.size() - i)]);
      places.resize(options_.most_candidates);
      std::sort(places.begin(), places.end());
    }
    Visit kept{.state = visit.state, .kernels = {}, .prices = {}, .after = {}};
    for (std::size_t i : places) {
      kept.kernels.push_back(visit.kernels[i]);
      kept.prices.push_back(visit.prices[i]);
      kept.after.push_back(visit.after[i]);
    }
    costs_of(kept);
    visits_.push_back(std::move(kept));
  }

  void write(const Visit& visit, Decisions& out) {
    const std::vector<double> costs = costs_of(visit);
    const double best = *std::min_element(costs.begin(), costs.end());
    if (best == infinity) return;
    for (double cost : costs) {
      const double regret = (cost - best) / features_.mean_time();
      out.regret.push_back(cost - best > 1e-9 * best ? std::min(regret, hopeless) : 0);
    }
    const std::size_t begin = out.rows.size();
    out.rows.resize(begin + out.width * costs.size());
    rows_.fill(visit.state, visit.kernels, std::span(out.rows).subspan(begin));
    out.sizes.push_back(static_cast<std::uint32_t>(costs.size()));
  }

  const GridProblem& problem_;
  const grid::Features& features_;
  grid::DecisionRows rows_;
  const GridDecisionOptions& options_;
  search::SplitMix random_;
  Completions completions_;
  std::vector<Visit> visits_;
  std::vector<float> numbers_;
  std::vector<float> scores_;
  learn::FlatTreesScratch scratch_;
};

}  // namespace

void add_grid_decisions(const grid::Instance& instance, const grid::Rules& rules,
                        const GridDecisionOptions& options, Decisions& out) {
  const GridProblem problem(instance, rules);
  const grid::Features features(instance, rules);
  Collector collector(problem, features, options);
  collector.run();
  collector.write(out);
}

}  // namespace fuselage::oracle
