// What the walk family's features are: names, units, meanings and values, in one table a schema. The facts of
// a row are gathered by features.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "fuselage/core/schema.h"
#include "fuselage/walk/features.h"

namespace fuselage::walk {

// One node of a kernel. Inputs are tensors, each counted once however many edges it comes by; those from
// outside the kernel are counted by the first member that reads them.
struct TokenFacts {
  const WorkloadFacts* workload = nullptr;
  const Node* node = nullptr;
  int members = 1;  // of the kernel, up to and with this node
  int tile = 2;     // index into tiles
  bool retained = false;
  bool reads_previous = false;
  int uses = 0;                      // of the output
  int input_uses_left = 0;           // of all inputs, after this node
  int next_use = 0;                  // positions from here to the output's next reader; 0: nobody reads it
  int last_use = 0;                  // the same of the last one
  std::int64_t loaded_bytes = 0;     // from outside, not resident
  std::int64_t kept_bytes = 0;       // of these, retained by the kernel
  std::int64_t resident_bytes = 0;   // from outside, resident
  std::int64_t last_read_bytes = 0;  // resident inputs that nobody reads after this node
  std::int64_t inside_bytes = 0;     // made by members
  std::int64_t absorbed_bytes = 0;   // of these, tensors that nobody reads after this node
  std::int64_t slice_bytes = 0;      // of inputs and output at the kernel's tile
  std::int64_t held_bytes = 0;       // resident when the kernel starts
  double tiled_cycles = 0;           // at the kernel's tile
  double tile_count = 1;             // tiles that the output is made in
};

struct StateFacts {
  const WorkloadFacts* workload = nullptr;
  int done = 0;
  int open = 0;
  int residents = 0;
  std::int64_t resident_bytes = 0;
  int resident_uses = 0;        // left, of all residents
  std::int64_t live_bytes = 0;  // made, and still to be read
  double flops_left = 0;        // part of all, in [0, 1]
  const Node* next = nullptr;   // none at the end
  std::int64_t next_input_bytes = 0;
  std::int64_t next_resident_bytes = 0;
};

std::span<const Column<TokenFacts>> token_columns();
std::span<const Column<StateFacts>> state_columns();
std::span<const Column<WorkloadFacts>> workload_columns();

}  // namespace fuselage::walk
