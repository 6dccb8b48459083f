// The engines that need nothing but a problem and a budget, by name: one place for both families.
#pragma once

#include "fuselage/oracle/solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/mcts.h"

namespace fuselage::oracle {

// Options: engine (beam, mcts, or else exact), budget, width, seed, threads, monitor.
template <search::Problem P, class Options>
search::Outcome<typename P::State, typename P::Kernel> run_engine(const P& problem, const Options& options) {
  if (options.engine == Engine::beam)
    return search::beam(problem, {.budget = options.budget,
                                  .width = options.width,
                                  .threads = options.threads,
                                  .monitor = options.monitor});
  if (options.engine == Engine::mcts)
    return search::mcts(problem, {.budget = options.budget,
                                  .seed = options.seed,
                                  .threads = options.threads,
                                  .monitor = options.monitor});
  return search::exact(problem,
                       {.budget = options.budget, .threads = options.threads, .monitor = options.monitor});
}

}  // namespace fuselage::oracle
