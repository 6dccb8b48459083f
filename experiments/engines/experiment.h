// What every experiment is: a function from a setting to a report. One run of it is one table of rows, a few
// tables that sum them up, and a manifest that says what was run on what, so that a figure can be traced and
// repeated. Which figures are deterministic and which are times, README.md says for each column.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table.h"

namespace fuselage::experiments {

struct Setting {
  std::optional<int> graphs;      // fewer than the experiment's own number, for a trial
  std::optional<double> seconds;  // wall clock limit of one search, if not the experiment's own
  int threads = 1;                // where the experiment is not about one or two of them
  std::string commit;             // of the source, for the manifest; may be empty
};

struct Titled {
  std::string title;
  Table table;
};

struct Report {
  Table rows;
  std::vector<Titled> summary;
  // Sets of graphs with seeds and hashes, options, budgets; the rest of a manifest is the same for all.
  nlohmann::ordered_json manifest = nlohmann::ordered_json::object();
};

Report quality(const Setting& setting);
Report bounds(const Setting& setting);
Report order(const Setting& setting);
Report scaling(const Setting& setting);
Report anytime(const Setting& setting);
Report threads(const Setting& setting);

// Writes NAME.csv (the rows), NAME.md (the summary) and NAME.json (the manifest) into a directory.
void write(const Report& report, std::string_view name, const Setting& setting, const std::string& directory);
// The summary as text for a terminal.
std::string text_of(const Report& report);

}  // namespace fuselage::experiments
