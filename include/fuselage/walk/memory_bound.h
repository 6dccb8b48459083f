// Workloads on which kernels wait for memory, so that what is retained decides: long chains of ops that read
// far back, on a slow link. The environment's generator draws few of them, and schedulers that do well there
// can fail here.
#pragma once

#include <cstdint>

#include "fuselage/core/python_random.h"
#include "fuselage/graph/graph.h"

namespace fuselage::walk {

struct MemoryBoundOptions {
  int num_ops = 24;         // 1..max_generated_ops
  std::int64_t side = 256;  // of every tensor, elements of 4 bytes; 1..32768
};

// Node i reads i-1 and, with a probability drawn from .3 to .8 for the graph, also one of i-2 ... i-9. The
// machine: .5 to 2 bytes a cycle, room for 3 to 6 tensors, 0 to 4000 cycles a launch, fusion depth 3 to 8.
// The workload is named "memory_bound_n24_256x256". Throws Error for options out of range.
Workload generate_memory_bound(const MemoryBoundOptions& options, PythonRandom& random);

}  // namespace fuselage::walk
