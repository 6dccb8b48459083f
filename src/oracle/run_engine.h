// The engines by name: one place for both families, with a guide or without.
#pragma once

#include <algorithm>

#include "fuselage/oracle/solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/mcts.h"

namespace fuselage::oracle {

// Where a plan was known before the search, that is the answer unless the search found a cheaper one.
// `proof`: what it proved of the cheaper of the two.
template <class Outcome, class Kernel>
void fall_back(Outcome& outcome, const search::Incumbent<Kernel>& known, search::Proof proof) {
  if (!known.found() || (outcome.found && outcome.cost < known.cost)) return;
  outcome.found = true;
  outcome.infeasible = false;
  outcome.plan = known.plan;
  outcome.cost = known.cost;
  outcome.proof = proof;
  search::settle_proof(outcome.cost, outcome.lower_bound, outcome.proof);
  outcome.engine = "start";
}

// An engine that was made, told of a plan (perhaps none) and runs within the budget of its options.
template <class Search, class Options, class Kernel>
auto run_from(Search engine, const Options& options, const search::Incumbent<Kernel>& known) {
  Meter meter(options.budget);
  if (known.found()) engine.offer(known.cost);
  search::drive(engine, meter, options.monitor);
  auto outcome = search::outcome_of(engine, meter);
  fall_back(outcome, known, engine.proof());
  return outcome;
}

// Beam or MCTS. Options: engine, budget, width, seed, threads, monitor. `known`: a plan, perhaps none.
template <search::Problem P, search::Guide<P> G, class Options>
search::Outcome<typename P::State, typename P::Kernel> run_guided_engine(
    const P& problem, G& guide, const Options& options,
    const search::Incumbent<typename P::Kernel>& known = {}) {
  if (options.engine == Engine::beam)
    return run_from(
        search::BeamSearch<P, G>(problem, guide, {.width = options.width, .threads = options.threads},
                                 problem.initial()),
        options, known);
  search::MctsForest<P, G> forest(problem, guide,
                                  {.budget = options.budget,
                                   .seed = options.seed,
                                   .threads = options.threads,
                                   .monitor = options.monitor},
                                  problem.initial());
  if (known.found()) forest.offer(known.cost);
  auto outcome = forest.run();
  fall_back(outcome, known, forest.proof());
  return outcome;
}

// The same options; beam, MCTS, or else exact.
template <search::Problem P, class Options>
search::Outcome<typename P::State, typename P::Kernel> run_engine(
    const P& problem, const Options& options, const search::Incumbent<typename P::Kernel>& known = {}) {
  search::KeepAll guide;
  if (options.engine == Engine::beam || options.engine == Engine::mcts)
    return run_guided_engine(problem, guide, options, known);
  return run_from(search::ExactSearch<P>(problem, {.threads = options.threads}, problem.initial()), options,
                  known);
}

}  // namespace fuselage::oracle
