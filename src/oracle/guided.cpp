#include "guided.h"

#include "fuselage/oracle/walk_guide.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/mcts.h"
#include "fuselage/search/portfolio.h"

namespace fuselage::oracle {

search::Outcome<walk::State, walk::Kernel> find_guided(const walk::WalkProblem& problem,
                                                       const walk::Features& features,
                                                       const SolveOptions& options,
                                                       const search::Incumbent<walk::Kernel>& start) {
  WalkGuide guide(*options.guide, features, options.guide_options);
  if (options.engine == Engine::beam)
    return search::beam(problem, guide,
                        {.budget = options.budget,
                         .width = options.width,
                         .threads = options.threads,
                         .monitor = options.monitor});
  if (options.engine == Engine::mcts)
    return search::mcts(problem,
                        {.budget = options.budget,
                         .seed = options.seed,
                         .threads = options.threads,
                         .monitor = options.monitor},
                        std::nullopt, guide);
  return search::Portfolio(problem, guide,
                           {.budget = options.budget,
                            .seed = options.seed,
                            .threads = options.threads,
                            .monitor = options.monitor},
                           problem.initial(), start)
      .run();
}

}  // namespace fuselage::oracle
