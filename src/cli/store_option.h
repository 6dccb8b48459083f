// Which best-known store a command works on: --store FILE, or the one in the user's data directory. The
// library reads no environment variables; this is where they are read.
#pragma once

#include <optional>
#include <string>

#include "fuselage/oracle/store.h"

namespace CLI {
class App;
}

namespace fuselage::cli {

// Leaves `file` empty if the option is not given; it must live as long as `app`.
void add_store_option(CLI::App& app, std::string& file);

// `file`, or $XDG_DATA_HOME/fuselage/best.sqlite, or $HOME/.local/share/fuselage/best.sqlite if it is empty.
// Error if it is, and neither variable is set to an absolute path.
std::string store_path(const std::string& file);

// Of commands that are about the store itself, and of those that can do without it.
oracle::StorePatience store_patience();
oracle::StorePatience passing_patience();

// To be read. None if it is the user's and doesn't exist yet; Error if one that was named doesn't.
std::optional<oracle::Store> open_store_to_read(const std::string& file,
                                                oracle::StorePatience patience = store_patience());

}  // namespace fuselage::cli
