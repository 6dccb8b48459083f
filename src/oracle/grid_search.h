// The search of solve_grid on a problem that is set up already, for who needs the kernels rather than the
// plan that they make.
#pragma once

#include <vector>

#include "fuselage/oracle/grid_solve.h"
#include "fuselage/search/outcome.h"

namespace fuselage::oracle {

// A complete plan and what it costs.
search::Incumbent<grid::GridKernel> priced(const grid::GridProblem& problem,
                                           std::vector<grid::GridKernel> plan);

// By options.engine, but for greedy and naive; `start`: a complete plan that is known already.
search::Outcome<grid::State, grid::GridKernel> search_grid(const grid::GridProblem& problem,
                                                           const GridSolveOptions& options,
                                                           const search::Incumbent<grid::GridKernel>& start);

}  // namespace fuselage::oracle
