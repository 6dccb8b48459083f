#include "grid_completions.h"

#include <algorithm>

#include "fuselage/search/beam.h"
#include "fuselage/search/mcts.h"

namespace fuselage::oracle {

using grid::GridKernel;
using grid::State;

void Completions::search_from_start() {
  const State start = problem_.initial();
  const Budget budget = {.steps = options_.first_steps, .cancel = options_.cancel};
  note(start, search::beam(problem_, {.budget = budget, .width = search::unlimited}));
  note(start, search::mcts(problem_, {.budget = budget, .seed = options_.seed}));
  entry(start).searched = true;
}

double Completions::known(const State& state) {
  return is_complete(state) ? 0 : entry(state).best;
}

double Completions::of(const State& state) {
  if (is_complete(state)) return 0;
  Entry& at = entry(state);
  if (!at.searched) {
    at.searched = true;
    const Budget budget = {.steps = options_.steps, .cancel = options_.cancel};
    note(state, search::beam(problem_, {.budget = budget, .width = search::unlimited}, state));
  }
  return at.best;
}

bool Completions::exhausted(const State& state) {
  return is_complete(state) || entry(state).exhausted;
}

Completions::Entry& Completions::entry(const State& state) {
  auto& list = known_[problem_.key(state)];
  for (auto& e : list)
    if (e->state == state) return *e;
  list.push_back(std::make_unique<Entry>(Entry{.state = state}));
  return *list.back();
}

void Completions::add_way(Entry& from, const Way& way) {
  const auto same = [&](const Way& other) { return other.kernel == way.kernel; };
  if (std::none_of(from.ways.begin(), from.ways.end(), same)) from.ways.push_back(way);
}

void Completions::add_way(const State& from, const GridKernel& kernel) {
  const State after = problem_.apply(from, kernel);
  add_way(entry(from), {.kernel = kernel,
                        .price = problem_.price(from, kernel),
                        .after = is_complete(after) ? nullptr : &entry(after)});
}

void Completions::note(const State& start, const Outcome& outcome) {
  steps_ += outcome.steps;
  if (!outcome.found) return;
  std::vector<State> trail = {start};
  std::vector<double> prices;
  for (const GridKernel& kernel : outcome.plan) {
    prices.push_back(problem_.price(trail.back(), kernel));
    trail.push_back(problem_.apply(trail.back(), kernel));
  }
  double rest = 0;
  Entry* after = nullptr;
  for (std::size_t i = prices.size(); i-- > 0;) {
    rest += prices[i];
    Entry& e = entry(trail[i]);
    e.best = std::min(e.best, rest);
    add_way(e, {.kernel = outcome.plan[i], .price = prices[i], .after = after});
    rest = e.best;
    after = &e;
  }
  // What completes the cheapest plan is itself the cheapest, as far as declared kernels lead there.
  std::vector<GridKernel> kernels;
  bool proven = outcome.proof != search::Proof::none;
  for (std::size_t i = 0; i < prices.size() && proven; ++i) {
    entry(trail[i]).exhausted = true;
    problem_.kernels(trail[i], kernels);
    proven = std::find(kernels.begin(), kernels.end(), outcome.plan[i]) != kernels.end();
  }
}

void Completions::settle() {
  std::vector<Entry*> all;
  for (const auto& [key, list] : known_)
    for (const auto& e : list) all.push_back(e.get());
  // Every kernel makes progress, so what a state leads to comes before it.
  std::sort(all.begin(), all.end(), [&](const Entry* a, const Entry* b) {
    return problem_.progress(a->state) > problem_.progress(b->state);
  });
  for (Entry* e : all)
    for (const Way& way : e->ways) e->best = std::min(e->best, cost(way));
}

const Completions::Way& Completions::cheapest(const Entry& entry) {
  return *std::min_element(entry.ways.begin(), entry.ways.end(),
                           [](const Way& a, const Way& b) { return cost(a) < cost(b); });
}

std::optional<GridKernel> Completions::next(const State& state) {
  if (is_complete(state)) return std::nullopt;
  const Entry& at = entry(state);
  if (at.ways.empty() || cost(cheapest(at)) == infinity) return std::nullopt;
  return cheapest(at).kernel;
}

std::vector<GridKernel> Completions::plan(const State& state) {
  std::vector<GridKernel> kernels;
  for (const Entry* at = is_complete(state) ? nullptr : &entry(state); at != nullptr;) {
    const Way& way = cheapest(*at);
    kernels.push_back(way.kernel);
    at = way.after;
  }
  return kernels;
}

}  // namespace fuselage::oracle
