#include "fuselage/oracle/grid_hint.h"

#include <algorithm>
#include <limits>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/grid/episode.h"
#include "fuselage/grid/problem.h"
#include "grid_completions.h"

namespace fuselage::oracle {
namespace {

using grid::GridKernel;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_answers = 12;

std::uint64_t mask_of(const grid::Group& group, const std::vector<grid::TensorId>& retain) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < group.made.size() && i < 64; ++i)
    if (std::find(retain.begin(), retain.end(), group.made[i]) != retain.end()) mask |= std::uint64_t{1} << i;
  return mask;
}

struct Next {
  GridKernel kernel;
  double price = 0;
  grid::State after;
  double guess = 0;
};

}  // namespace

struct GridHints::Parts {
  Parts(const grid::Instance& instance, const grid::Rules& rules, std::uint64_t steps)
      : problem(instance, rules), completions(problem, {.first_steps = 10 * steps, .steps = steps}) {
    completions.search_from_start();
  }

  // The most promising first; the best that is known among them.
  std::vector<Next> list(const grid::State& state) {
    std::vector<GridKernel> kernels;
    problem.kernels(state, kernels);
    const std::optional<GridKernel> best = completions.next(state);
    if (best && std::find(kernels.begin(), kernels.end(), *best) == kernels.end()) kernels.push_back(*best);
    std::vector<Next> all;
    for (const GridKernel& kernel : kernels) {
      const double price = problem.price(state, kernel);
      if (price == infinity) continue;
      grid::State after = problem.apply(state, kernel);
      const double guess =
          kernel == best ? -1 : price + std::min(completions.known(after), problem.estimate(after));
      all.push_back({kernel, price, std::move(after), guess});
    }
    std::stable_sort(all.begin(), all.end(), [](const Next& a, const Next& b) { return a.guess < b.guess; });
    if (all.size() > most_answers) all.resize(most_answers);
    return all;
  }

  // The text of the first step that runs the kernel: one without ops, if it pays only after such a step.
  std::string text_of(std::vector<GridKernel> path, const GridKernel& kernel) const {
    const std::size_t before = problem.plan_of(path).kernels.size();
    path.push_back(kernel);
    return grid::step_text(problem.plan_of(path).kernels.at(before));
  }

  grid::GridProblem problem;
  Completions completions;
};

GridHints::GridHints(const grid::Instance& instance, const grid::Rules& rules, std::uint64_t steps)
    : parts_(std::make_unique<Parts>(instance, rules, steps)) {}
GridHints::~GridHints() = default;

GridHint GridHints::after(const grid::Plan& played) {
  grid::GridProblem& problem = parts_->problem;
  Completions& completions = parts_->completions;
  grid::State state = problem.initial();
  std::vector<GridKernel> path;
  for (const grid::Kernel& kernel : played.kernels) {
    if (kernel.ops.empty()) {
      if (!state.resident.empty())
        fail("hint: a step without ops emptied fast memory; expected an episode without such steps");
      continue;
    }
    const grid::Group& group = problem.groups().of(kernel.ops);
    path.push_back({&group, mask_of(group, kernel.retain)});
    state = problem.apply(state, path.back());
  }
  completions.of(state);
  GridHint hint{.value = {}, .optimum = 0, .answers = {}};
  double least = infinity;
  std::vector<Next> all = parts_->list(state);
  for (const Next& next : all) {
    const double q = next.price + completions.of(next.after);
    if (q == infinity) continue;
    completions.add_way(state, next.kernel);
    const double bound = next.price + problem.bound(next.after);
    const bool proven = meets(bound, q);
    hint.answers.push_back({.text = parts_->text_of(path, next.kernel),
                            .q = {.cycles = q, .proven = proven, .lower_bound = std::min(bound, q)}});
    least = std::min(least, q);
  }
  if (hint.answers.empty()) fail("hint: no way to go on is known; expected an episode that isn't over");
  completions.settle();
  const double bound = std::min(problem.bound(state), least);
  hint.value = {.cycles = least, .proven = meets(bound, least), .lower_bound = bound};
  hint.optimum = completions.known(problem.initial());
  for (LabelledAnswer& answer : hint.answers) answer.optimal = meets(least, answer.q.cycles);
  return hint;
}

}  // namespace fuselage::oracle
