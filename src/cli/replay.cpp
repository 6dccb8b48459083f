#include <CLI/CLI.hpp>

#include "cli.h"

namespace fuselage::cli {

void add_replay(CLI::App&, int&) {}

}  // namespace fuselage::cli
