#include "data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/data_manifest.h"

namespace fuselage::oracle {

namespace fs = std::filesystem;

DirectoryLock::DirectoryLock(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail("{}: cannot be made: {}; expected a directory to write into", directory, error.message());
  fd_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0)
    fail("{}: cannot be opened: {}; expected a directory to write into", directory,
         std::generic_category().message(errno));
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  ::close(fd_);
  if (reason == EWOULDBLOCK)
    fail("{}: another process is writing into it; expected its end, or another directory", directory);
  fail("{}: cannot be locked: {}; expected a file system with locks", directory,
       std::generic_category().message(reason));
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) ::close(fd_);
}

void clear_leftovers(const std::string& directory) {
  const auto clear = [](const fs::path& folder) {
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(folder, gone)) {
      const std::string name = entry.path().filename().string();
      const bool partial = name.starts_with(".") && name.ends_with(".partial");
      const bool temporary = name.starts_with(".fuselage-") && name.ends_with(".tmp");
      if (partial || temporary) fs::remove(entry.path(), gone);
    }
  };
  clear(directory);
  clear(fs::path(directory) / work_directory);
  for (std::string_view format : row_format_names) clear(fs::path(directory) / format);
}

void refuse_foreign(const std::string& directory) {
  const fs::path root(directory);
  if (fs::exists(root / data_manifest_file) || fs::exists(root / work_directory / settings_file)) return;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (name != work_directory)
      fail("{}: holds {} and no data set; expected a directory that is empty, new, or a data set's",
           directory, quote(name));
  }
}

}  // namespace fuselage::oracle
