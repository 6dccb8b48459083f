// The two yardsticks of the public environment. They are figures, not episodes: the greedy walk reads last
// uses free, which no agent can, so its figure may lie below what its own groups cost when they are played.
#pragma once

#include <optional>

#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

// Every node alone at tile 128 with nothing resident, oom_penalty where that does not fit; cycles.
double naive_latency(const Graph& graph, const Hardware& hardware);

struct Greedy {
  Plan plan;           // its groups, tile 128, with what each retains
  double latency = 0;  // cycles, by the walk's own accounting
};

// A node joins the open group if it is connected, within depth, and the output bytes of the group with it are
// at most 0.8 of the capacity; a group retains the members that the very next node reads.
Greedy greedy(const Graph& graph, const Hardware& hardware);

// The groups of that walk as a plan, before any accounting.
Plan greedy_groups(const Graph& graph, const Hardware& hardware);

// The greedy grouping under `physical`: each group with its retain set at tile 128, 64, 32, then without at
// the same tiles, then node by node at the first tile that fits. Nothing if that gets stuck.
std::optional<Greedy> greedy_physical(const Graph& graph, const Hardware& hardware, const RunTable& runs);

// Every node alone under `physical`, nothing retained, at the first of the tiles 128, 64, 32 that fits.
std::optional<Greedy> naive_physical(const Graph& graph, const Hardware& hardware, const RunTable& runs);

}  // namespace fuselage::walk
