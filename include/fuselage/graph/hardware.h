// The machine that a schedule runs on: one fast memory, one link to slow memory, a fixed price per kernel.
#pragma once

#include <cstdint>

namespace fuselage {

struct Hardware {
  std::int64_t fast_mem_capacity = 0;  // bytes
  double slow_mem_bandwidth = 0;       // bytes per cycle; 0 makes traffic free
  double kernel_launch_cost = 0;       // cycles
  int max_fusion_depth = 1;            // nodes of one kernel, at most

  // Cycles that moving `bytes` to or from slow memory takes.
  double transfer_cycles(std::int64_t bytes) const {
    return slow_mem_bandwidth > 0 ? static_cast<double>(bytes) / slow_mem_bandwidth : 0.0;
  }

  friend bool operator==(const Hardware&, const Hardware&) = default;
};

}  // namespace fuselage
