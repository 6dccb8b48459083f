// Lines of a file one at a time, however large the file is, and again later by their place. A line is
// bounded, so that an endless one (/dev/zero) ends in a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace fuselage::oracle {

struct LinePlace {
  std::size_t number = 0;    // from 1
  std::uint64_t offset = 0;  // of its first byte in the file
};

class LineReader {
 public:
  // Throws Error, here and later, for a file that can't be read. "-" is the standard input.
  explicit LineReader(const std::string& path);
  // From a line whose place is known. The file must be seekable.
  LineReader(const std::string& path, const LinePlace& from);

  // The next line without its end; false after the last.
  bool next(std::string& line);
  // Of the line that next() gave.
  const LinePlace& place() const { return place_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };
  bool refill();

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string block_;
  std::size_t at_ = 0;  // in block_
  LinePlace place_;
  LinePlace next_ = {.number = 1, .offset = 0};
};

}  // namespace fuselage::oracle
