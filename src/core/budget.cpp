#include "fuselage/core/budget.h"

#include <unistd.h>

#include <cstdio>

#include "fuselage/core/error.h"

namespace fuselage {

std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return 0;
  unsigned long long pages[2] = {};  // in all, resident
  const bool is_read = std::fscanf(file, "%llu %llu", &pages[0], &pages[1]) == 2;
  std::fclose(file);
  return is_read ? pages[1] * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

void check_set_up_memory(const Budget& budget, std::string_view what) {
  constexpr std::uint64_t mib = 1 << 20;
  constexpr std::uint64_t room_to_search = 16 * mib;
  const std::uint64_t taken = resident_bytes();
  if (taken <= budget.process_bytes) return;
  fail(
      "{}: memory: {} MiB are allowed, but setting up its search alone takes {} MiB; expected a budget of at "
      "least {} MiB",
      what, budget.process_bytes / mib, (taken + mib - 1) / mib, (taken + room_to_search + mib - 1) / mib);
}

}  // namespace fuselage
