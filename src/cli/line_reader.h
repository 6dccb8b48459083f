// Lines of a file or of the standard input as they come: an agent at the other end of a pipe waits for its
// answer before it writes the next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fuselage::cli {

struct Line {
  std::size_t number = 0;  // from 1
  std::string text = {};   // without its end
};

struct LineLimits {
  std::size_t most_bytes = std::size_t{16} << 20;
  std::string_view expected = "one action";  // of a line, for the message about one that is longer
};

class LineReader {
 public:
  // "-" is the standard input. Error if the file is missing, a directory or unreadable.
  explicit LineReader(const std::string& path, const LineLimits& limits = {});
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  // None at the end. Error for a line that is too long: the next call leaves out what is left of it, without
  // holding it. Error too where reading fails, and the end after that.
  std::optional<Line> next();

  const std::string& source() const { return source_; }
  bool is_file() const { return is_file_; }  // so that reading on can't wait for somebody
  bool is_terminal() const;

 private:
  bool fill();
  void skip_line();

  std::string source_;
  LineLimits limits_;
  int fd_ = -1;
  bool is_file_ = false;
  std::string buffer_;     // read, and not handed out
  std::size_t begin_ = 0;  // of what is not handed out
  std::size_t count_ = 0;  // lines handed out
  bool at_end_ = false;
  bool in_long_line_ = false;  // in the middle of one that was refused
};

}  // namespace fuselage::cli
