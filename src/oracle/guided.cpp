#include "guided.h"

#include "fuselage/oracle/walk_guide.h"
#include "fuselage/search/portfolio.h"
#include "run_engine.h"

namespace fuselage::oracle {
namespace {

using Outcome = search::Outcome<walk::State, walk::Kernel>;

template <class Guide>
Outcome find_with(Guide guide, const walk::WalkProblem& problem, const SolveOptions& options,
                  const search::Incumbent<walk::Kernel>& start) {
  if (options.engine != Engine::automatic) return run_guided_engine(problem, guide, options);
  return search::Portfolio(problem, guide,
                           {.budget = options.budget,
                            .seed = options.seed,
                            .threads = options.threads,
                            .monitor = options.monitor},
                           problem.initial(), start)
      .run();
}

}  // namespace

// Nodes carry latents only where somebody asks for them.
Outcome find_guided(const walk::WalkProblem& problem, const walk::Features& features,
                    const SolveOptions& options, const search::Incumbent<walk::Kernel>& start) {
  if (options.guide_options.value)
    return find_with(WalkGuide(*options.guide, features, options.guide_options), problem, options, start);
  using Ranks = DecisionGuide<walk::WalkProblem, walk::DecisionRows>;
  return find_with(
      Ranks(options.guide->decisions, walk::DecisionRows(features), options.guide_options.keeping), problem,
      options, start);
}

}  // namespace fuselage::oracle
