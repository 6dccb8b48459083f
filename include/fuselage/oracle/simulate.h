// The independent check: prices a plan of the walk family from the rules alone. It shares no code with the
// search or the episode on purpose (plain sets, no tables), so that an agreement of the two means something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

// What is wrong with a plan. The name printed for each is the one of golden/walk/physical_illegal.jsonl.
enum class FaultCode : std::uint8_t {
  duplicate,      // DUPLICATE: a node runs twice
  order,          // ORDER: a node runs before its input, or not at its place in the fixed order
  not_connected,  // NOT_CONNECTED: a node after the first reads nothing inside the kernel
  too_deep,       // TOO_DEEP: more nodes than max_fusion_depth
  tile,           // TILE: not one of 32, 64, 128, 256
  retain,         // RETAIN: an entry that the rules don't let this kernel retain
  oom,            // OOM: the working set exceeds the capacity
  coverage,       // COVERAGE: nodes that no kernel runs
};
std::string_view name(FaultCode code);

struct Fault {
  FaultCode code = FaultCode::coverage;
  std::optional<int> kernel;  // index in the plan; none for COVERAGE
  std::string message;        // names the kernel, the rule and the numbers
};

// What one kernel did. After a fallback the lists and the cycles are those of the members that fit on their
// own, joined (a tensor that two of them load is there twice), a member that doesn't fit adds only its
// penalty to the latency, and the working set is the one that was too large.
struct KernelReport {
  std::vector<NodeId> loads;           // tensors read from slow memory, sorted
  std::vector<NodeId> writes;          // tensors written to slow memory, write-backs included, sorted
  std::vector<NodeId> resident_after;  // sorted
  double compute_cycles = 0;
  double memory_cycles = 0;
  double latency = 0;            // cycles, launch included
  std::int64_t bytes_moved = 0;  // loads and writes; of a member that doesn't fit, those it would have made
  double total = 0;              // cycles, of the plan up to and with this kernel
  std::int64_t working_set = 0;  // bytes
  bool fallback = false;         // seed rules: the group was invalid, so its members ran alone
  int launches = 1;
  double launch_cycles = 0;  // of those that were paid: a member that doesn't fit pays its penalty instead
};

struct Simulation {
  std::optional<Fault> fault;  // the first one, in plan order; pricing stops at it
  double latency = 0;          // cycles, total in plan order
  std::vector<KernelReport> kernels;

  bool legal() const { return !fault; }
};

struct SimulateOptions {
  walk::Rules rules = walk::Rules::seed_honest;
  walk::Order order = walk::Order::fixed;
};

// Never throws on an illegal plan: the fault says what is wrong. Node ids outside the graph are faults too
// (ORDER for a member, RETAIN for a retained one), and so is a kernel without nodes (ORDER). Throws Error
// when the options ask for free order under another rule set than physical.
Simulation simulate(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                    const SimulateOptions& options);

}  // namespace fuselage::oracle
