// All commands with what they take, as one tree.
#pragma once

namespace CLI {
class App;
}

namespace fuselage::cli {

// `exit_code` must live as long as `app`, as in cli.h.
void add_commands(CLI::App& app, int& exit_code);

}  // namespace fuselage::cli
