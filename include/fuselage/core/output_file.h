// A large file that is written piece by piece, hashed on the way, compressed if wanted, and seen under its
// name only once all of it is on the disk: what is killed or runs out of disk leaves a hidden temporary file
// at most, which the next writer of the same name replaces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fuselage/core/hash.h"

namespace fuselage {

class OutputFile {
 public:
  struct Content {
    std::uint64_t bytes = 0;  // on the disk
    std::string sha256;       // of these
  };

  // The file's directory must be there. Error if the temporary file can't be made.
  OutputFile(std::string path, bool zstd);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // removes what wasn't published

  // Error, with the file's name, if the disk is full, among others.
  void write(std::string_view text);
  // Nothing more comes: on the disk, still under the temporary name.
  Content finish();
  // After finish(): gives the file its name.
  void publish();

  const std::string& path() const { return path_; }
  // "dir/.name.partial" of "dir/name"
  static std::string temporary_name(const std::string& path);

 private:
  class Compressor;

  void write_bytes(std::string_view bytes);

  std::string path_;
  std::string temporary_;
  int fd_ = -1;
  bool published_ = false;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
  std::unique_ptr<Compressor> compressor_;  // null: plain text
};

}  // namespace fuselage
