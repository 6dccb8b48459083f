// The directory that a data set is written into: one writer at a time, and nothing of a writer that was
// killed stays behind.
#pragma once

#include <string>

namespace fuselage::oracle {

// Holds the directory until it goes; the system lets go of it if the process is killed.
class DirectoryLock {
 public:
  // Makes the directory if need be. Error if another process holds it.
  explicit DirectoryLock(const std::string& directory);
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock();

 private:
  int fd_ = -1;
};

inline constexpr const char* work_directory = ".work";
inline constexpr const char* settings_file = "settings.json";  // in it: a manifest without shards

// Removes the temporary files of writers that were killed.
void clear_leftovers(const std::string& directory);

// Error unless the directory holds nothing, or a data set whether complete or not.
void refuse_foreign(const std::string& directory);

}  // namespace fuselage::oracle
