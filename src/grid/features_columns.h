// What the grid family's features are: names, units, meanings and values, in one table a schema. The facts of
// a row are gathered by features.cpp. Sizes are in elements, times in time units.
#pragma once

#include <span>

#include "fuselage/core/schema.h"
#include "fuselage/grid/features.h"

namespace fuselage::grid {

// One op of a kernel. A tensor counts once however often the op names it, and for every op that reads it.
struct TokenFacts {
  const WorkloadFacts* workload = nullptr;
  bool is_matmul = false;
  bool is_sink = false;  // makes what no op of the kernel reads
  bool is_root = false;  // runs on the tile itself: a sink, or feeds pointwise ops of which one is a root
  bool feeds_lhs = false;
  bool feeds_rhs = false;
  bool retained = false;  // any of its outputs
  bool again = false;     // has run before
  int place = 0;          // in the kernel
  int count = 1;          // ops of the kernel
  int fan_in = 0;         // distinct tensors
  int fan_out = 0;        // ops that read its outputs
  int readers_left = 0;   // of these, outside the kernel and not run yet
  int lag = 0;            // levels from the least level of an op to do
  int levels_left = 0;    // from here to the last level
  double compute = 0;     // time
  double output = 0;
  double loaded = 0;      // inputs from outside, not resident
  double resident = 0;    // inputs from outside, resident
  double last_read = 0;   // resident inputs that no op to do outside the kernel reads
  double inside = 0;      // inputs made by the kernel
  double absorbed = 0;    // made here, read inside only: never moved
  double buried = 0;      // made here, read inside, and lost to readers outside that are left
  double stored = 0;      // made here, for slow memory
  double idle_store = 0;  // of these, what nobody needs stored
  double kept = 0;        // made here, retained
  double asked = 0;       // what of the output an iteration makes
  double slices = 0;      // what of the inputs from outside an iteration reads
  double reduction = 0;   // K of a matmul
  double steps = 1;       // k-steps of the kernel
  double rows = 1;        // of tiles
  double columns = 1;
  double tile_height = 1;  // part of native
  double tile_width = 1;
  double tile_depth = 0;
  bool row_snake = false;
  bool column_snake = false;
};

struct KernelFacts {
  const WorkloadFacts* workload = nullptr;
  int count = 0;
  int fresh = 0;  // ops that have not run yet
  int matmuls = 0;
  int upstream_matmuls = 0;  // no roots
  int sinks = 0;
  int inputs = 0;
  int retained = 0;
  int readers_left = 0;   // ops outside that have not run and read what it makes
  int kept_readers = 0;   // of these, of what is retained
  int unlocked = 0;       // ops outside that can run after it and could not before
  int kept_unlocked = 0;  // ops that read something retained and can run after it
  int ready_taken = 0;    // ops that could have run at once
  int ready_before = 0;
  int left_after = 0;  // ops that have not run
  int first_lag = 0;
  int last_lag = 0;
  double compute = 0;
  double fresh_compute = 0;
  double matmul_compute = 0;
  double lhs_compute = 0;  // of ops that feed a left operand
  double rhs_compute = 0;
  double loaded = 0;
  double input_loaded = 0;  // of these, graph inputs
  double resident = 0;
  double last_read = 0;
  double absorbed = 0;
  double buried = 0;
  double stored = 0;
  double idle_store = 0;
  double kept = 0;
  double wasted = 0;  // residents that it doesn't read
  double slices = 0;
  double sink_tiles = 0;
  double working_set = 0;
  double held = 0;
  double reduction = 0;  // the longest
  double steps = 1;
  double rows = 1;
  double columns = 1;
  double moved = 0;  // loaded + stored
};

struct StateFacts {
  const WorkloadFacts* workload = nullptr;
  int done = 0;
  int ready = 0;
  int ready_matmuls = 0;
  int residents = 0;
  int resident_uses = 0;  // ops to do that read residents
  int live = 0;           // tensors in slow memory that may be read
  int lost = 0;           // made, needed by an op to do, and neither resident nor in slow memory
  double resident_size = 0;
  double live_size = 0;
  double lost_compute = 0;  // of the ops that made what is lost
  double compute_left = 0;  // part of all
  double memory_left = 0;   // of the ops to do: transfers in transfers and arithmetic
  int spread = 0;           // levels between ops that are ready
};

std::span<const Column<TokenFacts>> token_columns();
std::span<const Column<KernelFacts>> kernel_columns();
std::span<const Column<StateFacts>> state_columns();
std::span<const Column<WorkloadFacts>> workload_columns();

}  // namespace fuselage::grid
