#include "fuselage/oracle/grid_decisions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "fuselage/core/cost.h"
#include "fuselage/grid/features_decision.h"
#include "fuselage/search/split_mix.h"
#include "grid_completions.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;
using grid::GridProblem;
using grid::State;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t root_share = 10;  // completions' steps that the first searches get
constexpr double keep_to_best = 0.6;      // share of the moves that are the best known
constexpr double stray = 0.15;            // of those that are any
constexpr double fair_regret = 0.5;       // mean op times: what the others lose at most

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
        completions_(problem, {.first_steps = root_share * options.completion_steps,
                               .steps = options.completion_steps,
                               .seed = options.seed}),
        stride_(1 + static_cast<std::size_t>(problem.instance().op_count()) / 2 / options.most_states) {}

  void run() {
    completions_.search_from_start();
    if (options_.policy) {
      run_episode(Follow::policy);
      run_episode(Follow::whim);
    } else {
      run_episode(Follow::best);
      run_episode(Follow::whim);
    }
  }

  void write(Decisions& out) {
    out.width = grid::DecisionRows::width();
    for (const Visit& visit : visits_) write(visit, out);
  }

 private:
  struct Candidate {
    GridKernel kernel;
    double price = 0;
    State after;
    double guess = 0;  // of the cost of a schedule that takes it
  };
  struct Visit {
    State state;
    std::vector<Candidate> candidates = {};
  };

  bool spent() const { return completions_.steps() > options_.most_steps; }

  // What an episode keeps to: the best known, that with errors, or the policy.
  enum class Follow : std::uint8_t { best, whim, policy };

  void run_episode(Follow follow) {
    const bool by_policy = follow == Follow::policy;
    Visit visit{.state = problem_.initial()};
    const std::size_t offset = random_.below(stride_);
    for (std::size_t at = 0; problem_.progress(visit.state) < problem_.horizon(); ++at) {
      list(visit);
      if (visit.candidates.empty()) return;
      const std::size_t choice = by_policy ? policy_choice(visit) : 0;
      const State chosen = visit.candidates[choice].after;
      thin(visit, choice);
      const std::vector<double> costs = costs_of(visit);
      if (spent()) return;
      const State next = by_policy ? chosen : visit.candidates[choose(costs, follow == Follow::best)].after;
      if ((at + offset) % stride_ == 0 && costs.size() > 1) visits_.push_back(std::move(visit));
      visit = {.state = next};
    }
  }

  void list(Visit& visit) {
    problem_.kernels(visit.state, kernels_);
    for (const GridKernel& kernel : kernels_) {
      const double price = problem_.price(visit.state, kernel);
      if (price == infinity) continue;
      State after = problem_.apply(visit.state, kernel);
      const double guess = price + std::min(completions_.known(after), problem_.estimate(after));
      visit.candidates.push_back({kernel, price, std::move(after), guess});
    }
  }

  // As many as are wanted: what is known to be best, what the policy chose, half of what looks best, and
  // others at random; in canonical order.
  void thin(Visit& visit, std::size_t choice) {
    const std::size_t most = options_.most_candidates;
    std::vector<Candidate>& all = visit.candidates;
    if (all.size() <= most) return;
    std::vector<std::size_t> places(all.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto cost = [&](std::size_t i) { return all[i].price + completions_.known(all[i].after); };
    const std::size_t best =
        *std::min_element(places.begin(), places.end(), [&](auto a, auto b) { return cost(a) < cost(b); });
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      const auto rank = [&](std::size_t i) { return i == best || i == choice ? -1.0 : all[i].guess; };
      return rank(a) < rank(b);
    });
    for (std::size_t i = most / 2; i < most; ++i)
      std::swap(places[i], places[i + random_.below(places.size() - i)]);
    places.resize(most);
    std::sort(places.begin(), places.end());
    std::vector<Candidate> kept;
    for (std::size_t i : places) kept.push_back(std::move(all[i]));
    all = std::move(kept);
  }

  std::vector<double> costs_of(const Visit& visit) {
    std::vector<double> costs;
    for (const Candidate& c : visit.candidates) {
      if (spent()) break;
      costs.push_back(c.price + completions_.of(c.after));
    }
    return costs;
  }

  std::size_t choose(std::span<const double> costs, bool best_only) {
    const auto best = static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
    const double draw = best_only ? 0 : random_.unit();
    if (draw < keep_to_best) return best;
    if (draw >= 1 - stray) return random_.below(costs.size());
    std::vector<std::size_t> fair;
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (costs[i] <= costs[best] + fair_regret * features_.mean_time()) fair.push_back(i);
    return fair.empty() ? best : fair[random_.below(fair.size())];
  }

  std::size_t policy_choice(const Visit& visit) {
    fill(visit);
    scores_.resize(visit.candidates.size());
    const Eigen::Map<const learn::Matrix<float>> rows(numbers_.data(),
                                                      static_cast<learn::Index>(grid::DecisionRows::width()),
                                                      static_cast<learn::Index>(scores_.size()));
    options_.policy->score(rows, scores_, scratch_);
    return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  }

  // The rows of all candidates into numbers_.
  void fill(const Visit& visit) {
    kernels_.clear();
    for (const Candidate& c : visit.candidates) kernels_.push_back(c.kernel);
    numbers_.resize(kernels_.size() * grid::DecisionRows::width());
    rows_.fill(visit.state, kernels_, numbers_);
  }

  void write(const Visit& visit, Decisions& out) {
    std::vector<double> costs;
    for (const Candidate& c : visit.candidates) costs.push_back(c.price + completions_.known(c.after));
    const double best = *std::min_element(costs.begin(), costs.end());
    if (best == infinity) return;
    for (double cost : costs) {
      const double regret = (cost - best) / features_.mean_time();
      out.regret.push_back(!meets(best, cost) ? std::min(regret, hopeless) : 0);
    }
    fill(visit);
    out.rows.insert(out.rows.end(), numbers_.begin(), numbers_.end());
    out.sizes.push_back(static_cast<std::uint32_t>(costs.size()));
  }

  const GridProblem& problem_;
  const grid::Features& features_;
  grid::DecisionRows rows_;
  const GridDecisionOptions& options_;
  search::SplitMix random_;
  Completions completions_;
  std::size_t stride_;  // one state of so many is kept
  std::vector<Visit> visits_;
  std::vector<GridKernel> kernels_;
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
