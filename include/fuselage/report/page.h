// A page of HTML with everything about some plans in it: it needs no network, and no file beside it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "fuselage/report/drawing.h"
#include "fuselage/report/schedule.h"
#include "fuselage/report/search_log.h"

namespace fuselage::report {

// Plans of one graph, side by side.
struct PageGraph {
  Subject subject;
  std::vector<Schedule> plans = {};
  std::vector<LogEntry> log = {};  // of the search that found one of them
};

struct PageOptions {
  std::string version = {};
  std::size_t most_drawn = report::most_drawn;  // nodes of a drawing; a larger one is left out
  // Hears how many of the drawings are there; called by one thread at a time.
  std::function<void(std::size_t done, std::size_t all)> drawn = {};
  double layout_seconds = 60;  // for one drawing
};

struct Page {
  std::string html;
  std::vector<std::string> notes = {};  // what was left out of it, and why
};

// The same bytes for the same graphs and version of graphviz. Error if graphviz is not installed.
Page page_of(const std::vector<PageGraph>& graphs, const PageOptions& options);

}  // namespace fuselage::report
