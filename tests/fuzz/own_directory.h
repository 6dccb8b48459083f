// A directory of this process alone for targets whose parser wants a file by name; gone when it ends.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace fuselage {

// In memory where there is such a place.
inline const std::string& own_directory() {
  static const std::string directory = [] {
    std::string name = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    name += "/fuselage-fuzz-XXXXXX";
    if (!::mkdtemp(name.data())) std::abort();
    return name;
  }();
  static const int registered = std::atexit([] {
    std::error_code ignored;
    std::filesystem::remove_all(own_directory(), ignored);
  });
  (void)registered;
  return directory;
}

}  // namespace fuselage
