// The log of a search as users of MIP solvers know it: a line each time the incumbent or the bound changes,
// and at least one a second. On a terminal it shows on stderr, for searches that take a moment; --log writes
// all of it as JSON Lines, for convergence plots.
#pragma once

#include <string>

#include "fuselage/search/monitor.h"

namespace fuselage::cli {

class SearchLog {
 public:
  // `visible`: on stderr, if that is a terminal. `records`: keep lines for write().
  SearchLog(bool visible, bool records);

  // The next search is about this graph; what follows belongs to it.
  void begin(const std::string& graph);
  search::Monitor::Listener listener();

  // JSON Lines: {graph, seconds, steps, engine, incumbent, lower_bound}; no incumbent yet: null. Says what is
  // wrong and returns false if they can't be written: the answer is still to come, and must not be lost. It
  // comes after the log, which must not be lost either where stdout can't be written.
  bool write(const std::string& path) const;

 private:
  void hear(const search::Event& event);

  bool visible_;
  bool records_;
  std::string graph_;
  std::string held_;    // lines of a search that has not taken long enough to be shown
  bool shows_ = false;  // it has
  std::string text_;
};

}  // namespace fuselage::cli
