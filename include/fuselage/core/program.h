// Runs a program of another package as a filter, as graphviz's dot for layouts and gnuplot for plots: text
// in, text out, and no file in between. A process of its own also keeps whatever bites it away from ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/error.h"

namespace fuselage {

struct Program {
  std::vector<std::string> arguments;  // first the name, which is looked up in PATH
  std::string package = {};            // of Debian, for the message if there is no such program
  double seconds = 60;                 // that it may take
};

class ProgramMissing : public Error {
 public:
  using Error::Error;
};

// What it wrote on its stdout. ProgramMissing if it is not installed; Error if it fails or takes too long,
// with the beginning of what it wrote on stderr. What a program that succeeds says there is lost. It dies
// with us.
std::string run_program(const Program& program, std::string_view input);

}  // namespace fuselage
