#include "terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

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
  write_stderr(fmt::format("fuselage: error: {}\n", message));
}

void print_note(std::string_view message) {
  write_stderr(fmt::format("fuselage: {}\n", message));
}

Progress::Progress(std::size_t total) : total_(total), visible_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (visible_) write_stderr("\r\x1b[K");
}

void Progress::show(std::size_t index, std::string_view what) const {
  if (visible_) write_stderr(fmt::format("\r\x1b[K[{}/{}] {}", index + 1, total_, what));
}

}  // namespace fuselage::cli
