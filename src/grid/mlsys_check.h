// What a kernel of the contest can break before anything is run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fuselage/grid/evaluate.h"
#include "mlsys_kernel.h"

namespace fuselage::grid::mlsys {

struct KernelCheck {
  const Instance& instance;
  const Rules& rules;
  const Kernel& kernel;
  int number = 0;                      // in the plan
  std::span<const TensorId> resident;  // retained by the kernel before, ascending
  const std::vector<bool>& is_stored;  // by tensor: by some kernel before
};

// Until these hold the kernel has no parts.
std::optional<Violation> ops_fault(const KernelCheck& check);
std::optional<Violation> parts_fault(const KernelCheck& check, const KernelParts& parts);

// "kernel 3: ..."
Violation violation_of(Fault fault, int kernel, std::string_view message);

}  // namespace fuselage::grid::mlsys
