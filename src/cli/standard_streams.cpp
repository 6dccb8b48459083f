#include "standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace fuselage::cli {
namespace {

// The mode that the stream has no use for, so that using it fails. On /dev/full it fails too for whoever
// opens /dev/stdin or /dev/stdout again, in a mode of his own.
void open_if_closed(int stream, int useless_mode) {
  if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) return;
  int fd = ::open("/dev/full", useless_mode);
  if (fd < 0) fd = ::open("/dev/null", useless_mode);
  if (fd != stream) ::_exit(3);  // lower ones are open, so there is no /dev
}

}  // namespace

void prepare_standard_streams() {
  open_if_closed(STDIN_FILENO, O_WRONLY);
  open_if_closed(STDOUT_FILENO, O_RDONLY);
  open_if_closed(STDERR_FILENO, O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
}

void write_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace fuselage::cli
