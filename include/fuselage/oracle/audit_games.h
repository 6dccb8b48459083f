// The games that ship, as the audit plays them. Judges of a walk graph: the independent check of its own
// rules, and every stricter rule set with its optimum; under physical, which has no episodes, the kernels
// that ran are priced with what was resident after each and is read later. Judges of a grid problem: the
// judge of its own rules, fusionops-honest with its optimum, and a machine that takes the base cost for every
// native tile that a larger one covers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fuselage/graph/graph.h"
#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"
#include "fuselage/oracle/audit_game.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle::audit {

struct GameOptions {
  std::uint64_t solve_steps = 1'000'000;      // kernels priced for each optimum, at most
  const std::atomic<bool>* cancel = nullptr;  // set: optima are what has been found by then
};

// Throws Error for physical and mlsys, which have no episodes, and for what has no schedule at all.
std::unique_ptr<Game> make_walk_game(const Workload& workload, walk::Rules rules,
                                     const GameOptions& options = {});

struct GridSource {
  std::string name;
  grid::Instance instance;
  int max_steps = 20;
};
std::unique_ptr<Game> make_grid_game(const GridSource& source, grid::RuleSet rules,
                                     const GameOptions& options = {});

}  // namespace fuselage::oracle::audit
