// Escape sequences: the one that is sent, where it is wanted, and those of others, which never are.
#pragma once

#include <string>
#include <string_view>

namespace fuselage::cli {

// Empties the line of the terminal at stderr, to write it anew. Empty where there is no terminal, and where
// it is not to be sent any (TERM=dumb or none, NO_COLOR): there, lines stay as they were written.
std::string_view restart_line();

// The text with '?' for each control character but the end of a line: a name out of a file, or an argument,
// may hold escape sequences, which no terminal should follow.
std::string printable(std::string_view text);

}  // namespace fuselage::cli
