// Lines of a file of any length, plain or compressed (.zst), in bounded memory, hashed on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fuselage/core/hash.h"

namespace fuselage {

class LineSource {
 public:
  static constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

  // Compressed if the name ends with .zst. Error if it can't be opened, or is a pipe or
  // device, where the wait for a line may never end.
  explicit LineSource(const std::string& path);
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;
  ~LineSource();

  // Without its end; none after the last. The line stays until the next call. Error for a read that fails,
  // text that isn't compressed as the name says, and a line that is longer than max_line_bytes.
  const std::string* next();

  // After the last line: of the file as it is on the disk.
  std::uint64_t bytes() const;
  std::string sha256();

 private:
  struct Input;

  bool fill();

  std::string path_;
  std::unique_ptr<Input> input_;
  std::string text_;
  std::size_t begin_ = 0;  // of what hasn't been handed out
  std::string line_;
};

}  // namespace fuselage
