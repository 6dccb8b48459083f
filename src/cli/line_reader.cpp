#include "line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"

namespace fuselage::cli {
namespace {

std::string errno_text() {
  return std::generic_category().message(errno);
}

int open_to_read(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("{}: cannot be opened: {}; expected a readable file", path, errno_text());
  return fd;
}

}  // namespace

LineReader::LineReader(const std::string& path, const LineLimits& limits)
    : source_(source_name(path)), limits_(limits), fd_(open_to_read(path)) {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return;
  is_file_ = S_ISREG(status.st_mode);
  if (!S_ISDIR(status.st_mode)) return;
  if (fd_ != STDIN_FILENO) ::close(fd_);
  fail("{}: is a directory; expected a readable file", source_);
}

LineReader::~LineReader() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

bool LineReader::is_terminal() const {
  return ::isatty(fd_) == 1;
}

// Reads what there is; false at the end.
bool LineReader::fill() {
  constexpr std::size_t block = std::size_t{1} << 16;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + block);
  ssize_t count = 0;
  do {
    count = ::read(fd_, buffer_.data() + size, block);
  } while (count < 0 && errno == EINTR);
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0) at_end_ = true;
  if (count < 0) fail("{}: cannot be read: {}; expected a readable file", source_, errno_text());
  return count > 0;
}

void LineReader::skip_line() {
  std::size_t end = buffer_.find('\n', begin_);
  while (end == std::string::npos && !at_end_) {
    begin_ = buffer_.size();
    at_end_ = !fill();
    end = buffer_.find('\n', begin_);
  }
  begin_ = end == std::string::npos ? buffer_.size() : end + 1;
  in_long_line_ = false;
}

std::optional<Line> LineReader::next() {
  if (in_long_line_) skip_line();
  std::size_t searched = begin_;
  std::size_t end = buffer_.find('\n', searched);
  while (end == std::string::npos && !at_end_) {
    searched = buffer_.size() - begin_;  // from the beginning, where fill() puts what is left
    at_end_ = !fill();
    end = buffer_.find('\n', searched);
    in_long_line_ = std::min(end, buffer_.size()) - begin_ > limits_.most_bytes;
    if (in_long_line_)
      fail("{}: line {}: is longer than {} bytes; expected {}", source_, ++count_, limits_.most_bytes,
           limits_.expected);
  }
  if (end == std::string::npos && begin_ == buffer_.size()) return std::nullopt;
  const std::size_t stop = std::min(end, buffer_.size());
  Line line{.number = ++count_, .text = buffer_.substr(begin_, stop - begin_)};
  begin_ = std::min(stop + 1, buffer_.size());
  if (line.text.ends_with('\r')) line.text.pop_back();
  return line;
}

}  // namespace fuselage::cli
