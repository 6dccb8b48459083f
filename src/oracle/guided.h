// Engines with a learned guide, for solve.cpp: apart, since each is compiled once more for it.
#pragma once

#include "fuselage/oracle/solve.h"
#include "fuselage/search/outcome.h"
#include "fuselage/walk/problem.h"

namespace fuselage::oracle {

// By options.engine: automatic, beam or mcts.
search::Outcome<walk::State, walk::Kernel> find_guided(const walk::WalkProblem& problem,
                                                       const walk::Features& features,
                                                       const SolveOptions& options,
                                                       const search::Incumbent<walk::Kernel>& start);

}  // namespace fuselage::oracle
