// The engines by name: one place for both families, with a guide or without.
#pragma once

#include "fuselage/oracle/solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/mcts.h"

namespace fuselage::oracle {

// Beam or MCTS. Options: engine, budget, width, seed, threads, monitor.
template <search::Problem P, search::Guide<P> G, class Options>
search::Outcome<typename P::State, typename P::Kernel> run_guided_engine(const P& problem, G& guide,
                                                                         const Options& options) {
  if (options.engine == Engine::beam)
    return search::beam(problem, guide,
                        {.budget = options.budget,
                         .width = options.width,
                         .threads = options.threads,
                         .monitor = options.monitor});
  return search::mcts(problem,
                      {.budget = options.budget,
                       .seed = options.seed,
                       .threads = options.threads,
                       .monitor = options.monitor},
                      std::nullopt, guide);
}

// The same options; beam, MCTS, or else exact.
template <search::Problem P, class Options>
search::Outcome<typename P::State, typename P::Kernel> run_engine(const P& problem, const Options& options) {
  search::KeepAll guide;
  if (options.engine == Engine::beam || options.engine == Engine::mcts)
    return run_guided_engine(problem, guide, options);
  return search::exact(problem,
                       {.budget = options.budget, .threads = options.threads, .monitor = options.monitor});
}

}  // namespace fuselage::oracle
