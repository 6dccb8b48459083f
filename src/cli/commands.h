// All commands with what they take, as one tree; and what is refused before CLI11 sees it.
#pragma once

#include <span>

namespace CLI {
class App;
}

namespace fuselage::cli {

// `exit_code` must live as long as `app`, as in cli.h.
void add_commands(CLI::App& app, int& exit_code);

// Error unless all are UTF-8: names go into answers, manifests and pages, which can hold no other text.
void check_arguments(std::span<char*> arguments);

}  // namespace fuselage::cli
