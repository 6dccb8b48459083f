#include "fuselage/core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

std::string errno_text() {
  return std::generic_category().message(errno);
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string read_all(int fd, const std::string& name) {
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t count = ::read(fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("{}: cannot be read: {}; expected a readable file", name, errno_text());
    if (count == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(count));
    if (text.size() > max_file_bytes)
      fail("{}: longer than {} bytes; expected a smaller file", name, max_file_bytes);
  }
}

// False with errno set if anything goes wrong.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// A new file in `directory`, open for writing. Names that others have taken are passed over.
struct TemporaryFile {
  std::filesystem::path path;
  FileDescriptor file;

  TemporaryFile(const std::filesystem::path& directory, int attempt)
      : path(directory / fmt::format(".fuselage-{}-{}.tmp", ::getpid(), attempt)),
        file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {}
};

void make_directories(const std::filesystem::path& directory, const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail("{}: directory {} cannot be made: {}", path, directory.string(), error.message());
}

// A terminal, a pipe, /dev/null: nothing is half written there, and nothing must take its place.
void write_device(const std::string& path, std::string_view text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), text))
    fail("{}: cannot be written: {}; expected a writable file name", path, errno_text());
}

}  // namespace

std::string source_name(const std::string& path) {
  return path == "-" ? "stdin" : path;
}

std::string read_file(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, source_name(path));
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("{}: cannot be opened: {}; expected a readable file", path, errno_text());
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode))
    fail("{}: is a directory; expected a readable file", path);
  return read_all(file.get(), path);
}

void write_file_atomically(const std::string& path, std::string_view text) {
  if (std::error_code none; std::filesystem::is_other(path, none)) return write_device(path, text);
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::filesystem::path directory = parent.empty() ? "." : parent;
  make_directories(directory, path);
  std::filesystem::path temporary;
  std::string problem;
  for (int attempt = 0; temporary.empty(); ++attempt) {
    const TemporaryFile made(directory, attempt);
    if (made.file.get() < 0 && errno == EEXIST) continue;
    if (made.file.get() < 0) fail("{}: {} cannot be created: {}", path, made.path.string(), errno_text());
    temporary = made.path;
    if (!write_all(made.file.get(), text) || ::fsync(made.file.get()) != 0) problem = errno_text();
  }
  if (problem.empty() && ::rename(temporary.c_str(), path.c_str()) != 0) problem = errno_text();
  if (problem.empty()) return;
  ::unlink(temporary.c_str());
  fail("{}: cannot be written: {}; expected a writable file name", path, problem);
}

}  // namespace fuselage
