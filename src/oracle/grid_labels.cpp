// The labels of the visited states, once all completions are known.
#include <algorithm>
#include <array>
#include <limits>

#include "fuselage/core/cost.h"
#include "fuselage/grid/fusionops.h"
#include "grid_labeller.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;
using grid::Kernel;

}  // namespace

// What a search from elsewhere found is the best kernel of a visited state is listed there, and all is in
// agreement again, until nothing new turns up.
void GridLabeller::settle() {
  for (bool added = true; added && !cancelled();) {
    completions_.settle();
    added = false;
    for (Visit& visit : visits_) added = add_best(visit) || added;
  }
}

bool GridLabeller::add_best(Visit& visit) {
  const std::optional<GridKernel> best = completions_.next(visit.at.state);
  const std::size_t before = visit.candidates.size();
  if (best) add(visit, *best);
  return visit.candidates.size() > before;
}

void GridLabeller::label() {
  settle();
  const grid::State start = problem_.initial();
  const double optimum = completions_.known(start);
  rounding_ = same_cost * optimum;
  out_.optimum = value_of(start, 0, optimum);
  out_.proof = proof_of(out_.optimum, start, true);
  out_.optimum_score = board_->score_of(optimum, true);
  for (const Visit& visit : visits_) out_.states.push_back(state_of(visit));
  for (std::size_t i = 0; i < played_.size(); ++i) finish(out_.episodes[i], played_[i]);
}

Value GridLabeller::value_of(const grid::State& state, double price, double rest) const {
  Value value{.cycles = price + rest, .proven = false, .lower_bound = price + problem_.bound(state)};
  value.proven = meets(value.lower_bound, value.cycles);
  value.lower_bound = std::min(value.lower_bound, value.cycles);
  return value;
}

// `is_least`: of all that may follow the state.
search::Proof GridLabeller::proof_of(const Value& value, const grid::State& state, bool is_least) {
  if (value.proven) return search::Proof::optimal;
  return is_least && completions_.exhausted(state) ? search::Proof::optimal_in_declared_space
                                                   : search::Proof::none;
}

GridLabeller::Label GridLabeller::plain_label(const Candidate& candidate) {
  Label label{.candidate = &candidate};
  label.answer.text = grid::step_text(candidate.steps.front());
  label.answer.q = value_of(candidate.after, candidate.price, completions_.known(candidate.after));
  label.proof = proof_of(label.answer.q, candidate.after, true);
  return label;
}

// Of the step without ops, after which the best of the kernels that need it follows; none if none does.
std::optional<GridLabeller::Label> GridLabeller::dropping_label(const Visit& visit) {
  Label label{.drops = true};
  double least = std::numeric_limits<double>::infinity();
  const auto look = [&](const Candidate& candidate) {
    if (cost(candidate) >= least) return;
    least = cost(candidate);
    label.candidate = &candidate;
  };
  for (const Candidate& candidate : visit.candidates) {
    if (!candidate.drops()) continue;
    label.answer.text = grid::step_text(candidate.steps.front());
    look(candidate);
  }
  if (visit.dropped)
    for (const Candidate& candidate : visits_[*visit.dropped].candidates) look(candidate);
  if (label.candidate == nullptr) return std::nullopt;
  label.answer.q = value_of(visit.at.state, 0, least);
  label.proof =
      proof_of(label.answer.q, visit.at.state, least <= completions_.known(visit.at.state) + rounding_);
  return label;
}

GridLabeller::Label GridLabeller::label_of(const Visit& visit, std::size_t candidate) {
  const Candidate& of = visit.candidates[candidate];
  return of.drops() ? dropping_label(visit).value() : plain_label(of);
}

double GridLabeller::value_at(const Visit& visit) {
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : visit.candidates) least = std::min(least, cost(candidate));
  if (visit.dropped) least = std::min(least, value_at(visits_[*visit.dropped]));
  return least;
}

// In the order of the kernels. The step without ops only if it is best, or was taken.
std::vector<GridLabeller::Label> GridLabeller::labels_of(const Visit& visit) {
  std::vector<Label> labels;
  for (const Candidate& candidate : visit.candidates)
    if (!candidate.drops()) labels.push_back(plain_label(candidate));
  const double least = value_at(visit);
  if (auto drop = dropping_label(visit))
    if (drop->answer.q.cycles <= least + rounding_ || visit.candidates[visit.taken].drops())
      labels.push_back(*std::move(drop));
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.candidate->place < b.candidate->place; });
  for (Label& label : labels) label.answer.optimal = label.answer.q.cycles <= least + rounding_;
  return labels;
}

LabelledState GridLabeller::state_of(const Visit& visit) {
  LabelledState state{.episode = visit.episode,
                      .step = visit.steps,
                      .node = -1,
                      .observation = visit.observation,
                      .spent = visit.spent,
                      .value = value_of(visit.at.state, 0, value_at(visit)),
                      .answers = {},
                      .taken = {}};
  state.proof = proof_of(state.value, visit.at.state,
                         state.value.cycles <= completions_.known(visit.at.state) + rounding_);
  std::array<std::size_t, 2> least_awkward = {std::numeric_limits<std::size_t>::max(), 0};
  for (Label& label : labels_of(visit)) {
    const std::array<std::size_t, 2> awkward = {label.drops ? 1U : 0U,
                                                label.candidate->steps.back().retain.size()};
    if (label.answer.optimal && awkward < least_awkward) {
      least_awkward = awkward;
      state.best = state.answers.size();
    }
    state.proof = std::min(state.proof, label.proof);
    state.answers.push_back(std::move(label.answer));
  }
  Label taken = label_of(visit, visit.taken);
  taken.answer.optimal = taken.answer.q.cycles <= state.value.cycles + rounding_;
  state.taken = std::move(taken.answer);
  return state;
}

void GridLabeller::finish(LabelledEpisode& episode, const Played& played) {
  episode.proof = out_.proof;
  double rest = completions_.known(played.end.state);
  for (const Move& move : played.moves) {
    const Visit& visit = visits_[move.visit];
    const Label taken = label_of(visit, move.candidate);
    const double regret = taken.answer.q.cycles - value_at(visit);
    episode.answers.push_back(taken.answer.text);
    episode.regrets.push_back(regret <= rounding_ ? 0 : regret);
    const std::size_t at = move.visit;
    episode.proof = std::min({episode.proof, out_.states[at].proof, taken.proof});
    if (played.end.dropped) rest = taken.answer.q.cycles;
  }
  episode.latency = played.spent + rest;
  const Value value = value_of(played.end.state, 0, rest);
  episode.proof = std::min(episode.proof, proof_of(value, played.end.state, !played.end.dropped));
}

std::optional<std::vector<Kernel>> GridLabeller::steps_after(std::size_t state, const std::string& answer) {
  const Visit& visit = visits_[state];
  for (const Label& label : labels_of(visit)) {
    if (label.answer.text != answer) continue;
    std::vector<GridKernel> all = visit.at.path;
    all.push_back(label.candidate->kernel);
    const std::vector<GridKernel> rest = completions_.plan(label.candidate->after);
    all.insert(all.end(), rest.begin(), rest.end());
    const std::vector<Kernel> steps = problem_.plan_of(all).kernels;
    return std::vector<Kernel>(steps.begin() + visit.steps + 1, steps.end());
  }
  return std::nullopt;
}

std::vector<Kernel> GridLabeller::steps_after_episode(std::size_t episode) {
  const Played& played = played_[episode];
  std::vector<GridKernel> all = played.end.path;
  std::vector<GridKernel> rest = completions_.plan(played.end.state);
  if (played.end.dropped) {
    const Move& last = played.moves.back();
    const Candidate& next = *dropping_label(visits_[last.visit]).value().candidate;
    rest = completions_.plan(next.after);
    rest.insert(rest.begin(), next.kernel);
  }
  all.insert(all.end(), rest.begin(), rest.end());
  const std::vector<Kernel> steps = problem_.plan_of(all).kernels;
  return {steps.begin() + static_cast<std::ptrdiff_t>(played.moves.size()), steps.end()};
}

}  // namespace fuselage::oracle
