// The charts of the report's page as plots of their own: when kernels run, what fast memory holds, the
// roofline.
#pragma once

#include "fuselage/report/plot.h"
#include "fuselage/report/schedule.h"

namespace fuselage::report {

// A row for arithmetic (with launches before it), a row for transfers; numbers of kernels where there is
// room.
Plot timeline_plot(const Subject& subject, const Schedule& schedule);
// The working set while each kernel runs, how much of it tensors that stay take, and the capacity.
Plot memory_plot(const Subject& subject, const Schedule& schedule);
// Share of the latency that computes, against compute time per size moved (Williams et al., Roofline, CACM
// 2009). Kernels that move nothing stand at the right edge, those that compute nothing at the lower one.
Plot roofline_plot(const Subject& subject, const Schedule& schedule);

}  // namespace fuselage::report
