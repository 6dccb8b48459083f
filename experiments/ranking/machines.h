// Machines that no training graph runs on.
#pragma once

#include <cstdint>
#include <vector>

#include "drawn.h"

namespace fuselage::experiments {

// Relative to a graph's tensors, since a machine that holds none of them runs nothing.
struct MachineSpec {
  double bandwidth = 0;  // bytes a cycle
  double tensors = 0;    // that fast memory holds
  double launch = 0;     // cycles
  int depth = 0;

  Hardware hardware(const Graph& graph) const;
};

// Bandwidth 1 … 60, room 2 … 12, launch 200 … 20,000, depth 2 … 12, each log-uniform; the machines of
// training have 6 … 15, 2.5 … 6, 2000 … 5000 and 4 … 8.
std::vector<MachineSpec> unseen_machines(int count, std::uint64_t seed);

// These graphs on that machine.
std::vector<Drawn> on_machine(const MachineSpec& machine, const std::vector<Drawn>& graphs, int threads);

}  // namespace fuselage::experiments
