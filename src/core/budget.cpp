#include "fuselage/core/budget.h"

#include <unistd.h>

#include <cstdio>

namespace fuselage {

std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return 0;
  unsigned long long pages[2] = {};  // in all, resident
  const bool is_read = std::fscanf(file, "%llu %llu", &pages[0], &pages[1]) == 2;
  std::fclose(file);
  return is_read ? pages[1] * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace fuselage
