// Engines of the grid family with a learned guide, for grid_solve.cpp: apart, since each is compiled once
// more for it.
#pragma once

#include "fuselage/oracle/grid_solve.h"
#include "fuselage/search/outcome.h"

namespace fuselage::oracle {

using GridOutcome = search::Outcome<grid::State, grid::GridKernel>;

// Error unless the guide, if there is one, fits the engine, the rules and the features.
void check_guide(const GridSolveOptions& options);

// By options.engine: beam or mcts.
GridOutcome run_guided(const grid::GridProblem& problem, const GridSolveOptions& options);
// Guided search, then the portfolio.
GridOutcome guided_portfolio(const grid::GridProblem& problem, const GridSolveOptions& options,
                             const search::Incumbent<grid::GridKernel>& start);

}  // namespace fuselage::oracle
