#include "fuselage/oracle/objective.h"

#include <limits>

namespace fuselage::oracle {

Charges charges(const Graph& graph, const Simulation& simulation) {
  Charges sum;
  sum.latency = simulation.latency;
  for (const KernelReport& kernel : simulation.kernels) {
    if (__builtin_add_overflow(sum.bytes_moved, kernel.bytes_moved, &sum.bytes_moved))
      sum.bytes_moved = std::numeric_limits<std::int64_t>::max();
    sum.launches += kernel.launches;
    double resident = 0;
    for (NodeId x : kernel.resident_after) resident += static_cast<double>(graph.bytes(x));
    sum.byte_kernels += resident * kernel.launches;
  }
  return sum;
}

double objective(const Charges& charges, const walk::Price& price) {
  return charges.latency + price.traffic * static_cast<double>(charges.bytes_moved) +
         price.launch * charges.launches + price.residency * charges.byte_kernels;
}

}  // namespace fuselage::oracle
