// What `search --log` writes, JSON Lines, read back: for pages and for plots of convergence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage::report {

// The incumbent or the bound has changed, or a second has passed.
struct LogEntry {
  double seconds = 0;
  double steps = 0;  // kernels priced
  std::string engine = {};
  std::optional<double> incumbent = {};    // none: no plan yet
  std::optional<double> lower_bound = {};  // none: nothing is known
};

struct LogLine {
  std::string graph;
  LogEntry entry;
};

// Lines in the order of the file; blank ones are skipped. Error, with `source` and line, for any other.
std::vector<LogLine> read_search_log(std::string_view text, const std::string& source);

}  // namespace fuselage::report
