// What the schedules of both families have in common once their kernels are there.
#pragma once

#include "fuselage/report/schedule.h"

namespace fuselage::report {

void add_totals(Schedule& schedule);

// Each once, where it is named first.
std::vector<TensorId> distinct(const std::vector<TensorId>& ids);

}  // namespace fuselage::report
