#include "fuselage/oracle/grid_guide.h"

#include "fuselage/core/error.h"
#include "fuselage/search/drive.h"
#include "fuselage/search/portfolio.h"
#include "grid_guide_solve.h"
#include "run_engine.h"

namespace fuselage::oracle {

void check_guide(const GridSolveOptions& options) {
  if (!options.guide) return;
  const Engine engine = options.engine;
  if (engine != Engine::automatic && engine != Engine::beam && engine != Engine::mcts)
    fail("guide: the engine {} takes none; expected auto, beam or mcts", name(engine));
  if (options.rules.set == grid::RuleSet::fusionops)
    fail("guide: trained under the rules mlsys and fusionops-honest; expected no guide under {}",
         name(options.rules.set));
  const auto expected = static_cast<learn::Index>(grid::decision_schema().size());
  if (options.guide->features() != expected)
    fail("guide: features: {}; expected the {} of the schema {}", options.guide->features(), expected,
         grid::decision_schema().name());
}

GridOutcome run_guided(const grid::GridProblem& problem, const GridSolveOptions& options) {
  const grid::Features features(problem.instance(), options.rules);
  GridGuide<> guide(options.guide, grid::DecisionRows(features), options.keeping);
  return run_guided_engine(problem, guide, options);
}

GridOutcome guided_portfolio(const grid::GridProblem& problem, const GridSolveOptions& options,
                             const search::Incumbent<grid::GridKernel>& start) {
  const grid::Features features(problem.instance(), options.rules);
  Budget half = options.budget;
  if (half.steps < search::unlimited) half.steps = (half.steps + 1) / 2;
  half.wall_seconds /= 2;
  Meter meter(half);
  GuidedGridSearch<> guided(problem, features, options.guide,
                            {.keep = options.keeping.most, .margin = options.keeping.margin});
  guided.offer(start.cost);
  drive(guided, meter, options.monitor);
  const bool better = guided.best().cost < start.cost;
  search::KeepAll all;
  Budget rest = options.budget;
  rest.steps -= std::min(rest.steps, meter.steps());
  rest.wall_seconds -= meter.seconds();
  GridOutcome outcome = search::Portfolio(problem, all,
                                          {.budget = rest,
                                           .seed = options.seed,
                                           .threads = options.threads,
                                           .first_steps = 1 << 13,
                                           .round_steps = 1 << 13,
                                           .monitor = options.monitor},
                                          problem.initial(), better ? guided.best() : start)
                            .run();
  outcome.steps += meter.steps();
  outcome.states += guided.states();
  outcome.seconds += meter.seconds();
  if (better && outcome.engine == "start") outcome.engine = "guided";
  return outcome;
}

}  // namespace fuselage::oracle
