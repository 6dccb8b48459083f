// What every experiment leaves behind: a table of rows, a few tables that sum them up, and a manifest that
// says what was run on what, so that a figure can be traced and repeated.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "table.h"

namespace fuselage::experiments {

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

// Where a report goes, and of which source it is; an empty commit is not known.
struct Place {
  std::string directory;
  std::string commit;
};

// Writes NAME.csv (the rows), NAME.md (the summary) and NAME.json (the manifest).
void write(const Report& report, std::string_view name, const Place& place);
// The summary as text for a terminal.
std::string text_of(const Report& report);

// A line of progress on stderr.
void say(const std::string& line);

}  // namespace fuselage::experiments
