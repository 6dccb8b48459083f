// A kernel without a closed form is run.
#include <algorithm>

#include "fuselage/grid/kernel_cost.h"
#include "mlsys_run.h"

namespace fuselage::grid {
namespace {

// Iterations: more would take longer than the kernel is worth.
constexpr std::int64_t most_iterations = 1 << 14;

}  // namespace

KernelCost KernelPricer::simulate(const Shape& shape, const Choice& choice) const {
  const Kernel kernel = kernel_of(shape, choice);
  const mlsys::KernelParts parts = mlsys::kernel_parts(*instance_, kernel);
  if (parts.tiles * parts.k_steps > most_iterations) return {};
  std::vector<TensorId> resident;
  for (std::size_t i = 0; i < std::min<std::size_t>(64, shape.inputs().size()); ++i)
    if (choice.resident >> i & 1U) resident.push_back(shape.inputs()[i].tensor);
  std::sort(resident.begin(), resident.end());
  const KernelReport report = mlsys::run_kernel({.instance = *instance_,
                                                 .kernel = parts,
                                                 .compute = rules_.compute,
                                                 .resident = resident,
                                                 .traversal = kernel.traversal});
  if (report.working_set > instance_->machine().capacity) return {.working_set = report.working_set};
  return {.latency = report.latency, .working_set = report.working_set};
}

}  // namespace fuselage::grid
