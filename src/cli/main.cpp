#include <CLI/CLI.hpp>

#include "cli.h"

int main(int argc, char** argv) {
  CLI::App app;
  int exit_code = fuselage::cli::exit_ok;
  fuselage::cli::add_replay(app, exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
