// What every experiment is: a function from a setting to a report. Which figures are deterministic and which
// are times, README.md says for each column.
#pragma once

#include <optional>
#include <string>

#include "report.h"

namespace fuselage::experiments {

struct Setting {
  std::optional<int> graphs;      // fewer than the experiment's own number, for a trial
  std::optional<double> seconds;  // wall clock limit of one search, if not the experiment's own
  int threads = 1;                // where the experiment is not about one or two of them
  std::string commit;             // of the source, for the manifest; may be empty
};

Report quality(const Setting& setting);
Report bounds(const Setting& setting);
Report order(const Setting& setting);
Report scaling(const Setting& setting);
Report anytime(const Setting& setting);
Report threads(const Setting& setting);

}  // namespace fuselage::experiments
