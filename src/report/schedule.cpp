#include "fuselage/report/schedule.h"

#include <algorithm>
#include <set>

#include "schedule_parts.h"

namespace fuselage::report {

void add_totals(Schedule& schedule) {
  Totals& totals = schedule.totals;
  for (const Kernel& kernel : schedule.kernels) {
    totals.compute += kernel.compute;
    totals.memory += kernel.memory;
    totals.launch += kernel.launch;
    totals.loaded += kernel.loaded;
    totals.stored += kernel.stored;
    totals.launches += kernel.launches;
    totals.largest_working_set = std::max(totals.largest_working_set, kernel.working_set);
  }
}

std::vector<TensorId> distinct(const std::vector<TensorId>& ids) {
  std::vector<TensorId> once;
  std::set<TensorId> seen;
  for (const TensorId id : ids)
    if (seen.insert(id).second) once.push_back(id);
  return once;
}

}  // namespace fuselage::report
