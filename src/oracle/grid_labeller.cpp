#include "grid_labeller.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "fuselage/core/cost.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/oracle/grid_decisions.h"
#include "grid_search.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;
using grid::Kernel;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t enough_for_whole = 1 << 17;
constexpr std::uint64_t patience = 100;      // of local improvement once the declared space is exhausted
constexpr double no_difference = same_cost;  // of the optimum: sums of other orders differ by less

// How much a data set would rather show this one of several optimal answers: lower is better.
std::array<std::size_t, 2> awkwardness(const std::vector<Kernel>& steps) {
  return {steps.size(), steps.back().retain.size()};
}

}  // namespace

GridLabeller::GridLabeller(const std::string& name, const grid::Instance& instance, const grid::Rules& rules,
                           const GridLabelOptions& options)
    : instance_(instance),
      options_(options),
      rules_(rules),
      problem_(instance, rules, {}, [this] { return cancelled(); }),
      completions_(problem_, {.steps = options.steps, .cancel = options.cancel}),
      max_steps_(grid_max_steps(instance, rules)),
      random_(options.seed),
      greedy_(problem_.greedy()),
      naive_(problem_.naive()) {
  describe(name);
}

void GridLabeller::describe(const std::string& name) {
  const bool has_game = rules_.set != grid::RuleSet::mlsys;
  out_.name = name;
  out_.hash = grid_hash(instance_);
  out_.graph = problem_line(instance_);
  out_.is_fixed_task = is_grid_task(instance_);
  out_.seed = options_.seed;
  out_.ops = instance_.op_count();
  out_.greedy = priced(problem_, greedy_).cost;
  out_.naive = has_game ? grid::fusionops_naive_latency(instance_) : priced(problem_, naive_).cost;
  board_.emplace(instance_, rules_, max_steps_, out_.naive);
}

bool GridLabeller::run() {
  search();
  search::SplitMix random(options_.seed ^ 0x9ddfea08eb382d69ULL);
  for (int i = 0; i < options_.episodes && !options_.mix.empty() && !cancelled(); ++i)
    play(draw_policy(options_.mix, random));
  if (cancelled()) return false;
  label();
  return true;
}

void GridLabeller::search() {
  const auto known = [](const search::Incumbent<GridKernel>& plan) {
    return Completions::Outcome{
        .found = true, .infeasible = false, .plan = plan.plan, .cost = plan.cost, .deepest = {}};
  };
  const search::Incumbent<GridKernel> greedy = priced(problem_, greedy_);
  const search::Incumbent<GridKernel> naive = priced(problem_, naive_);
  completions_.note(problem_.initial(), known(greedy));
  completions_.note(problem_.initial(), known(naive));
  const GridSolveOptions options = {
      .rules = rules_,
      .budget = {.steps = std::max(first_share * options_.steps, problem_.whole() ? enough_for_whole : 0),
                 .cancel = options_.cancel},
      .patience = patience};
  completions_.note(problem_.initial(),
                    search_grid(problem_, options, greedy.cost < naive.cost ? greedy : naive));
  rounding_ = no_difference * completions_.known(problem_.initial());
}

void GridLabeller::play(const VisitPolicy& policy) {
  const std::size_t episode = out_.episodes.size();
  out_.episodes.push_back({.policy = policy.name, .answers = {}, .regrets = {}});
  Played played{.end = {.state = problem_.initial()}};
  Position& at = played.end;
  std::optional<GridKernel> wanted;
  board_->reset();
  while (!board_->done() && !cancelled()) {
    if (!at.dropped) wanted = scripted(policy, at);
    const std::optional<std::size_t> here = visit(at, wanted);
    if (!here) break;
    if (at.dropped) visits_[played.moves.back().visit].dropped = here;
    Visit& visit = visits_[*here];
    const std::size_t choice =
        policy.kind == VisitKind::reference ? add(visit, *wanted).value() : choose(visit, policy);
    if (visit.episode == episode) visit.taken = choice;
    played.moves.push_back({.visit = *here, .candidate = choice});
    const Candidate& chosen = visit.candidates[choice];
    board_->play(chosen.steps.front(), chosen.drops() ? 0 : chosen.price);
    at.dropped = chosen.drops();
    if (at.dropped) {
      wanted = chosen.kernel;
    } else {
      at.path.push_back(chosen.kernel);
      at.state = chosen.after;
    }
  }
  played.spent = board_->latency();
  out_.episodes.back().complete = board_->complete();
  out_.episodes.back().score = board_->score();
  played_.push_back(std::move(played));
  if (policy.kind == VisitKind::optimal) played_optimal_ = true;
}

std::optional<GridKernel> GridLabeller::scripted(const VisitPolicy& policy, const Position& at) const {
  if (policy.kind != VisitKind::reference) return std::nullopt;
  return (policy.reference == "naive" ? naive_ : greedy_).at(at.path.size());
}

std::optional<std::size_t> GridLabeller::visit(const Position& at, const std::optional<GridKernel>& wanted) {
  std::string observation = board_->observation();
  // What fast memory held before it was emptied is not observed, but decides what pays only now.
  std::string name = observation;
  for (grid::TensorId t : at.dropped ? at.state.resident : grid::TensorList()) name += fmt::format(" {}", t);
  if (const auto met = known_.find(name); met != known_.end()) {
    if (wanted) add(visits_[met->second], *wanted);
    return met->second;
  }
  if (!has_time(at)) return std::nullopt;
  completions_.of(at.state);
  Visit visit{.at = at,
              .steps = board_->steps(),
              .spent = board_->latency(),
              .episode = out_.episodes.size() - 1,
              .observation = std::move(observation)};
  list(visit, wanted);
  known_[name] = visits_.size();
  visits_.push_back(std::move(visit));
  return visits_.size() - 1;
}

bool GridLabeller::has_time(const Position& at) {
  std::vector<GridKernel> all = at.path;
  const std::vector<GridKernel> rest = completions_.plan(at.state);
  all.insert(all.end(), rest.begin(), rest.end());
  return problem_.plan_of(all).kernels.size() <= static_cast<std::size_t>(max_steps_);
}

bool GridLabeller::write_steps(const Visit& visit, Candidate& candidate) const {
  std::vector<GridKernel> path = visit.at.path;
  path.push_back(candidate.kernel);
  const std::vector<Kernel> all = problem_.plan_of(path).kernels;
  if (static_cast<std::size_t>(visit.steps) >= all.size()) return false;
  candidate.steps.assign(all.begin() + visit.steps, all.end());
  return true;
}

std::vector<GridLabeller::Candidate> GridLabeller::by_guess(const Visit& visit,
                                                            const std::optional<GridKernel>& wanted) {
  problem_.kernels(visit.at.state, kernels_);
  const std::optional<GridKernel> best = completions_.next(visit.at.state);
  for (const std::optional<GridKernel>& one : {best, wanted})
    if (one && std::find(kernels_.begin(), kernels_.end(), *one) == kernels_.end()) kernels_.push_back(*one);
  std::vector<Candidate> all;
  std::vector<double> guesses;
  for (std::size_t place = 0; place < kernels_.size(); ++place) {
    const GridKernel& kernel = kernels_[place];
    const double price = problem_.price(visit.at.state, kernel);
    if (price == infinity) continue;
    all.push_back(
        {.kernel = kernel, .place = place, .price = price, .after = problem_.apply(visit.at.state, kernel)});
    const grid::State& after = all.back().after;
    const bool first = kernel == best || kernel == wanted;
    guesses.push_back(first ? -1 : price + std::min(completions_.known(after), problem_.estimate(after)));
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return guesses[a] < guesses[b]; });
  std::vector<Candidate> sorted;
  for (std::size_t i : order) sorted.push_back(std::move(all[i]));
  return sorted;
}

// Half of them are what looks best, often one group with retain lists that make no difference; the others are
// any. Of the kernels that need a step without ops first only the best is kept, and what is wanted.
void GridLabeller::list(Visit& visit, const std::optional<GridKernel>& wanted) {
  const std::size_t most_tries = 4 * options_.most_candidates;
  std::size_t plain = 0;
  std::size_t tries = 0;
  const std::optional<GridKernel> best = completions_.next(visit.at.state);
  std::vector<Candidate> all = by_guess(visit, wanted);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (plain >= options_.most_candidates || tries++ >= most_tries || cancelled()) break;
    if (2 * plain >= options_.most_candidates) std::swap(all[i], all[i + random_.below(all.size() - i)]);
    Candidate& candidate = all[i];
    const bool first = candidate.kernel == best || candidate.kernel == wanted;
    if (!write_steps(visit, candidate) || (candidate.drops() && !first)) continue;
    if (completions_.of(candidate.after) == infinity) continue;
    completions_.add_way(visit.at.state, candidate.kernel);
    plain += candidate.drops() ? 0 : 1;
    visit.candidates.push_back(std::move(candidate));
  }
  std::sort(visit.candidates.begin(), visit.candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.place < b.place; });
}

std::optional<std::size_t> GridLabeller::add(Visit& visit, const GridKernel& kernel) {
  for (std::size_t i = 0; i < visit.candidates.size(); ++i)
    if (visit.candidates[i].kernel == kernel) return i;
  problem_.kernels(visit.at.state, kernels_);
  const auto place = std::find(kernels_.begin(), kernels_.end(), kernel) - kernels_.begin();
  Candidate candidate{.kernel = kernel,
                      .place = static_cast<std::size_t>(place),
                      .price = problem_.price(visit.at.state, kernel),
                      .after = problem_.apply(visit.at.state, kernel)};
  if (!write_steps(visit, candidate)) return std::nullopt;
  completions_.of(candidate.after);
  completions_.add_way(visit.at.state, kernel);
  visit.candidates.push_back(std::move(candidate));
  return visit.candidates.size() - 1;
}

std::size_t GridLabeller::choose(const Visit& visit, const VisitPolicy& policy) {
  const std::vector<Candidate>& all = visit.candidates;
  std::vector<double> costs;
  for (const Candidate& candidate : all) costs.push_back(cost(candidate));
  const double least = *std::min_element(costs.begin(), costs.end());
  const bool errs = policy.kind == VisitKind::random ||
                    (policy.kind == VisitKind::erring && random_.unit() < policy.epsilon);
  std::vector<std::size_t> fair;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (errs || costs[i] <= least + rounding_) fair.push_back(i);
  // The first time as the data set shows it; then any of the best ones, to see more states.
  if (policy.kind == VisitKind::optimal && !played_optimal_)
    return *std::min_element(fair.begin(), fair.end(), [&](std::size_t a, std::size_t b) {
      return awkwardness(all[a].steps) < awkwardness(all[b].steps);
    });
  return fair[random_.below(fair.size())];
}

}  // namespace fuselage::oracle
