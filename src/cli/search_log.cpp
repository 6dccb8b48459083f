#include "search_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "escapes.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "standard_streams.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr double quick_seconds = 0.2;  // searches that take less leave no trace

constexpr const char* row = "{:>9} {:>15} {:<7} {:>20} {:>20} {:>8}\n";

std::string line_of(const search::Event& event) {
  const bool found = std::isfinite(event.cost);
  return fmt::format(row, fmt::format("{:.2f} s", event.seconds), grouped(event.steps), event.engine,
                     found ? cycles(event.cost) : "-", cycles(event.lower_bound),
                     found ? gap_figure(event.cost, event.lower_bound, 3) : "-");
}

}  // namespace

SearchLog::SearchLog(bool visible, bool records)
    : visible_(visible && ::isatty(STDERR_FILENO) == 1), records_(records) {}

void SearchLog::begin(const std::string& graph) {
  graph_ = graph;
  shows_ = false;
  held_ = fmt::format(row, "time", "steps", "engine", "incumbent", "lower bound", "gap %");
}

search::Monitor::Listener SearchLog::listener() {
  return [this](const search::Event& event) { hear(event); };
}

bool SearchLog::write(const std::string& path) const try {
  if (!path.empty()) write_file_atomically(path, text_);
  return true;
} catch (const Error& error) {
  print_error(error.what());
  return false;
}

void SearchLog::hear(const search::Event& event) {
  if (visible_) {
    held_ += line_of(event);
    shows_ = shows_ || event.seconds >= quick_seconds;
    if (shows_) write_stderr(fmt::format("{}{}", restart_line(), std::exchange(held_, {})));
  }
  if (records_) {
    const nlohmann::ordered_json line = {
        {"graph", graph_},
        {"seconds", event.seconds},
        {"steps", event.steps},
        {"engine", event.engine},
        {"incumbent", std::isfinite(event.cost) ? nlohmann::ordered_json(event.cost) : nullptr},
        {"lower_bound", event.lower_bound}};
    text_ += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  }
}

}  // namespace fuselage::cli
