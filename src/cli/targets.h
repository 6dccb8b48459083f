// What a command works on: graphs named on the command line, and the machine they are to run on. All of it is
// read before any work begins, so that a mistyped name costs no search.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"

namespace CLI {
class App;
}

namespace fuselage::cli {

// TARGET..., --hardware and --set, as they were given.
struct TargetOptions {
  std::vector<std::string> targets;
  std::string hardware_file;
  std::vector<std::string> assignments;  // FIELD=VALUE, applied in their order after the file
};

// `options` must live as long as `app`.
void add_target_options(CLI::App& app, TargetOptions& options);

// The graphs in the order of the targets. A target is the name of a fixed task, "all" of them, a JSON or JSON
// Lines file with any number of graphs, or "-" for the same from stdin. Error for anything else.
std::vector<Workload> read_targets(const TargetOptions& options);

}  // namespace fuselage::cli
