#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fuselage/oracle/store.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::error_code& error) {
  throw StoreError(
      StoreTrouble::unusable,
      fmt::format("{}: cannot be moved out of the way: {}; expected a directory that can be written", path,
                  error.message()));
}

// Makes an empty file of this name; false if something has the name already.
bool reserve(const std::string& name) {
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno != EEXIST) refuse(name, {errno, std::generic_category()});
  if (file >= 0) ::close(file);
  return file >= 0;
}

}  // namespace

std::string set_store_aside(const std::string& path) {
  std::string aside = path + ".damaged";
  for (int number = 2; !reserve(aside); ++number) aside = fmt::format("{}.damaged-{}", path, number);
  std::error_code error;
  fs::rename(path, aside, error);  // replaces the empty file of ours
  if (error) {
    std::error_code ignored;
    fs::remove(aside, ignored);
    refuse(path, error);
  }
  for (const char* suffix : {"-journal", "-wal"})
    if (fs::exists(path + suffix, error) && reserve(aside + suffix)) {
      fs::rename(path + suffix, aside + suffix, error);
      if (error) refuse(path + suffix, error);
    }
  return aside;
}

}  // namespace fuselage::oracle
