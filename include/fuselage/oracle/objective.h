// What a plan is charged, from the independent check: latency, bytes moved, kernels launched, and what stays
// resident. It shares nothing with the search, so that a search that optimises a price can be checked too.
#pragma once

#include <cstdint>

#include "fuselage/graph/graph.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/price.h"

namespace fuselage::oracle {

struct Charges {
  double latency = 0;  // cycles
  std::int64_t bytes_moved = 0;
  int launches = 0;         // members of a fallback one by one
  double byte_kernels = 0;  // bytes resident after each kernel, once a launch

  friend bool operator==(const Charges&, const Charges&) = default;
};

// Of the kernels that were priced: all of them if the plan is legal.
Charges charges(const Graph& graph, const Simulation& simulation);

// Cycles; see walk/price.h.
double objective(const Charges& charges, const walk::Price& price);

}  // namespace fuselage::oracle
