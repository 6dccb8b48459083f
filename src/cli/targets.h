// What a command works on: graphs named on the command line, and the machine they are to run on. All of it is
// read before any work begins, so that a mistyped name costs no search.
#pragma once

#include <optional>
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

// A target with the text of its file, which is read once: stdin can't be read again. None: a task, or "all".
struct TargetText {
  std::string target;
  std::optional<std::string> text = {};
};

// Is it meant as a file? Then the reader's error says what is wrong with it.
bool looks_like_a_file(const std::string& target);

// The graphs in the order of the targets. A target is the name of a fixed task, "all" of them, a JSON or JSON
// Lines file with any number of graphs, or "-" for the same from stdin. Error for anything else.
std::vector<Workload> read_targets(const TargetOptions& options);
// The same of texts that have been read.
std::vector<Workload> read_targets(const TargetOptions& options, const std::vector<TargetText>& texts);

}  // namespace fuselage::cli
