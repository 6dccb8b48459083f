// Runs a program of another package as a filter, as graphviz's dot for layouts and gnuplot for plots: text
// in, text out, and no file in between. A process of its own also keeps whatever bites it away from ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

struct Program {
  std::vector<std::string> arguments;  // first the name, which is looked up in PATH
  std::string package = {};            // of Debian, for the message if there is no such program
  double seconds = 60;                 // that it may take
};

// What it wrote on its stdout. Error if it is not installed, takes too long or fails; the message has the
// beginning of what it wrote on stderr. What a program that succeeds says there is lost.
std::string run_program(const Program& program, std::string_view input);

}  // namespace fuselage
