#include "terminal.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "escapes.h"
#include "fuselage/core/error.h"
#include "standard_streams.h"

namespace fuselage::cli {

bool write_stdout(std::string_view text) {
  static bool reader_gone = false;
  if (reader_gone) return false;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return true;
  if (errno != EPIPE) fail("stdout: cannot be written: {}", std::generic_category().message(errno));
  reader_gone = true;
  return false;
}

void print_error(std::string_view message) {
  write_stderr(fmt::format("fuselage: error: {}\n", printable(message)));
}

void print_note(std::string_view message) {
  write_stderr(fmt::format("fuselage: {}\n", printable(message)));
}

Progress::Progress(std::size_t total) : total_(total), visible_(!restart_line().empty()) {}

Progress::~Progress() {
  if (visible_) write_stderr(restart_line());
}

void Progress::show(std::size_t index, std::string_view what) const {
  if (visible_) write_stderr(fmt::format("{}[{}/{}] {}", restart_line(), index + 1, total_, printable(what)));
}

}  // namespace fuselage::cli
